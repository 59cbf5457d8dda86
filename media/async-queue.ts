/**
 * An async queue: values are pushed as they happen and read as a stream by one reader. Order is kept, and no accepted value is
 * dropped unless the reader stops; producers check `length` and `bytes` if the reader may be slow, or give a share of the memory
 * budget, which is charged for values while they wait.
 */
import type { MemoryShare } from '../contracts/ports/accounts/memory.js';

export class AsyncQueue<T> implements AsyncIterableIterator<T, undefined> {
  #values: T[] = [];
  #bytes = 0;
  #waiting: ((step: IteratorResult<T, undefined>) => void) | undefined;
  #ended = false;

  /** `weigh` returns the memory of a value, in bytes. */
  constructor(
    private readonly weigh: (value: T) => number = () => 0,
    private readonly share?: Pick<MemoryShare, 'charge' | 'release'>,
  ) {}

  /** False if the queue has ended, or there is no memory for the value. */
  push(value: T): boolean {
    if (this.#ended) return false;
    if (!this.#waiting) return this.#keep(value);
    this.#hand({ done: false, value });
    return true;
  }

  /** Accepts no more values; those that wait can still be read. Idempotent. */
  end(): void {
    this.#ended = true;
    if (this.#waiting && this.#values.length === 0) this.#hand({ done: true, value: undefined });
  }

  get length(): number {
    return this.#values.length;
  }

  /** Bytes of the values that wait to be read. */
  get bytes(): number {
    return this.#bytes;
  }

  #keep(value: T): boolean {
    const bytes = this.weigh(value);
    if (this.share?.charge(bytes) === false) return false;
    this.#values.push(value);
    this.#bytes += bytes;
    return true;
  }

  #letGo(value: T): void {
    const bytes = this.weigh(value);
    this.#bytes -= bytes;
    this.share?.release(bytes);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const value = this.#values.shift();
    if (value !== undefined) {
      this.#letGo(value);
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  /** Takes what waits to be read, without waiting for more. */
  rest(): T[] {
    const values = this.#values.splice(0);
    for (const value of values) this.#letGo(value);
    return values;
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.rest();
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #hand(step: IteratorResult<T, undefined>): void {
    this.#waiting?.(step);
    this.#waiting = undefined;
  }
}
