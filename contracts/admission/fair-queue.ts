/**
 * Whose turn it is: the one order in which work waits, for an engine (engines/scheduling), for a slot (fair-places.ts) or
 * for anything else. Pure: times are arguments.
 *
 * Rules: work due later than FAR_AHEAD_MS from now waits while there is any other; of the rest, live work goes before
 * batch work, but batch work that waits has a turn after LIVE_IN_A_ROW of it; within either, the workspace is next whose
 * turns have taken the least time (`worked`), and of those with as much, the one whose last turn is longest ago,
 * regardless of the number of its jobs; within a workspace the work due first (a job's first piece is due at once), then
 * the work that came first. A job's pieces come one after the other, so the jobs of a workspace alternate as well.
 * Invariant: if something waits that may go, there is a next one.
 */
import type { JobOwner } from '../ports/jobs.js';
import { type MayRun, type QueuePlace, WorkspaceQueues } from './workspace-lines.js';

export type { QueuePlace };

/** The place of work that comes `seconds` of speech later. */
export const later = (place: QueuePlace, seconds: number): QueuePlace => ({
  ...place,
  due: place.due + seconds * 1000,
});

/** Longer than the turns of thirty others, each with its longest piece. */
export const FAR_AHEAD_MS = 5000;

/** Turns of live work in a row while batch work waits. */
export const LIVE_IN_A_ROW = 4;

const always: MayRun = () => true;

/** A turn is linear in the number of waiting workspaces, not of their jobs. */
export class FairQueue<P extends QueuePlace> {
  readonly #live = new WorkspaceQueues<P>();
  readonly #batch = new WorkspaceQueues<P>();
  /** Turns of live work since batch work had one, or none waited. */
  #liveInARow = 0;

  get size(): number {
    return this.#live.size + this.#batch.size;
  }

  /** Batch work that waits. */
  get batch(): number {
    return this.#batch.size;
  }

  add(place: P): void {
    this.#linesOf(place).add(place);
  }

  /** Removes it; false if it is not in the queue. */
  withdraw(place: P): boolean {
    return this.#linesOf(place).withdraw(place);
  }

  /** Removes and returns the next one; undefined if nothing waits that may go. `now` in milliseconds, monotonic. */
  next(now: number, may: MayRun = always): P | undefined {
    return this.#takeNext(now + FAR_AHEAD_MS, may) ?? this.#takeNext(Infinity, may);
  }

  /** The turn of that owner has taken so many milliseconds; where nobody says so, all turns are alike. */
  worked(owner: JobOwner, ms: number): void {
    this.#linesOf(owner).worked(owner, ms);
  }

  /**
   * Keeps at most `most` of live work, and as much of batch work, and removes and returns what is too much after
   * `newcomer` was added, if anything is: the last of the workspace that has the most waiting, the newcomer itself if no
   * other workspace has more.
   */
  crowdedOut(newcomer: P, most: number): P | undefined {
    const lines = this.#linesOf(newcomer);
    return lines.size > most ? lines.dropLast(newcomer) : undefined;
  }

  #linesOf({ isLive = false }: JobOwner): WorkspaceQueues<P> {
    return isLive ? this.#live : this.#batch;
  }

  #takeNext(dueUntil: number, may: MayRun): P | undefined {
    const live = this.#live.first(dueUntil, may);
    const batch = this.#batch.first(dueUntil, may);
    const isBatchTurn = live === undefined || this.#liveInARow >= LIVE_IN_A_ROW;
    const next = batch !== undefined && isBatchTurn ? batch : live;
    if (next === undefined) return undefined;
    this.#liveInARow = next === live && batch !== undefined ? this.#liveInARow + 1 : 0;
    this.#linesOf(next).take(next);
    return next;
  }
}
