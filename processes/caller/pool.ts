/**
 * The children of one role as their caller sees them: a `JobRunner` over the Unix sockets of a role.
 *
 * Invariants: a job goes to the connected child with the least to do, preferably one with a place left, and of those
 * one that answers its pings and does not want to retire, and stays there; a child that dies or freezes fails only its own
 * jobs, and of these only what was begun (call.ts); with no child connected a bounded number of jobs waits a short while, by the
 * rules of fair admission, then they fail; children that are left finish what they have.
 */
import { FairQueue, type QueuePlace } from '../../contracts/admission/fair-queue.js';
import { systemClock, type Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { JobOwner, JobRunner } from '../../contracts/ports/jobs.js';
import { JobCall } from './call.js';
import type { ReportedLoad, WaitOf } from './child-load.js';
import { Link, type LostHow } from './link.js';
import type { Restarts } from '../restarts.js';
import { CHILD_SILENCE, type SilenceTimes } from './silence.js';
import type { Log } from '../../contracts/log.js';

export interface PoolOptions {
  /** The socket of each child of the role, as `superviseRole` gives them. */
  readonly sockets: readonly string[];
  readonly log: Log;
  readonly clock?: Clock;
  /** How long a cancelled job may take to end before its child is killed; longer than one utterance. */
  readonly cancelDeadlineMs?: number;
  /** How long a job waits while no child is connected. */
  readonly waitMs?: number;
  /** Most jobs that may wait for a child to connect: of live work, and of batch work. */
  readonly waiting?: number;
  /** How long a child may be silent before its jobs are lost. Default: `CHILD_SILENCE`. */
  readonly health?: SilenceTimes;
  /** Called when a child is there, and when it is lost without having wanted to retire. */
  changed?(at: number, how: 'up' | LostHow): void;
  /** Called with how long a job or piece waited in a child before it began, for work of any caller. */
  waited?(of: WaitOf, ms: number): void;
}

/** State of one child; its load counts the work of all its callers, as it last reported. */
export interface ChildState extends ReportedLoad {
  readonly socket: string;
  readonly connected: boolean;
  readonly pid: number | undefined;
  /** How often it was lost after it had left pings unanswered. */
  readonly frozen: number;
  readonly restarts: Restarts;
  /** How many times in a row it died over jobs without having given anything since its start. */
  readonly barren: number;
}

export interface Pool extends JobRunner {
  /** Whether a live job would be taken: by a child that is connected, or by the first one that will be. */
  readonly hasPlace: boolean;
  /** Resolves once every child is connected and ready. Rejects with `draining` when the pool is closed before. */
  ready(): Promise<void>;
  /** One row per child, for metrics and health. */
  state(): ChildState[];
  /** Moves to the children of these sockets: new jobs go to them, and those in other children end there. */
  use(sockets: readonly string[]): void;
  /** Fails all jobs with `engine_lost` and disconnects. Idempotent. */
  close(): void;
}

const DEFAULTS = {
  clock: systemClock,
  cancelDeadlineMs: 10_000,
  waitMs: 10_000,
  waiting: 1024,
  health: CHILD_SILENCE,
  waited: (): void => undefined,
  changed: (): void => undefined,
};

/** Connects to the children of a role, now and after each of their restarts. */
export const createPool = (options: PoolOptions): Pool => new ChildPool({ ...DEFAULTS, ...options });

interface ReadyWaiter {
  resolve(): void;
  reject(error: unknown): void;
}

interface WaitingCall extends QueuePlace {
  readonly call: JobCall;
}

class ChildPool implements Pool {
  readonly #options: Required<PoolOptions>;
  #links: readonly Link[];
  /** Links to children that were left, until their last jobs have ended. */
  #left: readonly Link[] = [];
  readonly #waiting = new FairQueue<WaitingCall>();
  #readyWaiters: ReadyWaiter[] = [];
  #turn = 0;
  #closed = false;

  constructor(options: Required<PoolOptions>) {
    this.#options = options;
    this.#links = options.sockets.map((path) => this.#linkTo(path));
  }

  runJob(job: string, args: unknown, options: Parameters<JobRunner['runJob']>[2]): JobCall {
    return new JobCall(job, args, options, (call) => this.#dispatch(call));
  }

  use(sockets: readonly string[]): void {
    if (this.#closed) return;
    const known = new Map(this.#links.map((link) => [link.socketPath, link]));
    const left = this.#links.filter(({ socketPath }) => !sockets.includes(socketPath));
    this.#links = sockets.map((path) => known.get(path) ?? this.#linkTo(path));
    for (const link of left) link.leave();
    this.#left = [...this.#left, ...left].filter(({ isOver }) => !isOver);
    if (this.#links.some((link) => link.up)) for (const call of this.#takeWaiting()) this.#dispatch(call);
    this.#tellReady();
  }

  #linkTo(socketPath: string): Link {
    const link: Link = new Link({
      ...this.#options,
      socketPath,
      up: () => this.#up(link),
      lost: (how) => this.#options.changed(this.#links.indexOf(link), how),
    });
    return link;
  }

  ready(): Promise<void> {
    if (this.#closed) return Promise.reject(new ServiceError('draining'));
    if (this.#links.every((link) => link.up)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#readyWaiters.push({ resolve, reject }));
  }

  get hasPlace(): boolean {
    return this.#links.some((link) => link.hasPlace) || !this.#links.some((link) => link.up);
  }

  state(): ChildState[] {
    return this.#links.map((link) => ({
      socket: link.socketPath,
      connected: link.up,
      pid: link.pid,
      frozen: link.frozen,
      restarts: link.restarts,
      barren: link.barren,
      ...link.reported,
    }));
  }

  close(): void {
    this.#closed = true;
    for (const link of [...this.#links, ...this.#left]) link.close();
    for (const call of this.#takeWaiting()) call.fail(new ServiceError('engine_lost'));
    for (const waiter of this.#readyWaiters.splice(0)) waiter.reject(new ServiceError('draining'));
  }

  #dispatch(call: JobCall): void {
    const link = this.#leastLoaded(call.owner);
    if (link !== undefined) link.open(call);
    else if (this.#closed) call.fail(new ServiceError('engine_lost'));
    else this.#wait(call);
  }

  /** Breaks ties in turn, so that callers of the same children do not all begin with the first. */
  #leastLoaded(owner: JobOwner): Link | undefined {
    const { length } = this.#links;
    this.#turn = (this.#turn + 1) % Math.max(1, length);
    let best: Link | undefined;
    let least = Infinity;
    for (let step = 0; step < length; step += 1) {
      const link = this.#links[(this.#turn + step) % length];
      if (link?.up !== true) continue;
      const load = link.loadFor(owner);
      if (load < least) [best, least] = [link, load];
    }
    return best;
  }

  #wait(call: JobCall): void {
    const waiting: WaitingCall = { ...call.owner, due: 0, call };
    const tooLate = (): void => call.fail(new ServiceError('engine_lost'));
    const stopTimer = this.#options.clock.after(this.#options.waitMs, tooLate);
    this.#waiting.add(waiting);
    call.onSettled = () => {
      stopTimer();
      this.#waiting.withdraw(waiting);
    };
    this.#waiting
      .crowdedOut(waiting, this.#options.waiting)
      ?.call.fail(new ServiceError('engine_busy', { retryAfter: 1 }));
  }

  /** The waiting calls, whose turns come in this order; none of them waits any more. */
  *#takeWaiting(): Generator<JobCall> {
    for (let next = this.#waiting.next(0); next !== undefined; next = this.#waiting.next(0)) {
      next.call.onSettled?.();
      next.call.onSettled = undefined;
      yield next.call;
    }
  }

  #up(link: Link): void {
    const at = this.#links.indexOf(link);
    // It was left before it was there.
    if (at < 0) return;
    this.#options.changed(at, 'up');
    for (const call of this.#takeWaiting()) this.#dispatch(call);
    this.#tellReady();
  }

  #tellReady(): void {
    if (!this.#links.every((link) => link.up)) return;
    for (const waiter of this.#readyWaiters.splice(0)) waiter.resolve();
  }
}
