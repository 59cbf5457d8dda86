/**
 * Ends work whose remote side has fallen silent: a time-out that runs only while its data is awaited, so that a slow
 * reader of the result is not mistaken for a silent service.
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

  /** Aborted with the work's own signal, or with the error of a time-out. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** Starts the time-out, which aborts with `error` unless `came` is called within `ms`. */
  expect(ms: number, error: () => ServiceError): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#ending.abort(error()), ms);
  }

  /** Ends the work with an error. */
  fail(error: unknown): void {
    this.#ending.abort(error);
  }

  /** Stops the time-out: data came, or nobody waits for it. */
  came(): void {
    clearTimeout(this.#timer);
  }

  /** Stops the time-out and leaves the work's signal: the work has ended. */
  over(): void {
    this.came();
    this.work.removeEventListener('abort', this.#follow);
  }

  /**
   * Passes the parts on; each must arrive within `ms`, the first one within the time-out that runs if `begun`. Errors: `error`, through
   * the signal.
   */
  async *watch<T>(
    parts: AsyncIterable<T>,
    ms: number,
    error: () => ServiceError,
    begun = false,
  ): AsyncGenerator<T> {
    const iterator = parts[Symbol.asyncIterator]();
    try {
      for (let runs = begun; ; runs = false) {
        if (!runs) this.expect(ms, error);
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

  /** Not AbortSignal.any, which would create a third signal: signals are the most expensive part of this. */
  readonly #follow = (): void => this.#ending.abort(this.work.reason);
}
