/** The load of a child as it last reported it (link.ts): its jobs, the places that it has, and how long work has waited in it. */
import { isCount, type Waits } from '../channel/frames.js';

/** Kinds of waits in a child: a job waits for a slot, a piece of a running job for an engine. */
export type WaitOf = 'jobs' | 'pieces';
const WAIT_KINDS: readonly WaitOf[] = ['jobs', 'pieces'];
/** Longest wait that counts as plausible. */
const LONGEST_WAIT_MS = 24 * 3_600_000;

/** Load added for a child that wants to retire, is silent, or has no slot left: any other child is chosen first. */
const UNWANTED = { retiring: 2 ** 24, doubtful: 2 ** 28, full: 2 ** 32 };

/** A child's report of its load: jobs of all callers, and pieces of them that wait for an engine. */
export interface ReportedLoad {
  readonly running: number;
  readonly queued: number;
  readonly waitingPieces: number;
}

/** How many jobs of the child are of the caller that asks, and how many of those are batch work. */
export interface OwnJobs {
  readonly all: number;
  readonly batch: number;
}

const NOTHING: ReportedLoad = { running: 0, queued: 0, waitingPieces: 0 };
const ROOMY = { places: Infinity, batchPlaces: Infinity };

export class ChildLoad {
  #reported = NOTHING;
  #room = ROOMY;
  /** Batch work of all callers. */
  #batch = 0;
  #isRetiring = false;

  /** `waited`: called with how long a job or piece waited before it began. */
  constructor(private readonly waited: (of: WaitOf, ms: number) => void) {}

  get reported(): ReportedLoad {
    return this.#reported;
  }

  get isIdle(): boolean {
    return this.#reported.running + this.#reported.queued === 0;
  }

  /** Whether the child, or the last one, asked to retire. */
  get isRetiring(): boolean {
    return this.#isRetiring;
  }

  /** Whether a live job would be taken, to run or to wait. */
  hasPlace(ours: OwnJobs): boolean {
    return this.#jobs(ours) < this.#room.places;
  }

  /** Jobs of the child as it reports them, but at least those of the caller. */
  #jobs({ all }: OwnJobs): number {
    return Math.max(all, this.#reported.running + this.#reported.queued);
  }

  /** How much the child has to do; the lowest is chosen. Live work has places in a child that is full of batch work. */
  weightFor(isLive: boolean, ours: OwnJobs, isDoubtful: boolean): number {
    const jobs = this.#jobs(ours);
    const batch = Math.max(ours.batch, this.#batch);
    const isFull = jobs >= this.#room.places || (!isLive && batch >= this.#room.batchPlaces);
    const full = isFull ? UNWANTED.full : 0;
    const doubtful = isDoubtful ? UNWANTED.doubtful : 0;
    // Among several that want to retire the busiest is chosen: the others fall idle and can go.
    return full + doubtful + (this.#isRetiring ? UNWANTED.retiring - jobs : jobs);
  }

  /** A child has said hello, with the places that it has. */
  begins(places: unknown, batchPlaces: unknown): void {
    this.#room = {
      places: isCount(places) ? places : Infinity,
      batchPlaces: isCount(batchPlaces) ? batchPlaces : Infinity,
    };
    this.#isRetiring = false;
  }

  /** Takes the fields of a report; false if it is none. */
  report([running, queued, retiring, said, batch]: readonly unknown[]): boolean {
    if (!isCount(running) || !isCount(queued)) return false;
    const waits = (said ?? {}) as Partial<Waits>;
    const waitingPieces = isCount(waits.waitingPieces) ? waits.waitingPieces : 0;
    this.#reported = { running, queued, waitingPieces };
    this.#isRetiring = retiring === true;
    this.#batch = isCount(batch) ? batch : 0;
    for (const kind of WAIT_KINDS) this.#noteWaits(kind, waits[kind]);
    return true;
  }

  #noteWaits(of: WaitOf, waits: unknown): void {
    if (!Array.isArray(waits)) return;
    for (const ms of waits) if (isCount(ms) && ms <= LONGEST_WAIT_MS) this.waited(of, ms);
  }

  /** The child is lost. */
  lost(): void {
    this.#reported = NOTHING;
    this.#batch = 0;
  }
}
