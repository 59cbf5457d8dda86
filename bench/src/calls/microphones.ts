/** The open microphones of callers: a frame each 20 ms from all of them, and how late this side is with it. */
import { FRAME_MS } from './timing.js';

const PACE_MS = 5;

export class Microphones {
  #lateness: number[] = [];
  #next = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(private readonly callers: Iterable<{ sendFrame(): void }>) {}

  open(): void {
    if (this.#timer !== undefined) return;
    this.#next = performance.now();
    this.#timer = setInterval(() => {
      const now = performance.now();
      if (now >= this.#next) this.#lateness.push(now - this.#next);
      for (; this.#next <= now; this.#next += FRAME_MS) for (const caller of this.callers) caller.sendFrame();
    }, PACE_MS);
  }

  /** Milliseconds, since they were asked for last. */
  takeLateness(): Float64Array {
    const lateness = Float64Array.from(this.#lateness);
    this.#lateness = [];
    return lateness;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}
