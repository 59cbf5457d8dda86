/**
 * An async queue: values are pushed as they happen and read as a stream by one reader. Order is kept, and no accepted value is
 * dropped unless the reader stops; producers check `length` and `bytes` if the reader may be slow.
 */
export class AsyncQueue<T> implements AsyncIterableIterator<T, undefined> {
  #values: T[] = [];
  #bytes = 0;
  #waiting: ((step: IteratorResult<T, undefined>) => void) | undefined;
  #ended = false;

  /** `weigh` returns the memory of a value, in bytes. */
  constructor(private readonly weigh: (value: T) => number = () => 0) {}

  /** False if the queue has ended. */
  push(value: T): boolean {
    if (this.#ended) return false;
    if (this.#waiting) this.#hand({ done: false, value });
    else this.#keep(value);
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

  #keep(value: T): void {
    this.#values.push(value);
    this.#bytes += this.weigh(value);
  }

  next(): Promise<IteratorResult<T, undefined>> {
    const value = this.#values.shift();
    if (value !== undefined) {
      this.#bytes -= this.weigh(value);
      return Promise.resolve({ done: false, value });
    }
    if (this.#ended) return Promise.resolve({ done: true, value: undefined });
    return new Promise((resolve) => (this.#waiting = resolve));
  }

  return(): Promise<IteratorResult<T, undefined>> {
    this.#values = [];
    this.#bytes = 0;
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
