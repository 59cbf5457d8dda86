/**
 * Carries a caller's input to a job: pulls a value only when there is credit to send it.
 * Invariant: if the job ends before its input, the input is abandoned (its `return()` called) at once.
 */
import type { JobValue } from '../../contracts/ports/jobs.js';
import type { OutboundCredit } from '../channel/credit.js';
import { leave } from './detachable.js';

export class Feed {
  readonly #input: AsyncIterable<JobValue>;
  readonly #outbound: OutboundCredit;
  readonly #failed: (error: unknown) => void;
  #iterator: AsyncIterator<JobValue> | undefined;

  /** `failed` is given what the input throws, or why a value could not be sent. */
  constructor(input: AsyncIterable<JobValue>, outbound: OutboundCredit, failed: (error: unknown) => void) {
    this.#input = input;
    this.#outbound = outbound;
    this.#failed = failed;
  }

  start(): void {
    this.#carry().catch((error: unknown) => {
      this.#failed(error);
      this.stop();
    });
  }

  /** Sends nothing more. Does not wait for the input to end. */
  stop(): void {
    this.#outbound.close();
    const iterator = this.#iterator;
    this.#iterator = undefined;
    if (iterator !== undefined) leave(iterator);
  }

  async #carry(): Promise<void> {
    const iterator = (this.#iterator = this.#input[Symbol.asyncIterator]());
    while (!this.#outbound.closed) {
      const wait = this.#outbound.room();
      if (wait !== undefined) await wait;
      if (this.#outbound.closed) return;
      const step = await this.#nextOf(iterator);
      if (step.done === true) this.#outbound.end();
      else this.#outbound.send(step.value);
    }
  }

  /** Forgets an input that has ended or failed by itself, so that `return()` is not called on it. */
  async #nextOf(iterator: AsyncIterator<JobValue>): Promise<IteratorResult<JobValue>> {
    try {
      const step = await iterator.next();
      if (step.done === true) this.#iterator = undefined;
      return step;
    } catch (error) {
      this.#iterator = undefined;
      throw error;
    }
  }
}
