/**
 * Counts the work that waits in one process, and how long work waited before it began. Counted where the work waits, read by the code
 * that reports it. Each wait is reported once; if there are more than MOST_UNTOLD between two reports, only the first.
 */
import { systemClock, type Clock } from '../clock.js';

/** Most waits in one report. */
export const MOST_UNTOLD = 256;

export class WaitCounter {
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

  /** Calls `changed` after each change from now on, in place of any earlier watcher. */
  watch(changed: () => void): void {
    this.#changed = changed;
  }

  /** Counts a wait that begins. The result ends it, once: with true if the work began, false if it was withdrawn. */
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

  /** Waits, in milliseconds, of the work that began since the last call. */
  take(): readonly number[] {
    const waits = this.#waits;
    this.#waits = [];
    return waits;
  }
}
