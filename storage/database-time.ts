/**
 * The database's clock as a process expects it, by the time that it was told last and by its own clock. When the database's is set,
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
  /** The database's time over our own. */
  #ahead: number | undefined;
  #settledAt = -Infinity;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** The database has said what time it is, in milliseconds since the epoch. */
  told(time: number): void {
    const now = this.clock.monotonic();
    const ahead = time - now;
    if (this.#ahead !== undefined && Math.abs(ahead - this.#ahead) > SLACK_MS)
      this.#settledAt = now + SETTLED_MS;
    this.#ahead = ahead;
  }

  /** Times of the database at which a row that looks stale is. */
  get expected(): Times {
    if (this.#ahead === undefined) return ANY_TIME;
    const now = this.clock.monotonic();
    if (now < this.#settledAt) return NONE;
    const time = now + this.#ahead;
    return { from: time - SLACK_MS, to: time + SLACK_MS };
  }
}
