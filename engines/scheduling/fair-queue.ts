/**
 * Decides which waiting work an engine does next. Pure: times are arguments.
 *
 * Rules: work due later than FAR_AHEAD_MS from now waits while there is any other; of the rest, the workspace
 * whose last turn is longest ago is next, regardless of the number of its jobs; within a workspace the work due first (a
 * job's first piece is due at once), then the work that came first. A job's pieces come one after the other, so the jobs
 * of a workspace alternate as well. Invariant: if something waits, there is a next one.
 */

/** A piece of work's place in the queue. */
export interface Place {
  readonly workspaceTag: string;
  /** Monotonic time in milliseconds at which its listener has heard everything before it. */
  readonly due: number;
}

/** The place of work that comes `seconds` of speech later. */
export const later = ({ workspaceTag, due }: Place, seconds: number): Place => ({
  workspaceTag,
  due: due + seconds * 1000,
});

/** Longer than the turns of thirty others, each with its longest piece. */
export const FAR_AHEAD_MS = 5000;

/** Most workspaces whose last turn is remembered; a forgotten one counts as new, so its turn comes sooner. */
const REMEMBERED = 1024;

/** Waiting work of one workspace: by due time, then by arrival. Never empty in the queue. */
type Line<P extends Place> = [P, ...P[]];

/** Inserts it after everything due no later. Its search is logarithmic in the line's length. */
function insert<P extends Place>(line: Line<P>, place: P): void {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line[middle]!.due <= place.due) low = middle + 1;
    else high = middle;
  }
  line.splice(low, 0, place);
}

/** A turn is linear in the number of waiting workspaces, not of their jobs. */
export class FairQueue<P extends Place> {
  readonly #lines = new Map<string, Line<P>>();
  /** The number of each workspace's last turn, the longest ago first. */
  readonly #lastTurns = new Map<string, number>();
  #turns = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(place: P): void {
    this.#size += 1;
    const line = this.#lines.get(place.workspaceTag);
    if (line) insert(line, place);
    else this.#lines.set(place.workspaceTag, [place]);
  }

  /** Removes it; false if it is not in the queue. */
  withdraw(place: P): boolean {
    const line = this.#lines.get(place.workspaceTag);
    const index = line?.indexOf(place) ?? -1;
    if (!line || index < 0) return false;
    this.#take(line, index);
    return true;
  }

  /** Removes and returns the next one; undefined if nothing waits. `now` in milliseconds, monotonic. */
  next(now: number): P | undefined {
    const line = this.#nextLine(now + FAR_AHEAD_MS) ?? this.#nextLine(Infinity);
    if (line === undefined) return undefined;
    const [place] = line;
    this.#take(line, 0);
    this.#noteTurn(place.workspaceTag);
    return place;
  }

  /** Among the workspaces with work due by `dueUntil`, the line of the one whose turn it is. */
  #nextLine(dueUntil: number): Line<P> | undefined {
    let found: Line<P> | undefined;
    for (const line of this.#lines.values())
      if (line[0].due <= dueUntil && (found === undefined || this.#isBefore(line[0], found[0]))) found = line;
    return found;
  }

  /** By last turn; workspaces that wait for their first turn go by due time. */
  #isBefore(one: P, other: P): boolean {
    const [turn, otherTurn] = [this.#lastTurn(one), this.#lastTurn(other)];
    return turn === otherTurn ? one.due < other.due : turn < otherTurn;
  }

  #take(line: Line<P>, index: number): void {
    this.#size -= 1;
    if (line.length === 1) this.#lines.delete(line[0].workspaceTag);
    else line.splice(index, 1);
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
