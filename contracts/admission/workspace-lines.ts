/** Waiting work of one kind in a line for each workspace, which take turns: part of fair-queue.ts. */
import type { JobOwner } from '../ports/jobs.js';

/** A piece of work's place in the queue. */
export interface QueuePlace extends JobOwner {
  /** Monotonic time in milliseconds at which its listener has heard everything before it. */
  readonly due: number;
}

/** Whether work of this owner may go now; otherwise others go first. */
export type MayRun = (owner: JobOwner) => boolean;

/** Most workspaces whose last turn is remembered; a forgotten one counts as new, so its turn comes sooner. */
const REMEMBERED = 1024;

/** Waiting work of one workspace: by due time, then by arrival. Never empty. */
type WorkspaceQueue<P extends QueuePlace> = [P, ...P[]];

/** Inserts it after everything due no later. Its search is logarithmic in the line's length. */
function insert<P extends QueuePlace>(line: WorkspaceQueue<P>, place: P): void {
  let [low, high] = [0, line.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (line[middle]!.due <= place.due) low = middle + 1;
    else high = middle;
  }
  line.splice(low, 0, place);
}

export class WorkspaceQueues<P extends QueuePlace> {
  readonly #lines = new Map<string, WorkspaceQueue<P>>();
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

  /** Removes it; false if it does not wait here. */
  withdraw(place: P): boolean {
    const line = this.#lines.get(place.workspaceTag);
    const index = line?.indexOf(place) ?? -1;
    if (!line || index < 0) return false;
    this.#remove(line, index);
    return true;
  }

  /** Among the workspaces that may go and have work due by `dueUntil`, the first work of the one whose turn it is. */
  first(dueUntil: number, may: MayRun): P | undefined {
    let found: P | undefined;
    for (const [first] of this.#lines.values())
      if (first.due <= dueUntil && (found === undefined || this.#isBefore(first, found)) && may(first))
        found = first;
    return found;
  }

  /** Removes the work, which has its turn now. */
  take(place: P): void {
    this.withdraw(place);
    this.#noteTurn(place.workspaceTag);
  }

  /** Removes and returns the last work of the longest line; of lines as long as the newcomer's, the newcomer. */
  dropLast(newcomer: P): P {
    let longest = this.#lines.get(newcomer.workspaceTag)!;
    const own = longest;
    for (const line of this.#lines.values()) if (line.length > longest.length) longest = line;
    const dropped = longest === own ? newcomer : longest.at(-1)!;
    this.withdraw(dropped);
    return dropped;
  }

  /** By last turn; workspaces that wait for their first turn go by due time. */
  #isBefore(one: P, other: P): boolean {
    const [turn, otherTurn] = [this.#lastTurn(one), this.#lastTurn(other)];
    return turn === otherTurn ? one.due < other.due : turn < otherTurn;
  }

  #remove(line: WorkspaceQueue<P>, index: number): void {
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
