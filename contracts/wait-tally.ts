/**
 * Counts the work that waits in one process, and how long work waited before it began. Counted where the work waits, read by whoever
 * reports it. Each wait is reported once; of more than MOST_UNTOLD between two reports only the first ones.
 */
import { systemClock, type Clock } from './clock.js';

/** Most waits in one report. */
export const MOST_UNTOLD = 256;

export class WaitTally {
  readonly #clock: Pick<Clock, 'monotonic'>;
  #waiting = 0;
  #waits: number[] = [];
  #changed: () => void = () => undefined;

  constructor(clock: Pick<Clock, 'monotonic'> = systemClock) {
    this.#clock = clock;
  }

  /** Work waiting now. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Calls `changed` after each change from now on, and nobody else. */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  /** Something begins to wait. The result ends that, once: it has begun, or else it left without. */
  enter(): (begun: boolean) => void {
    const since = this.#clock.monotonic();
    this.#waiting += 1;
    this.#changed();
    return (begun) => {
      this.#waiting -= 1;
      if (begun && this.#waits.length < MOST_UNTOLD)
        this.#waits.push(Math.round(this.#clock.monotonic() - since));
      this.#changed();
    };
  }

  /** Milliseconds that each of what has begun had waited, since the last time this was asked. */
  take(): readonly number[] {
    const waits = this.#waits;
    this.#waits = [];
    return waits;
  }
}
