/** The latest time at which something must end. It may be brought forward, never postponed. */
import type { Clock } from '../clock.js';

export class Deadline {
  /** Resolves at the deadline. */
  readonly passed: Promise<void>;
  #resolve: () => void = () => undefined;
  #cancel: () => void;
  #at: number;

  /** `ms` from now. */
  constructor(
    private readonly clock: Clock,
    ms: number,
  ) {
    this.passed = new Promise((resolve) => (this.#resolve = resolve));
    this.#at = clock.monotonic() + ms;
    this.#cancel = clock.after(ms, this.#resolve);
  }

  /** Moves it to `ms` from now, if that is earlier. */
  bringForward(ms: number): void {
    const at = this.clock.monotonic() + ms;
    if (at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    this.#cancel = this.clock.after(ms, this.#resolve);
  }

  /** Cancels it: nobody waits for it any more. */
  drop(): void {
    this.#cancel();
  }
}
