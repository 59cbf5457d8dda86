/**
 * The database's clock as a process knows it: what it was told last, carried on by its own clock that never goes back. All processes that
 * share the database so share a time of day, whatever the clocks of their machines say. When the database's is set,
 * the rows of all nodes look stale, or look new for long, until their next heartbeats: whoever finds another time than it expects
 * declares nobody dead until then.
 */
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import type { Clock } from '../contracts/clock.js';

/** By how much the two may differ: an answer may be on its way for some time. */
const SLACK_MS = 2000;
/** Nodes that live have beaten again by then. */
const SETTLED_MS = 3 * CALL_TIMES.heartbeatMs;

/** Milliseconds since the epoch; none: no time at all. */
export interface Times {
  readonly from: number;
  readonly to: number;
}

export const ANY_TIME: Times = { from: 0, to: Number.MAX_SAFE_INTEGER };
const NONE: Times = { from: 1, to: 0 };

export class DatabaseTime {
  /** The database's time over our own; until it was told, that of our machine. */
  #ahead: number;
  #isTold = false;
  #settledAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'now' | 'monotonic'>) {
    this.#ahead = clock.now() - clock.monotonic();
  }

  /** Whole milliseconds since the epoch. */
  now(): number {
    return Math.floor(this.clock.monotonic() + this.#ahead);
  }

  /**
   * The database has said what time it was, in milliseconds since the epoch, at some moment since `sentAt` (monotonic). What is
   * known moves only as far as that proves it wrong, so an answer that was slow moves nothing.
   */
  told(time: number, sentAt: number): void {
    const now = this.clock.monotonic();
    const ahead = Math.min(Math.max(this.#ahead, time - now), time - sentAt);
    if (this.#isTold && Math.abs(ahead - this.#ahead) > SLACK_MS) this.#settledAt = now + SETTLED_MS;
    this.#ahead = ahead;
    this.#isTold = true;
  }

  /** Times of the database at which a row that looks stale is. */
  get expected(): Times {
    if (!this.#isTold) return ANY_TIME;
    if (this.clock.monotonic() < this.#settledAt) return NONE;
    const time = this.now();
    return { from: time - SLACK_MS, to: time + SLACK_MS };
  }
}
