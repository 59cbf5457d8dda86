/**
 * Ends work for somebody who has fallen silent: a time-out that runs only while they are waited for, so that a slow
 * reader behind us is not taken for them.
 */
import type { ServiceError } from '../../../contracts/errors.js';

export class Inactivity {
  readonly #ending = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  /** `work`: the work's own signal. */
  constructor(private readonly work: AbortSignal) {
    if (work.aborted) this.#follow();
    else work.addEventListener('abort', this.#follow);
  }

  /** Aborted as the work's own signal is, or with the error of what did not come in time. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Starts the time-out: aborts with `error` unless `came` is called within `ms`. */
  expect(ms: number, error: () => ServiceError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ending.abort(error()), ms);
  }

  /** Stops the time-out: data came, or nobody waits for it. */
  came(): void {
    clearTimeout(this.#timer);
  }

  /** The work is over: there is nobody to wait for any more. */
  over(): void {
    this.came();
    this.work.removeEventListener('abort', this.#follow);
  }

  /** The same parts, each of which must come within `ms`. Errors: `error`, through the signal. */
  async *watch<T>(parts: AsyncIterable<T>, ms: number, error: () => ServiceError): AsyncGenerator<T> {
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (;;) {
        this.expect(ms, error);
        const step = await iterator.next();
        this.came();
        if (step.done) return;
        yield step.value;
      }
    } finally {
      this.came();
      await iterator.return?.();
    }
  }

  /** By hand, since AbortSignal.any makes a third signal, and signals are the dearest part of this. */
  readonly #follow = (): void => this.#ending.abort(this.work.reason);
}
