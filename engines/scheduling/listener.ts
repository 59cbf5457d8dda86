/**
 * A listener who plays speech as it is made: says how far what is there is ahead of what has been heard. Where speech
 * comes too late the listener waits for it, and goes on from there.
 */
import type { Clock } from '../../contracts/clock.js';

export class Listener {
  /** When all that is there will have been heard, on the clock's monotonic time. */
  #heardAt = 0;

  constructor(private readonly clock: Pick<Clock, 'monotonic'>) {}

  /** Takes so many seconds of speech. */
  receive(seconds: number): void {
    this.#heardAt = Math.max(this.#heardAt, this.clock.monotonic()) + seconds * 1000;
  }

  get aheadSeconds(): number {
    return Math.max(0, this.#heardAt - this.clock.monotonic()) / 1000;
  }
}
