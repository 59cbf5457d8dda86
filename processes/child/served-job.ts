/**
 * One job in the child: queued, running, ended.
 *
 * Invariants: it sends exactly one of `end`, `error` and `ack`; it keeps its slot until its handler has really
 * ended; a queued job that is cancelled ends at once. After each value it lets the event loop turn, so that
 * the value is written and a cancel is noticed even if the handler never waits.
 */
import { setImmediate } from 'node:timers';
import type { FairPlaces, Ticket } from '../../contracts/admission/fair-places.js';
import type { ServiceError } from '../../contracts/errors.js';
import { type JobHandlers, type JobOwner, NOBODY } from '../../contracts/ports/jobs.js';
import type { Channel } from '../channel/channel.js';
import { InboundCredit, OutboundCredit } from '../channel/credit.js';
import { asServiceError, errorToWire } from '../errors.js';
import { isCount, KIND } from '../channel/frames.js';
import { handlerOf } from './handlers.js';
import type { Log } from '../../contracts/log.js';

/** Shared by all jobs of one child. */
export interface Workplace {
  readonly handlers: JobHandlers;
  readonly places: FairPlaces;
  readonly log: Log;
}

export class ServedJob {
  readonly #place: Workplace;
  readonly #channel: Channel;
  readonly #stream: number;
  readonly #name: string;
  readonly #args: unknown;
  readonly #owner: JobOwner;
  readonly #left: () => void;
  readonly #abort = new AbortController();
  readonly #input: InboundCredit;
  readonly #output: OutboundCredit;
  #ticket: Ticket | undefined;
  #cancelled = false;

  /** `left` is called once, when the job has ended. */
  constructor(place: Workplace, channel: Channel, stream: number, open: unknown, left: () => void) {
    const { job, args, input, owner } = (open ?? {}) as Record<string, unknown>;
    this.#place = place;
    this.#channel = channel;
    this.#stream = stream;
    this.#name = String(job);
    this.#args = args;
    this.#owner = ownerOfWire(owner);
    this.#left = left;
    this.#output = new OutboundCredit(channel, stream);
    this.#input = new InboundCredit({
      taken: (bytes) => channel.control(KIND.credit, stream, bytes),
      left: () => channel.control(KIND.stop, stream),
    });
    if (input !== true) this.#input.end();
  }

  /** Runs the job now or queues it; if it is crowded out of the queue, the caller gets the error. */
  enter(): void {
    const begin = (): void => void this.#run();
    const refuse = (error: ServiceError): void => this.refuse(error);
    this.#ticket = this.#place.places.enter(this.#owner, { begin, refuse });
  }

  /** Ends a job that is not running, with an error. */
  refuse(error: unknown): void {
    this.#fail(error);
    this.#left();
  }

  /** Removes a queued job with an error; a running one continues. */
  dequeue(error: ServiceError): void {
    if (this.#withdraw()) this.refuse(error);
  }

  /** Handles a frame of this job. Throws on a kind that callers may not send. */
  receive(kind: number, payload: unknown, bytes: number): void {
    if (kind === KIND.data) this.#input.push(payload, bytes);
    else if (kind === KIND.end) this.#input.end();
    else if (kind === KIND.credit && isCount(payload)) this.#output.grant(payload);
    else if (kind === KIND.cancel) this.#cancel();
    else throw new TypeError(`frame of kind ${kind} from a caller`);
  }

  /** Stops the job, queued or running; a caller that is still connected gets the error. */
  stop(error: ServiceError): void {
    if (this.#withdraw()) this.refuse(error);
    else this.#stopRunning(error);
  }

  #cancel(): void {
    this.#cancelled = true;
    if (this.#withdraw()) this.#over();
    else this.#stopRunning(new DOMException('The caller cancelled the job', 'AbortError'));
  }

  #stopRunning(reason: Error): void {
    this.#abort.abort(reason);
    this.#output.close();
    this.#input.drop({ error: reason });
  }

  /** False if it was not in the queue. */
  #withdraw(): boolean {
    return this.#ticket?.withdraw() === true;
  }

  async #run(): Promise<void> {
    try {
      await this.#produce();
      this.#abort.signal.throwIfAborted();
      this.#channel.data(KIND.end, this.#stream);
    } catch (error) {
      const { aborted, reason } = this.#abort.signal;
      this.#fail(aborted ? reason : error);
    } finally {
      this.#ticket?.leave();
      this.#over();
    }
  }

  async #produce(): Promise<void> {
    const { signal } = this.#abort;
    const handler = handlerOf(this.#place.handlers, this.#name);
    for await (const value of handler(this.#args, this.#input, { signal })) {
      const wait = this.#output.room();
      if (wait !== undefined) await wait;
      if (signal.aborted) return;
      this.#output.send(value);
      await loopTurn();
    }
  }

  /** Reports the error to the caller, unless it cancelled; logs the cause, which callers may not see. */
  #fail(error: unknown): void {
    if (this.#cancelled) return;
    const shown = asServiceError(error);
    if (shown.cause !== undefined) this.#place.log.error({ job: this.#name, err: shown.cause }, 'job failed');
    this.#channel.data(KIND.error, this.#stream, errorToWire(shown));
  }

  #over(): void {
    this.#input.drop();
    this.#output.close();
    if (this.#cancelled) this.#channel.control(KIND.ack, this.#stream);
    this.#left();
  }
}

/** A caller of an earlier release names no owner. */
function ownerOfWire(owner: unknown): JobOwner {
  const { workspaceTag, isLive } = (owner ?? {}) as Record<string, unknown>;
  return typeof workspaceTag === 'string' ? { workspaceTag, isLive: isLive === true } : NOBODY;
}

let turn: Promise<void> | undefined;

/** Resolves after the event loop has polled its sockets; all waiting jobs share one turn. */
const loopTurn = (): Promise<void> =>
  (turn ??= new Promise((resolve) => {
    setImmediate(() => {
      turn = undefined;
      resolve();
    });
  }));
