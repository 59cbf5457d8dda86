/**
 * Which nodes this process has just seen beat, by its own clock. When the database's clock is set forward, all rows look
 * stale until their next heartbeats: a node that is in this list lives all the same.
 */
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import type { Clock } from '../contracts/clock.js';

/** How long a beat that was seen counts: nodes that live have beaten again by then. */
const FRESH_MS = 3 * CALL_TIMES.heartbeatMs;

interface Seen {
  readonly beat: string;
  /** When it was seen to be another one than before, in monotonic milliseconds. */
  readonly changedAt: number;
}

export class Heartbeats {
  #seen: ReadonlyMap<string, Seen> = new Map();

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** The last heartbeats of all nodes by their ids, as the rows have them. */
  saw(beats: Readonly<Record<string, string>>): void {
    const now = this.clock.monotonic();
    const seen = Object.entries(beats).map(([id, beat]) => {
      const before = this.#seen.get(id);
      return [id, { beat, changedAt: this.#changedAt(before, beat, now) }] as const;
    });
    this.#seen = new Map(seen);
  }

  /** A node that is seen for the first time may have been dead for long. */
  #changedAt(before: Seen | undefined, beat: string, now: number): number {
    if (before === undefined) return -Infinity;
    return before.beat === beat ? before.changedAt : now;
  }

  /** The ids of nodes that live. */
  get beating(): readonly string[] {
    const since = this.clock.monotonic() - FRESH_MS;
    return [...this.#seen].flatMap(([id, { changedAt }]) => (changedAt > since ? [id] : []));
  }
}
