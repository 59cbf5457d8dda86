/**
 * Turns at places of which there are few: who waits, who is next, who is refused. Owners take turns, whatever the number that each has
 * waiting; within an owner, first come, first served. No owner holds more than its share of the places, and no work of the
 * longer kind (transactions) takes the last place. Invariant: nobody waits while a place is free that it may have.
 */
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';

export interface TurnLimits {
  /** Most places that one owner holds at once. */
  readonly perOwner: number;
  /** Most of one owner, and of all, that wait. */
  readonly waiting: number;
  readonly waitingOfAll: number;
  /** How long one waits. */
  readonly waitMs: number;
}

export interface Wanted {
  /** Whose turn it is. */
  readonly tag: string;
  /** May last: a transaction that writes. */
  readonly long: boolean;
  readonly signal?: AbortSignal | undefined;
  /** Shortens `waitMs`. */
  readonly withinMs?: number | undefined;
}

export interface Turn<Place> {
  readonly place: Place;
  /** Gives the place back. */
  end(): void;
}

interface Waiting<Place> {
  readonly wanted: Wanted;
  readonly enter: (turn: Turn<Place>) => void;
}

const RETRY_SECONDS = 1;

/** For whom the database has no time now: 503. */
export const busy = (cause?: unknown): ServiceError =>
  new ServiceError('storage_busy', { retryAfter: RETRY_SECONDS, cause });

export class Turns<Place> {
  /** The place that was used last is used next. */
  readonly #free: Place[];
  readonly #places: number;
  readonly #held = new Map<string, number>();
  /** One line for each owner, by whose turn it is. */
  readonly #lines = new Map<string, Waiting<Place>[]>();
  #waiting = 0;
  #long = 0;

  constructor(
    places: readonly Place[],
    private readonly limits: TurnLimits,
    private readonly clock: Clock,
  ) {
    this.#free = [...places];
    this.#places = places.length;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Errors: `storage_busy` if too many wait, or it has waited too long; the signal's reason. */
  take(wanted: Wanted): Promise<Turn<Place>> {
    const { tag, signal, withinMs = Infinity } = wanted;
    if (signal?.aborted) return Promise.reject(signal.reason as Error);
    if (this.#mayEnter(wanted) && !this.#lines.has(tag)) return Promise.resolve(this.#enter(wanted));
    const line = this.#lines.get(tag) ?? [];
    const { waiting, waitingOfAll, waitMs } = this.limits;
    if (line.length >= waiting || this.#waiting >= waitingOfAll) return Promise.reject(busy());
    this.#lines.set(tag, line);
    return this.#wait(line, wanted, Math.min(waitMs, withinMs));
  }

  #wait(line: Waiting<Place>[], wanted: Wanted, ms: number): Promise<Turn<Place>> {
    const { signal } = wanted;
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        late();
        signal?.removeEventListener('abort', gone);
      };
      const waiting = {
        wanted,
        enter: (turn: Turn<Place>) => {
          leave();
          resolve(turn);
        },
      };
      const giveUp = (error: unknown): void => {
        leave();
        this.#remove(line, waiting);
        // Whoever stood behind it may be let in: it may have wanted more than is free.
        this.#next();
        reject(error as Error);
      };
      const gone = (): void => giveUp(signal?.reason);
      const late = this.clock.after(ms, () => giveUp(busy()));
      signal?.addEventListener('abort', gone);
      line.push(waiting);
      this.#waiting += 1;
    });
  }

  #remove(line: Waiting<Place>[], waiting: Waiting<Place>): void {
    const at = line.indexOf(waiting);
    if (at < 0) return;
    line.splice(at, 1);
    this.#waiting -= 1;
    if (line.length === 0) this.#lines.delete(waiting.wanted.tag);
  }

  #mayEnter({ tag, long }: Wanted): boolean {
    if (this.#free.length === 0 || (this.#held.get(tag) ?? 0) >= this.limits.perOwner) return false;
    return !long || this.#long < Math.max(1, this.#places - 1);
  }

  #enter({ tag, long }: Wanted): Turn<Place> {
    const place = this.#free.pop()!;
    this.#hold(tag, long, 1);
    let ended = false;
    return {
      place,
      end: () => {
        if (ended) return;
        ended = true;
        this.#free.push(place);
        this.#hold(tag, long, -1);
        this.#next();
      },
    };
  }

  #hold(tag: string, long: boolean, change: 1 | -1): void {
    const held = (this.#held.get(tag) ?? 0) + change;
    if (held === 0) this.#held.delete(tag);
    else this.#held.set(tag, held);
    if (long) this.#long += change;
  }

  /** Lets in whoever may enter, owner by owner; whoever had a turn goes behind the others. */
  #next(): void {
    for (const [tag, line] of [...this.#lines]) {
      const [first] = line;
      if (!first || !this.#mayEnter(first.wanted)) continue;
      this.#remove(line, first);
      if (line.length > 0) {
        this.#lines.delete(tag);
        this.#lines.set(tag, line);
      }
      first.enter(this.#enter(first.wanted));
      if (this.#free.length === 0) return;
    }
  }
}
