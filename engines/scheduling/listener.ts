/**
 * A model of a listener who plays speech as it is made: reports how far the available speech is ahead of playback. If
 * speech comes too late, the listener waits for it and continues from there.
 */
import type { Clock } from '../../contracts/clock.js';

export class PlaybackClock {
  /** Monotonic time at which all available speech will have been heard. */
  #heardAt = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Adds this much speech. */
  receive(seconds: number): void {
    this.#heardAt = Math.max(this.#heardAt, this.clock.monotonic()) + seconds * 1000;
  }

  get aheadSeconds(): number {
    return Math.max(0, this.#heardAt - this.clock.monotonic()) / 1000;
  }
}
