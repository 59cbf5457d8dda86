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

/** What waits of one workspace: what is due first comes first, then what came first. Never empty in the queue. */
type Line<P extends Place> = [P, ...P[]];

/** Puts it behind all that is due as early. Takes time with the logarithm of the line's length. */
function insert<P extends Place>(line: Line<P>, place: P): void {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line[middle]!.due <= place.due) low = middle + 1;
    else high = middle;
  }
  line.splice(low, 0, place);
}

/** A turn takes time with the number of workspaces that wait, not with that of their jobs. */
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

  /** Takes it out; false where it is not in it. */
  withdraw(place: P): boolean {
    const line = this.#lines.get(place.workspaceTag);
    const index = line?.indexOf(place) ?? -1;
    if (!line || index < 0) return false;
    this.#take(line, index);
    return true;
  }

  /** Takes out the next one; undefined where nothing waits. `now` in milliseconds, monotonic. */
  next(now: number): P | undefined {
    const line = this.#nextLine(now + FAR_AHEAD_MS) ?? this.#nextLine(Infinity);
    if (line === undefined) return undefined;
    const [place] = line;
    this.#take(line, 0);
    this.#noteTurn(place.workspaceTag);
    return place;
  }

  /** Of the workspaces with something that is due until then, the one whose turn it is. */
  #nextLine(dueUntil: number): Line<P> | undefined {
    let found: Line<P> | undefined;
    for (const line of this.#lines.values())
      if (line[0].due <= dueUntil && (found === undefined || this.#isBefore(line[0], found[0]))) found = line;
    return found;
  }

  /** Who waits for a first turn goes by when it is due. */
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
