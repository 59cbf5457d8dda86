/**
 * Who goes first, who waits and who is refused: the one admission in front of whatever does a bounded amount of work at
 * once (docs/operate/fair-admission.md).
 *
 * Rules: `keptForLive` of the slots are for live work alone. Of the slots that its kind of work can take, a workspace has
 * at most `share` of those that it has and those that are free, so some are free for the others however many jobs it has
 * and however long they last; it always has the first. Work of nobody has no such bound. What cannot begin waits, and its turn comes by the rules of
 * fair-queue.ts. At most `queue` jobs of either kind wait; beyond that the last job of the workspace that has the most
 * waiting is refused with `engine_busy`, and nobody else's.
 */
import { ServiceError } from '../errors.js';
import { type JobOwner, NOBODY } from '../ports/jobs.js';
import { WaitCounter } from '../time/wait-counter.js';
import { FairQueue, type QueuePlace } from './fair-queue.js';
import { mayTake, SHARE } from './share.js';

export interface PlacesOptions {
  /** Jobs at once. */
  readonly slots: number;
  /** Of these, those that batch work cannot take. Default: none. */
  readonly keptForLive?: number;
  /** Jobs that may wait: of live work, and of batch work. */
  readonly queue: number;
  /** The most of a workspace, 0 to 1; 1: no bound. Default SHARE. */
  readonly share?: number;
  /** Called after each change of the numbers. */
  changed?(): void;
  /** Counts how long jobs wait for a slot. */
  readonly waits?: WaitCounter;
}

/** A job's place, from its entry on. */
export interface Ticket {
  /** Removes a job that waits; false if it does not wait. */
  withdraw(): boolean;
  /** Returns the slot of a job that runs, so that others run. Idempotent. */
  leave(): void;
}

export interface Entrant {
  begin(): void;
  /** It waited and was crowded out, or could not wait at all: `engine_busy`. */
  refuse(error: ServiceError): void;
}

interface Waiting extends QueuePlace {
  readonly entrant: Entrant;
  readonly waited: (begun: boolean) => void;
  state: 'waiting' | 'running' | 'over';
}

/** Jobs that run: of one kind, of each workspace that has any. */
class Running {
  readonly #byWorkspace = new Map<string, number>();
  total = 0;

  of(workspaceTag: string): number {
    return this.#byWorkspace.get(workspaceTag) ?? 0;
  }

  add(workspaceTag: string, change: 1 | -1): void {
    const count = this.of(workspaceTag) + change;
    this.total += change;
    if (count === 0) this.#byWorkspace.delete(workspaceTag);
    else this.#byWorkspace.set(workspaceTag, count);
  }
}

/** Nothing that waits for a slot is more urgent than another by its time. */
const DUE = 0;

export class FairPlaces {
  readonly #options: Required<PlacesOptions>;
  readonly #waiting = new FairQueue<Waiting>();
  readonly #live = new Running();
  readonly #batch = new Running();
  #begun = 0;

  constructor(options: PlacesOptions) {
    const defaults = { keptForLive: 0, share: SHARE, changed: () => undefined, waits: new WaitCounter() };
    this.#options = { ...defaults, ...options };
  }

  get running(): number {
    return this.#live.total + this.#batch.total;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Batch work that runs or waits. */
  get batch(): number {
    return this.#batch.total + this.#waiting.batch;
  }

  /** Number of jobs that have got a slot so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Calls `begin` once it has a slot, or `refuse`; either may happen before this returns. */
  enter({ workspaceTag, isLive = false }: JobOwner, entrant: Entrant): Ticket {
    const waited = this.#options.waits.enter();
    const job: Waiting = { workspaceTag, isLive, due: DUE, entrant, waited, state: 'waiting' };
    this.#waiting.add(job);
    this.#beginAll();
    if (job.state === 'waiting') this.#crowd(job);
    this.#options.changed();
    return { withdraw: () => this.#withdraw(job), leave: () => this.#leave(job) };
  }

  /**
   * Waits for a slot; the result returns it. `signal`: that which ends the wait, or what makes it, called only if there is a wait.
   * Errors: `engine_busy`; the signal's reason if it aborts first.
   */
  turn(owner: JobOwner, signal: AbortSignal | (() => AbortSignal)): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (typeof signal !== 'function' && signal.aborted) return reject(signal.reason as Error);
      let settled = false;
      let stopListening = (): void => undefined;
      const settle = (end: () => void): void => {
        settled = true;
        stopListening();
        end();
      };
      const ticket = this.enter(owner, {
        begin: () => settle(() => resolve(() => ticket.leave())),
        refuse: (error) => settle(() => reject(error)),
      });
      // Most slots are free: listening costs more than they do.
      if (settled) return;
      const over = typeof signal === 'function' ? signal() : signal;
      const withdraw = (): void => {
        if (ticket.withdraw()) reject(over.reason as Error);
      };
      stopListening = () => over.removeEventListener('abort', withdraw);
      over.addEventListener('abort', withdraw, { once: true });
    });
  }

  readonly #mayBegin = ({ workspaceTag, isLive = false }: JobOwner): boolean => {
    const { slots, keptForLive, share } = this.#options;
    const free = slots - this.running;
    const here = isLive ? free : Math.min(free, slots - keptForLive - this.#batch.total);
    if (share >= 1 || workspaceTag === NOBODY.workspaceTag) return here > 0;
    return mayTake(this.#of(isLive).of(workspaceTag), here, share);
  };

  #of(isLive: boolean | undefined): Running {
    return isLive === true ? this.#live : this.#batch;
  }

  #beginAll(): void {
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      job.state = 'running';
      this.#of(job.isLive).add(job.workspaceTag, 1);
      this.#begun += 1;
      job.waited(true);
      job.entrant.begin();
    }
  }

  #next(): Waiting | undefined {
    return this.running < this.#options.slots ? this.#waiting.next(DUE, this.#mayBegin) : undefined;
  }

  #crowd(newcomer: Waiting): void {
    const refused = this.#waiting.crowdedOut(newcomer, this.#options.queue);
    if (refused === undefined) return;
    this.#over(refused);
    refused.entrant.refuse(new ServiceError('engine_busy', { retryAfter: 1 }));
  }

  #withdraw(job: Waiting): boolean {
    if (job.state !== 'waiting') return false;
    this.#waiting.withdraw(job);
    this.#over(job);
    this.#options.changed();
    return true;
  }

  #over(job: Waiting): void {
    job.state = 'over';
    job.waited(false);
  }

  #leave(job: Waiting): void {
    if (job.state !== 'running') return;
    job.state = 'over';
    this.#of(job.isLive).add(job.workspaceTag, -1);
    this.#beginAll();
    this.#options.changed();
  }
}
