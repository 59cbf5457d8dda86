/**
 * When the user's audio was spoken, by the clock: the time between two of its moments is that of the samples between them. Audio that was
 * held up comes all at once, so the times at which it comes say nothing of how long a voice or a pause was.
 *
 * Invariant: nothing was spoken later than it came.
 */
import type { Clock } from '../../../../contracts/clock.js';

/** Samples may be left out while a machine stands still: each moment takes so much of what is missing for a lateness of all that follow. */
const CORRECTED = 0.1;

export class SpokenAt {
  /** The clock's time of the first sample. */
  #begun: number | undefined;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** `ms`: of the audio so far; undefined for something else than audio, which is now. */
  of(ms: number | undefined): number {
    const now = this.clock.monotonic();
    if (ms === undefined) return now;
    const begun = now - ms;
    const before = this.#begun ?? begun;
    this.#begun = Math.min(begun, before + CORRECTED * (begun - before));
    return this.#begun + ms;
  }
}
