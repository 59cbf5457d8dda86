/**
 * The two ends of one direction of a job: `OutboundCredit` sends while it has credit, `InboundCredit` queues values
 * and gives credit back as they are read. For both a value costs the length of its frame plus a flat amount.
 *
 * Invariants: unread bytes of a direction never pass WINDOW_BYTES by more than one frame (a sender with any
 * credit may send one value of any size); a sender that breaks this loses its connection; credit goes back in
 * quarters of the window, so that small values do not cost a credit frame each.
 */
import type { JobValue } from '../../contracts/ports/jobs.js';
import type { Channel } from './channel.js';
import { KIND } from './frames.js';

export const WINDOW_BYTES = 256 * 1024;
const GIVE_BACK_BYTES = WINDOW_BYTES / 4;
/** Credit that a value costs beyond its bytes; bounds the count of tiny values. */
const VALUE_BYTES = 64;

/** The sending end. */
export class OutboundCredit {
  readonly #channel: Channel;
  readonly #stream: number;
  #credit = WINDOW_BYTES;
  #proceed: (() => void) | undefined;
  #closed = false;

  constructor(channel: Channel, stream: number) {
    this.#channel = channel;
    this.#stream = stream;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Undefined if a value may be sent now, else a promise that resolves when one may, or when closed. */
  room(): Promise<void> | undefined {
    if (this.#closed || this.#credit > 0) return undefined;
    return new Promise((resolve) => (this.#proceed = resolve));
  }

  /** Sends one value; only when there is room. Throws `engine_failed` for one that cannot be sent. */
  send(value: JobValue): void {
    if (this.#closed) return;
    this.#credit -= VALUE_BYTES + this.#channel.data(KIND.data, this.#stream, value);
  }

  /** Tells the reader that no more values come. */
  end(): void {
    if (!this.#closed) this.#channel.data(KIND.end, this.#stream);
    this.close();
  }

  /** Adds credit for bytes that the reader has taken. */
  grant(bytes: number): void {
    this.#credit += bytes;
    if (this.#credit > 0) this.#wake();
  }

  /** Sends nothing from now on and releases a sender that waits for room. */
  close(): void {
    this.#closed = true;
    this.#wake();
  }

  #wake(): void {
    this.#proceed?.();
    this.#proceed = undefined;
  }
}

interface Waiter {
  resolve(result: IteratorResult<JobValue, undefined>): void;
  reject(error: unknown): void;
}

interface InboundEvents {
  /** Bytes have been read; they go back to the sender as credit. */
  taken(bytes: number): void;
  /** The reader left its loop before the end. */
  left(): void;
}

const DONE = { done: true, value: undefined } as const;

/** The receiving end: an iterator over the values. Its `return()` releases the reader at once, even while a `next()` waits. */
export class InboundCredit implements AsyncIterableIterator<JobValue> {
  readonly #events: InboundEvents;
  readonly #values: JobValue[] = [];
  readonly #costs: number[] = [];
  readonly #waiters: Waiter[] = [];
  #senderCredit = WINDOW_BYTES;
  #taken = 0;
  #over = false;
  #failure: { readonly error: unknown } | undefined;

  constructor(events: InboundEvents) {
    this.#events = events;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<IteratorResult<JobValue, undefined>> {
    if (this.#values.length > 0) return Promise.resolve({ done: false, value: this.#take() });
    if (this.#failure !== undefined) return Promise.reject(this.#takeFailure());
    if (this.#over) return Promise.resolve(DONE);
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  return(): Promise<IteratorResult<JobValue, undefined>> {
    const early = !this.#over;
    this.drop();
    if (early) this.#events.left();
    return Promise.resolve(DONE);
  }

  /** Queues a value whose frame had `bytes` bytes. Throws if the sender had no credit for it. */
  push(value: JobValue, bytes: number): void {
    if (this.#over) return;
    if (this.#senderCredit <= 0) throw new RangeError('value sent without credit');
    const cost = bytes + VALUE_BYTES;
    this.#senderCredit -= cost;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) {
      this.#values.push(value);
      this.#costs.push(cost);
      return;
    }
    this.#giveBack(cost);
    waiter.resolve({ done: false, value });
  }

  /** No more values come; those queued are still read. */
  end(): void {
    this.#over = true;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve(DONE);
  }

  /** Ends with an error, which the reader gets after the queued values. */
  fail(error: unknown): void {
    if (this.#over) return;
    const waiter = this.#waiters.shift();
    if (waiter === undefined) this.#failure = { error };
    else waiter.reject(error);
    this.end();
  }

  /** Ends at once and drops the queued values; with an error if one is given. */
  drop(failure?: { readonly error: unknown }): void {
    this.#values.length = 0;
    this.#costs.length = 0;
    this.#failure = undefined;
    if (failure === undefined) this.end();
    else this.fail(failure.error);
  }

  #take(): JobValue {
    this.#giveBack(this.#costs.shift() ?? 0);
    return this.#values.shift();
  }

  #takeFailure(): unknown {
    const error = this.#failure?.error;
    this.#failure = undefined;
    return error;
  }

  #giveBack(cost: number): void {
    this.#taken += cost;
    if (this.#taken < GIVE_BACK_BYTES || this.#over) return;
    this.#senderCredit += this.#taken;
    this.#events.taken(this.#taken);
    this.#taken = 0;
  }
}
