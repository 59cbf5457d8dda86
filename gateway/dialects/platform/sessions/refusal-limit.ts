/**
 * Limits refused requests without a key, per client address and minute. They do not count against the sessions that an
 * address may have, so that somebody who is fixing a page is not locked out; a flood of them is answered 429 before its
 * body is read or the database is asked. Counted per process, in fixed windows.
 */
import { LRUCache } from 'lru-cache';
import type { Clock } from '../../../../contracts/clock.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';

export interface RefusalLimit {
  /** Runs `work` for this address, and counts its refusal. Errors: `rate_limited`, and those of `work`. */
  run<T>(address: string, work: () => Promise<T>): Promise<T>;
}

interface Window {
  readonly endsAt: number;
  refused: number;
}

const MINUTE_MS = 60_000;
/** Most addresses counted at once, the newest; only a large network could flood from more. */
const ADDRESSES = 10_000;

const isRefusal = (error: unknown): boolean =>
  error instanceof ServiceError && error.status >= 400 && error.status < 500 && error.status !== 429;

export function createRefusalLimit(
  clock: Clock,
  most: number = LIMITS.session.publicPerMinute.refused,
): RefusalLimit {
  const windows = new LRUCache<string, Window>({ max: ADDRESSES });

  const current = (address: string): Window | undefined => {
    const window = windows.get(address);
    return window && clock.monotonic() < window.endsAt ? window : undefined;
  };

  function check(address: string): void {
    const { refused = 0, endsAt = 0 } = current(address) ?? {};
    if (refused < most) return;
    throw new ServiceError('rate_limited', {
      message: 'Too many refused requests from this address, try again later',
      retryAfter: Math.max(1, Math.ceil((endsAt - clock.monotonic()) / 1000)),
    });
  }

  function count(address: string): void {
    const window = current(address) ?? { endsAt: clock.monotonic() + MINUTE_MS, refused: 0 };
    window.refused += 1;
    windows.set(address, window);
  }

  return {
    async run(address, work) {
      check(address);
      try {
        return await work();
      } catch (error) {
        if (isRefusal(error)) count(address);
        throw error;
      }
    },
  };
}
