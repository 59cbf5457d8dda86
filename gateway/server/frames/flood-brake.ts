/**
 * Whoever opened a socket that was closed for its frames waits before the next one: what a flood costs is the reading until then, and a
 * client that comes back at once would make the gateway read without end.
 *
 * Invariants: a handshake waits for `pauseMs` at most; of one holder at most `held` wait, and more are refused at once.
 */
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';

const { pauseMs, held: MOST_HELD } = LIMITS.socket.flood;

interface Braked {
  /** On the monotonic clock. */
  until: number;
  /** Handshakes that wait. */
  held: number;
}

export class FloodBrake {
  readonly #braked = new Map<string, Braked>();

  constructor(private readonly clock: Clock) {}

  /** A socket of that holder was closed since it sent more than can be read. */
  flooded(holder: string): void {
    const braked = this.#braked.get(holder) ?? { until: 0, held: 0 };
    braked.until = this.clock.monotonic() + pauseMs;
    this.#braked.set(holder, braked);
    this.clock.after(pauseMs, () => this.#forget(holder));
  }

  /** Resolves when the holder may open a socket. Errors: `rate_limited`, if too many wait, or another one has flooded meanwhile. */
  async pass(holder: string): Promise<void> {
    const braked = this.#braked.get(holder);
    const left = (braked?.until ?? 0) - this.clock.monotonic();
    if (braked === undefined || left <= 0) return;
    if (braked.held >= MOST_HELD) throw refused(left);
    braked.held += 1;
    await new Promise<void>((resolve) => void this.clock.after(left, resolve));
    braked.held -= 1;
    const more = braked.until - this.clock.monotonic();
    if (more > 0) throw refused(more);
  }

  #forget(holder: string): void {
    if ((this.#braked.get(holder)?.until ?? 0) <= this.clock.monotonic()) this.#braked.delete(holder);
  }
}

const refused = (ms: number): ServiceError =>
  new ServiceError('rate_limited', {
    message: 'A WebSocket of yours sent more frames than can be read, try again later',
    retryAfter: Math.max(1, Math.ceil(ms / 1000)),
  });
