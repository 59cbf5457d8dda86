/** A moment at which something must be over. It may be brought forward, never put off. */
import type { Clock } from './clock.js';

export class Deadline {
  /** Resolves when the moment has come. */
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

  /** To `ms` from now, where that is earlier. */
  bringForward(ms: number): void {
    const at = this.clock.monotonic() + ms;
    if (at >= this.#at) return;
    this.#cancel();
    this.#at = at;
    this.#cancel = this.clock.after(ms, this.#resolve);
  }

  /** Nobody waits for it any more. */
  drop(): void {
    this.#cancel();
  }
}
