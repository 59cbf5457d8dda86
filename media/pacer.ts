/**
 * One clock of 20 ms for all calls of a worker. It keeps to wall time: a beat that comes late is followed at once by
 * those that were missed, up to a limit, behind which time is let go. It stands still while there is no call.
 */
const BEAT_MS = 20;
/** How often it looks. */
const LOOK_MS = 5;
/** A longer stop is not made up for: nobody wants to hear it. */
const MOST_BEHIND_MS = 200;

/** How a beat came. */
export interface Beat {
  /** A whole beat late, or more. */
  readonly late: boolean;
  /** Beats before it that were let go. */
  readonly skipped: number;
}

type OnBeat = (beat: Beat) => void;
type Failed = (error: unknown) => void;

function run(onBeat: OnBeat, beat: Beat, failed: Failed): void {
  try {
    onBeat(beat);
  } catch (error) {
    failed(error);
  }
}

export class Pacer {
  readonly #listeners = new Map<OnBeat, Failed>();
  #timer: NodeJS.Timeout | undefined;
  #next = 0;

  /** Calls `onBeat` every 20 ms; the result ends it. One that throws is told so, and holds up nobody else. */
  join(onBeat: OnBeat, failed: Failed): () => void {
    this.#listeners.set(onBeat, failed);
    if (!this.#timer) this.#start();
    return () => {
      this.#listeners.delete(onBeat);
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
    const behind = now - this.#next;
    let skipped = behind > MOST_BEHIND_MS ? Math.floor(behind / BEAT_MS) : 0;
    this.#next += skipped * BEAT_MS;
    while (this.#next <= now) {
      this.#beat({ late: now - this.#next >= BEAT_MS, skipped });
      skipped = 0;
      this.#next += BEAT_MS;
    }
  }

  #beat(beat: Beat): void {
    for (const [onBeat, failed] of [...this.#listeners]) run(onBeat, beat, failed);
  }
}
