/**
 * Who is next, of all that wait for one engine. Pure: times are given.
 *
 * Rules: what is due later than FAR_AHEAD_MS from now waits as long as anything else does; of the rest, the workspace
 * whose last turn is longest ago is next, whatever the number of its jobs; within a workspace what is due first, which a
 * job's first piece is at once, then what came first. A job's pieces come one after the other, so its workspace's jobs
 * go round as well. Invariant: there is a next one wherever something waits.
 */

/** A piece of work's place in the queue. */
export interface Place {
  readonly workspaceTag: string;
  /** Milliseconds, monotonic: when its listener has heard all that came before it. */
  readonly due: number;
}

/** The place of what comes so many seconds of speech behind it. */
export const later = ({ workspaceTag, due }: Place, seconds: number): Place => ({
  workspaceTag,
  due: due + seconds * 1000,
});

/** Longer than the turns of thirty others take, each with its longest piece. */
export const FAR_AHEAD_MS = 5000;

/** Workspaces whose last turn is remembered; whoever is forgotten is next sooner, as one that is new. */
const REMEMBERED = 1024;

/** The one that `better` prefers to all others; the earlier one where it prefers neither. */
function best<T>(items: Iterable<T>, better: (one: T, other: T) => boolean): T | undefined {
  let found: T | undefined;
  for (const item of items) if (found === undefined || better(item, found)) found = item;
  return found;
}

export class FairQueue<P extends Place> {
  /** In the order in which they came. */
  readonly #waiting = new Set<P>();
  /** The number of each workspace's last turn, the longest ago first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;

  get size(): number {
    return this.#waiting.size;
  }

  add(place: P): void {
    this.#waiting.add(place);
  }

  /** Takes it out; false where it is not in it. */
  withdraw(place: P): boolean {
    return this.#waiting.delete(place);
  }

  /** Takes out the next one; undefined where nothing waits. `now` in milliseconds, monotonic. */
  next(now: number): P | undefined {
    const place = this.#next((each) => each.due <= now + FAR_AHEAD_MS) ?? this.#next(() => true);
    if (place === undefined) return undefined;
    this.#waiting.delete(place);
    this.#noteTurn(place.workspaceTag);
    return place;
  }

  #next(eligible: (place: P) => boolean): P | undefined {
    return best([...this.#waiting].filter(eligible), (one, other) => {
      const [turn, otherTurn] = [this.#lastTurn(one), this.#lastTurn(other)];
      return turn === otherTurn ? one.due < other.due : turn < otherTurn;
    });
  }

  #lastTurn({ workspaceTag }: P): number {
    return this.#lastTurns.get(workspaceTag) ?? 0;
  }

  #noteTurn(workspaceTag: string): void {
    this.#turns += 1;
    this.#lastTurns.delete(workspaceTag);
    this.#lastTurns.set(workspaceTag, this.#turns);
    const [oldest] = this.#lastTurns.keys();
    if (this.#lastTurns.size > REMEMBERED && oldest !== undefined) this.#lastTurns.delete(oldest);
  }
}
