/** Waiting work of one kind in a line for each workspace, which take turns: part of fair-queue.ts. */
import type { JobOwner } from '../ports/jobs.js';

/** A piece of work's place in the queue. */
export interface QueuePlace extends JobOwner {
  /** Monotonic time in milliseconds at which its listener has heard everything before it. */
  readonly due: number;
}

/** Whether work of this owner may go now; otherwise others go first. */
export type MayRun = (owner: JobOwner) => boolean;

/** Most workspaces whose turns are remembered; a forgotten one counts as new, so its turn comes sooner. */
const REMEMBERED = 1024;

/** What a workspace has had so far. */
interface Had {
  /** Number of its last turn. */
  readonly turn: number;
  /** Milliseconds of work, counted from what the one had that went before it when it came. */
  readonly ms: number;
}

const NOTHING: Had = { turn: 0, ms: 0 };

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
  /** Of each workspace, whose last turn is longest ago first. */
  readonly #had = new Map<string, Had>();
  /** Of the one whose turn it was last: who comes anew has had as much, and no credit for the time in which it had no work. */
  #level = 0;
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

  /** A turn of that workspace has taken so long. */
  worked({ workspaceTag }: JobOwner, ms: number): void {
    const had = this.#had.get(workspaceTag);
    if (had) this.#had.set(workspaceTag, { ...had, ms: had.ms + ms });
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

  /** By the time that they have had, then by last turn; workspaces that wait for their first turn go by due time. */
  #isBefore(one: P, other: P): boolean {
    const [had, otherHad] = [this.#hadBy(one.workspaceTag), this.#hadBy(other.workspaceTag)];
    if (had.ms !== otherHad.ms) return had.ms < otherHad.ms;
    return had.turn === otherHad.turn ? one.due < other.due : had.turn < otherHad.turn;
  }

  #remove(line: WorkspaceQueue<P>, index: number): void {
    this.#size -= 1;
    if (line.length === 1) this.#lines.delete(line[0].workspaceTag);
    else line.splice(index, 1);
  }

  #hadBy(workspaceTag: string): Had {
    const { turn, ms } = this.#had.get(workspaceTag) ?? NOTHING;
    return { turn, ms: Math.max(ms, this.#level) };
  }

  #noteTurn(workspaceTag: string): void {
    this.#turns += 1;
    this.#level = this.#hadBy(workspaceTag).ms;
    this.#had.delete(workspaceTag);
    this.#had.set(workspaceTag, { turn: this.#turns, ms: this.#level });
    const [oldest] = this.#had.keys();
    if (this.#had.size > REMEMBERED && oldest !== undefined) this.#had.delete(oldest);
  }
}
