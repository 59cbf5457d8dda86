/**
 * Writes a conversation's record item by item, in order, while it runs (docs/contract/platform.md 6.7). Only its end waits
 * for the database; failed writes are tried again.
 */
import type { Clock } from '../../../contracts/clock.js';
import { toServiceError } from '../../../contracts/errors.js';
import type { Log } from '../../../contracts/log.js';
import type { SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import type { Turn } from '../../../contracts/sessions/turns.js';

export interface RecordParts {
  readonly clock: Clock;
  readonly log: Log;
  /** Writes items in order; resolves when they are kept. */
  append(items: readonly SessionItem[]): Promise<void>;
  /** Writes a turn, in place of its earlier version if there is one. */
  keepTurn(turn: Turn): Promise<void>;
}

/** Delays before a failed write is tried again; the last one repeats while the database is away or full. */
const AGAIN_MS = [500, 2000];
/** Longest time of such retries, from the first failure: the same as for the end of the session, which comes after the items. */
const AWAY_MS = 600_000;

const AWAY: ReadonlySet<string> = new Set(['storage_unavailable', 'storage_busy', 'storage_full']);
const isAway = (error: unknown): boolean => AWAY.has(toServiceError(error).code);

export const pause = (clock: Clock, ms: number): Promise<void> =>
  new Promise((resolve) => void clock.after(ms, resolve));

export class RecordWriter {
  #writing: Promise<void> = Promise.resolve();
  #hurried = false;
  #awaySince: number | undefined;

  constructor(private readonly parts: RecordParts) {}

  /** Runs `work`, which never rejects, before all items. */
  begin(work: () => Promise<void>): void {
    this.#writing = this.#writing.then(work);
  }

  add(item: SessionItem): void {
    this.#after(() => this.parts.append([item]));
  }

  keep(turn: Turn): void {
    this.#after(() => this.parts.keepTurn(turn));
  }

  /** The process stops: nothing is tried again. */
  hurry(): void {
    this.#hurried = true;
  }

  /** Resolves when all writes so far are kept or given up. */
  written(): Promise<void> {
    return this.#writing;
  }

  #after(write: () => Promise<void>): void {
    this.#writing = this.#writing.then(() => this.#write(write));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    const { clock, log } = this.parts;
    for (let tries = 0; ; tries += 1) {
      try {
        await write();
        this.#awaySince = undefined;
        return;
      } catch (error) {
        const again = this.#againIn(tries, error);
        if (again === undefined) return log.error({ err: error }, 'a session item was given up');
        log.warn({ err: error, again }, 'a session item was not kept yet');
        await pause(clock, again);
      }
    }
  }

  /** Undefined if it is not tried again. */
  #againIn(tries: number, error: unknown): number | undefined {
    if (this.#hurried) return undefined;
    if (tries < AGAIN_MS.length) return AGAIN_MS[tries];
    const now = this.parts.clock.monotonic();
    this.#awaySince ??= now;
    return isAway(error) && now - this.#awaySince < AWAY_MS ? AGAIN_MS.at(-1) : undefined;
  }
}
