/**
 * One 20 ms clock for all calls of a worker. It follows real time: a late beat is followed at once by those that were
 * missed, up to a limit beyond which they are skipped. It stops while there are no calls.
 *
 * Invariant: the event loop polls its sockets between two beats. So packets that waited while the worker was held up are
 * received before the time that it missed counts as silence of the microphone.
 */
const BEAT_MS = 20;
/** How much later than a beat the timer is set, which may fire a millisecond early and then would have to be set again. */
const SLACK_MS = 1;
/** Beats missed in a longer stall are skipped, not made up for: nobody wants to hear them. */
const MOST_BEHIND_MS = 200;

export interface Beat {
  /** At least a whole beat late. */
  readonly late: boolean;
  /** Beats that were skipped before it. */
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
  /** The next beat, if it is due already. */
  #overdue: NodeJS.Immediate | undefined;
  #next = 0;

  /** Calls `onBeat` every 20 ms until the returned function is called. An error goes to `failed`, and disturbs no other listener. */
  join(onBeat: OnBeat, failed: Failed): () => void {
    this.#listeners.set(onBeat, failed);
    if (this.#listeners.size === 1) this.#start();
    return () => {
      this.#listeners.delete(onBeat);
      if (this.#listeners.size === 0) this.#stop();
    };
  }

  #start(): void {
    this.#next = performance.now() + BEAT_MS;
    this.#wait();
  }

  #stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#overdue);
  }

  #wait(): void {
    this.#stop();
    const left = this.#next - performance.now();
    if (left > 0) this.#timer = setTimeout(() => this.#look(), Math.ceil(left) + SLACK_MS);
    else this.#overdue = setImmediate(() => this.#look());
  }

  #look(): void {
    const now = performance.now();
    const behind = Math.max(0, now - this.#next);
    const skipped = behind > MOST_BEHIND_MS ? Math.floor(behind / BEAT_MS) : 0;
    this.#next += skipped * BEAT_MS;
    const late = now - this.#next >= BEAT_MS;
    this.#next += BEAT_MS;
    this.#beat({ late, skipped });
    if (this.#listeners.size > 0) this.#wait();
  }

  #beat(beat: Beat): void {
    for (const [onBeat, failed] of [...this.#listeners]) run(onBeat, beat, failed);
  }
}
