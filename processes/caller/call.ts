/**
 * One job as its caller sees it: an iterator that starts the job on its first `next()`.
 *
 * Invariants: a call is settled exactly once (ended, failed or abandoned), and then holds no listener and
 * feeds no input; leaving the loop or an abort releases the reader at once and cancels the job in the background. A call
 * whose child is frozen begins once more elsewhere if it has no input and has received nothing: nobody can tell. One whose
 * child died fails: what it worked on may be the cause.
 */
import { type JobOwner, type JobRunner, type JobValue, NOBODY } from '../../contracts/ports/jobs.js';
import { InboundCredit, type OutboundCredit } from '../channel/credit.js';
import { ServiceError } from '../../contracts/errors.js';
import { engineFrozen } from '../errors.js';
import { Feed } from './feed.js';

export type RunOptions = Parameters<JobRunner['runJob']>[2];

/** A call's place in one child. */
export interface ChildSlot {
  readonly outbound: OutboundCredit;
  /** Tells the child how many bytes the reader has taken. */
  taken(bytes: number): void;
  /** Tells the child to stop. */
  cancel(): void;
}

export class JobCall implements AsyncIterableIterator<JobValue> {
  readonly job: string;
  readonly args: unknown;
  readonly #options: RunOptions;
  readonly #dispatch: (call: JobCall) => void;
  readonly #inbound: InboundCredit;
  #phase: 'idle' | 'running' | 'settled' = 'idle';
  #line: ChildSlot | undefined;
  #feed: Feed | undefined;
  #received = false;
  #moved = false;
  /** Called once when the call is settled. */
  onSettled: (() => void) | undefined;

  /** `dispatch` finds it a child, at once or later, and calls `opened` or `fail`. */
  constructor(job: string, args: unknown, options: RunOptions, dispatch: (call: JobCall) => void) {
    this.job = job;
    this.args = args;
    this.#options = options;
    this.#dispatch = dispatch;
    this.#inbound = new InboundCredit({
      taken: (bytes) => this.#line?.taken(bytes),
      left: () => this.#abandon(),
    });
  }

  get owner(): JobOwner {
    return this.#options.owner ?? NOBODY;
  }

  /** What the child is told to open it. */
  get opening() {
    const { workspaceTag, isLive } = this.owner;
    const owner = { workspaceTag, isLive };
    return { job: this.job, args: this.args, input: this.#options.input !== undefined, owner };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<JobValue, undefined>> {
    if (this.#phase === 'idle') this.#start();
    return this.#inbound.next();
  }

  return(): Promise<IteratorResult<JobValue, undefined>> {
    return this.#inbound.return();
  }

  /** The job is open in a child: its input flows from now on. */
  opened(line: ChildSlot): void {
    this.#line = line;
    const { input } = this.#options;
    if (input === undefined) return;
    this.#feed = new Feed(input, line.outbound, (error) => this.#abandon({ error }));
    this.#feed.start();
  }

  receive(value: JobValue, bytes: number): void {
    this.#received = true;
    this.#inbound.push(value, bytes);
  }

  /** Adds credit: the child may be sent this many more bytes. */
  granted(bytes: number): void {
    this.#line?.outbound.grant(bytes);
  }

  /** Stops the input, since the child wants no more. */
  stopInput(): void {
    this.#feed?.stop();
  }

  end(): void {
    if (this.#settle()) this.#inbound.end();
  }

  fail(error: unknown): void {
    if (this.#settle()) this.#inbound.fail(error);
  }

  /** Its child is lost: it died, or was frozen and is replaced. */
  lost(isFrozen: boolean): void {
    if (!isFrozen) return this.fail(new ServiceError('engine_lost'));
    if (this.#options.input !== undefined || this.#received || this.#moved) return this.fail(engineFrozen());
    this.#moved = true;
    this.#line = undefined;
    this.#dispatch(this);
  }

  #start(): void {
    const { signal } = this.#options;
    this.#phase = 'running';
    if (signal.aborted) return this.#aborted();
    signal.addEventListener('abort', this.#aborted, { once: true });
    this.#dispatch(this);
  }

  readonly #aborted = (): void => this.#abandon({ error: this.#options.signal.reason });

  #abandon(failure?: { readonly error: unknown }): void {
    if (!this.#settle()) return;
    this.#line?.cancel();
    this.#inbound.drop(failure);
  }

  #settle(): boolean {
    if (this.#phase === 'settled') return false;
    this.#phase = 'settled';
    this.#options.signal.removeEventListener('abort', this.#aborted);
    this.#feed?.stop();
    this.onSettled?.();
    return true;
  }
}
