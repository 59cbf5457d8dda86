/**
 * The job slots of one process: at most `slots` jobs run at once, at most `queue` more wait, first come first served
 * whoever their caller is.
 */
import { ServiceError } from '../contracts/errors.js';

export class JobSlots {
  readonly #slots: number;
  readonly #queue: number;
  readonly #changed: () => void;
  readonly #waiting = new Set<() => void>();
  #running = 0;
  #begun = 0;

  /** `changed` is called after each change of the numbers. */
  constructor(slots: number, queue: number, changed: () => void) {
    this.#slots = slots;
    this.#queue = queue;
    this.#changed = changed;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#waiting.size;
  }

  /** Jobs that were given a slot, in all. */
  get begun(): number {
    return this.#begun;
  }

  /** Calls `start` once there is a slot, at once where one is free. Throws `engine_busy` when the queue is full. */
  enter(start: () => void): void {
    if (this.#running < this.#slots) return this.#run(start);
    if (this.#waiting.size >= this.#queue) throw new ServiceError('engine_busy', { retryAfter: 1 });
    this.#waiting.add(start);
    this.#changed();
  }

  /** Takes it out of the queue; false where it is not in it. */
  withdraw(start: () => void): boolean {
    const was = this.#waiting.delete(start);
    if (was) this.#changed();
    return was;
  }

  /** Waits for a slot; `leave` gives it back. Errors: `engine_busy`; the signal's reason where it aborts first. */
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

  /** A job has ended: the next may run. */
  leave(): void {
    this.#running -= 1;
    const [next] = this.#waiting;
    if (next === undefined) return this.#changed();
    this.#waiting.delete(next);
    this.#run(next);
  }

  #run(start: () => void): void {
    this.#running += 1;
    this.#begun += 1;
    this.#changed();
    start();
  }
}
