/**
 * An iterator that releases its reader at once, even while a step is pending: a plain async generator answers
 * `return()` only after its pending step.
 */
import type { JobValue } from '../../contracts/ports/jobs.js';

export type Step = IteratorResult<JobValue, undefined>;

export const DONE: Step = { done: true, value: undefined };

export interface CallFailure {
  readonly error: unknown;
}

export class Detachable implements AsyncIterableIterator<JobValue> {
  readonly #open: () => AsyncIterator<JobValue>;
  #source: AsyncIterator<JobValue> | undefined;
  #over = false;
  /** The failure with which it was detached, for the next step to throw. */
  #untold: CallFailure | undefined;
  #pending: { resolve(step: Step): void; reject(error: unknown): void } | undefined;
  #failure: CallFailure | undefined;

  /** `open` is called by the first `next()`. */
  constructor(open: () => AsyncIterator<JobValue>) {
    this.#open = open;
  }

  /** The error that the source threw, if it did. */
  get failure(): CallFailure | undefined {
    return this.#failure;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  async next(): Promise<Step> {
    if (this.#over) return this.#tell();
    try {
      const step = await this.#step();
      if (step.done !== true) return step;
      this.#over = true;
      return DONE;
    } catch (error) {
      if (!this.#over) this.#failure = { error };
      this.#over = true;
      throw error;
    } finally {
      this.#pending = undefined;
    }
  }

  return(): Promise<Step> {
    this.detach();
    return Promise.resolve(DONE);
  }

  /** Leaves the source without waiting for it. The pending or the next step throws the failure, if one is given. */
  detach(failure?: CallFailure): void {
    if (this.#over) return;
    this.#over = true;
    if (this.#pending === undefined) this.#untold = failure;
    else if (failure === undefined) this.#pending.resolve(DONE);
    else this.#pending.reject(failure.error);
    if (this.#source !== undefined) leave(this.#source);
  }

  #step(): Promise<IteratorResult<JobValue>> {
    return new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      this.#source ??= this.#open();
      this.#source.next().then(resolve, reject);
    });
  }

  #tell(): Step {
    const failure = this.#untold;
    this.#untold = undefined;
    if (failure === undefined) return DONE;
    throw failure.error;
  }
}

/** Leaves an iterator without waiting for its answer. */
export function leave(iterator: AsyncIterator<unknown>): void {
  const left = iterator.return?.();
  left?.catch(() => undefined);
}
