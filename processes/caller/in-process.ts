/**
 * Jobs without a child: the handlers run in this process, with the pool's semantics of start, cancel and error.
 * For light work and for tests; values are handed over as they are, not copied.
 *
 * Invariants as in call.ts: started by the first `next()`, left at once, settled once.
 */
import type { JobHandlers, JobRunner, JobValue } from '../../contracts/ports/jobs.js';
import type { RunOptions } from './call.js';
import { Detachable, DONE, type Failure, type Step } from './detachable.js';
import { asServiceError } from '../errors.js';
import { handlerOf } from '../child/handlers.js';

/** A runner over handlers of this process. */
export const inProcess = (handlers: JobHandlers): JobRunner => ({
  run: (job, args, options) => new LocalCall(handlers, job, args, options),
});

class LocalCall implements AsyncIterableIterator<JobValue> {
  readonly #signal: AbortSignal;
  readonly #abort = new AbortController();
  readonly #input: Detachable;
  readonly #results: Detachable;
  #phase: 'idle' | 'running' | 'settled' = 'idle';

  constructor(handlers: JobHandlers, job: string, args: unknown, options: RunOptions) {
    this.#signal = options.signal;
    this.#input = new Detachable(() => (options.input ?? nothing())[Symbol.asyncIterator]());
    this.#results = new Detachable(() => {
      const handler = handlerOf(handlers, job);
      return handler(args, this.#input, { signal: this.#abort.signal })[Symbol.asyncIterator]();
    });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#phase === 'idle') this.#start();
    try {
      const step = await this.#results.next();
      if (step.done === true) this.#settle();
      return step;
    } catch (error) {
      if (!this.#settle()) throw error;
      const shown: unknown = this.#input.failure?.error ?? asServiceError(error);
      throw shown;
    }
  }

  return(): Promise<Step> {
    this.#abandon({ error: new DOMException('The caller left the job', 'AbortError') });
    return Promise.resolve(DONE);
  }

  #start(): void {
    this.#phase = 'running';
    if (this.#signal.aborted) this.#aborted();
    else this.#signal.addEventListener('abort', this.#aborted, { once: true });
  }

  readonly #aborted = (): void => {
    const failure = { error: this.#signal.reason as unknown };
    this.#abandon(failure, failure);
  };

  /** `reason`: error for the handler; `shown`: error for the reader, absent if it left by itself. */
  #abandon(reason: Failure, shown?: Failure): void {
    if (!this.#settle(reason)) return;
    this.#abort.abort(reason.error);
    this.#results.detach(shown);
  }

  #settle(reason?: Failure): boolean {
    if (this.#phase === 'settled') return false;
    this.#phase = 'settled';
    this.#signal.removeEventListener('abort', this.#aborted);
    this.#input.detach(reason);
    return true;
  }
}

async function* nothing(): AsyncGenerator<JobValue, void> {
  // A job without input sees an empty one.
}
