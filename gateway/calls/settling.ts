/** Whether a call whose media are lost goes on: the record of when its user was connected (gateway/calls/owned-call.ts). */
import type { Clock } from '../../contracts/clock.js';

/** A call that its media worker or server did not outlive by so long may be what killed it: it is not tried again. */
const SETTLED_MS = 10_000;

export class Settling {
  #connectedAt: number | undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  connected(): void {
    this.#connectedAt = this.clock.monotonic();
  }

  get settled(): boolean {
    return this.#connectedAt !== undefined && this.clock.monotonic() - this.#connectedAt >= SETTLED_MS;
  }
}
