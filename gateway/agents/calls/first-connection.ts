/** Decides whether a call that lost its media continues, by when its user was first connected (gateway/agents/calls/owned-call.ts). */
import type { Clock } from '../../../contracts/clock.js';

/**
 * A call that loses its media this soon may be what killed its media worker or server, so it is not tried again. Counted from the first
 * connection in this process: the next owner starts counting again.
 */
const SETTLED_MS = 10_000;

export class FirstConnection {
  #at: number | undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  connected(): void {
    this.#at ??= this.clock.monotonic();
  }

  get isSettled(): boolean {
    return this.#at !== undefined && this.clock.monotonic() - this.#at >= SETTLED_MS;
  }
}
