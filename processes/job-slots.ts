/**
 * The job slots of one process: at most `slots` jobs run at once and at most `queue` more wait, first come, first served,
 * for all callers alike.
 */
import { ServiceError } from '../contracts/errors.js';
import { WaitTally } from '../contracts/time/wait-tally.js';

export class JobSlots {
  readonly #slots: number;
  readonly #queue: number;
  readonly #changed: () => void;
  /** Waiting starts in order of arrival, each with the function that ends its wait. */
  readonly #waiting = new Map<() => void, (begun: boolean) => void>();
  readonly #waits: WaitTally;
  #running = 0;
  #begun = 0;

  /** `changed` is called after each change of the numbers; `waits` counts how long jobs wait for a slot. */
  constructor(slots: number, queue: number, changed: () => void, waits = new WaitTally()) {
    this.#slots = slots;
    this.#queue = queue;
    this.#changed = changed;
    this.#waits = waits;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Number of jobs that have got a slot so far. */
  get begun(): number {
    return this.#begun;
  }

  /** Calls `start` once there is a slot, immediately if one is free. Throws `engine_busy` when the queue is full. */
  enter(start: () => void): void {
    const isFree = this.#running < this.#slots;
    if (!isFree && this.#waiting.size >= this.#queue)
      throw new ServiceError('engine_busy', { retryAfter: 1 });
    const waited = this.#waits.enter();
    if (isFree) return this.#run(start, waited);
    this.#waiting.set(start, waited);
    this.#changed();
  }

  /** Removes a job from the queue; false if it is not queued. */
  withdraw(start: () => void): boolean {
    const waited = this.#waiting.get(start);
    if (waited === undefined) return false;
    this.#waiting.delete(start);
    waited(false);
    this.#changed();
    return true;
  }

  /** Waits for a slot; `leave` returns it. Errors: `engine_busy`; the signal's reason if it aborts first. */
  async turn(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        if (this.withdraw(start)) reject(signal.reason as Error);
      };
      this.enter(start);
      if (this.#waiting.has(start)) signal.addEventListener('abort', leave, { once: true });
    });
  }

  /** Returns a slot, so that the next job runs. */
  leave(): void {
    this.#running -= 1;
    const [next] = this.#waiting;
    if (next === undefined) return this.#changed();
    this.#waiting.delete(next[0]);
    this.#run(...next);
  }

  #run(start: () => void, waited: (begun: boolean) => void): void {
    waited(true);
    this.#running += 1;
    this.#begun += 1;
    this.#changed();
    start();
  }
}
