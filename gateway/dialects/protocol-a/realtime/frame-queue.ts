/**
 * Frames of one socket, taken in order: while the answer to one needs a look-up, later frames wait.
 *
 * Invariants: one frame at a time; waiting frames are bounded by count and size, and a frame beyond that is refused, not kept.
 */
import { LIMITS } from '../../../../contracts/limits.js';

type Frame = string | Uint8Array;

const { waitingFrames, bufferedAudioBytes } = LIMITS.realtime;

export class FrameQueue {
  #waiting: Frame[] = [];
  #size = 0;
  #busy = false;

  constructor(
    /** Returns a promise if later frames must wait for this one; it never rejects. */
    private readonly take: (frame: Frame) => Promise<void> | undefined,
    private readonly refuse: () => void,
  ) {}

  push(frame: Frame): void {
    if (!this.#busy) return this.#take(frame);
    if (this.#waiting.length >= waitingFrames || this.#size + frame.length > bufferedAudioBytes)
      return this.refuse();
    this.#waiting.push(frame);
    this.#size += frame.length;
  }

  /** Drops the waiting frames. */
  clear(): void {
    this.#waiting = [];
    this.#size = 0;
  }

  #take(frame: Frame): void {
    const answered = this.take(frame);
    if (!answered) return;
    this.#busy = true;
    void answered.then(() => this.#resume());
  }

  #resume(): void {
    this.#busy = false;
    while (!this.#busy) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      this.#size -= next.length;
      this.#take(next);
    }
  }
}
