/**
 * One clock of 20 ms for all calls of a worker. It keeps to wall time: a beat that comes late is followed at once by
 * those that were missed, up to a limit, behind which time is let go. It stands still while there is no call.
 */
const BEAT_MS = 20;
/** How often it looks. */
const LOOK_MS = 5;
/** A longer stop is not made up for: nobody wants to hear it. */
const MOST_BEHIND_MS = 200;

type Failed = (error: unknown) => void;

function run(beat: () => void, failed: Failed): void {
  try {
    beat();
  } catch (error) {
    failed(error);
  }
}

export class Pacer {
  readonly #listeners = new Map<() => void, Failed>();
  #timer: NodeJS.Timeout | undefined;
  #next = 0;
  /** Beats in all, and those that came a whole beat late or more. */
  readonly counts = { beats: 0, late: 0 };

  /** Calls `beat` every 20 ms; the result ends it. One that throws is told so, and holds up nobody else. */
  join(beat: () => void, failed: Failed): () => void {
    this.#listeners.set(beat, failed);
    if (!this.#timer) this.#start();
    return () => {
      this.#listeners.delete(beat);
      if (this.#listeners.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  #start(): void {
    this.#next = performance.now() + BEAT_MS;
    this.#timer = setInterval(() => this.#look(), LOOK_MS);
  }

  #look(): void {
    const now = performance.now();
    if (now - this.#next > MOST_BEHIND_MS) this.#next = now;
    while (this.#next <= now) {
      this.counts.beats += 1;
      if (now - this.#next >= BEAT_MS) this.counts.late += 1;
      this.#next += BEAT_MS;
      for (const [beat, failed] of [...this.#listeners]) run(beat, failed);
    }
  }
}
