/**
 * Exponential backoff: the wait before the next try doubles from `initialMs` up to `maxMs`, until a success resets
 * it.
 */
export class Backoff {
  readonly #initialMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor(times: { readonly initialMs: number; readonly maxMs: number }) {
    this.#initialMs = times.initialMs;
    this.#maxMs = times.maxMs;
  }

  next(): number {
    return Math.min(this.#maxMs, this.#initialMs * 2 ** this.#failures++);
  }

  reset(): void {
    this.#failures = 0;
  }
}
