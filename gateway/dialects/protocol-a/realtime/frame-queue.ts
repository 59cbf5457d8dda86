/**
 * Frames of one socket, taken in order: while the answer to one needs a look-up, later frames wait.
 *
 * Invariants: one frame at a time; waiting frames are bounded by count and memory, and a frame beyond that is refused, not kept.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import { type MemoryShare, pieceOf } from '../../../../contracts/ports/accounts/memory.js';

type Frame = string | Uint8Array;

const { waitingFrames, bufferedAudioBytes } = LIMITS.realtime;

/** A character for which each one of its string takes two bytes. */
const WIDE = /[^\0-\xff]/;

const memoryOf = (frame: Frame): number =>
  pieceOf(typeof frame === 'string' && WIDE.test(frame) ? 2 * frame.length : frame.length);

export interface FrameQueueEvents {
  /** Returns a promise if later frames must wait for this one; it never rejects. */
  take(frame: Frame): Promise<void> | undefined;
  /** A frame was dropped: too much waits already. */
  full(): void;
  /** A frame was dropped: there is no memory for it. */
  exhausted(): void;
}

export class FrameQueue {
  #waiting: Frame[] = [];
  #size = 0;
  #busy = false;

  constructor(
    private readonly share: MemoryShare,
    private readonly events: FrameQueueEvents,
  ) {}

  push(frame: Frame): void {
    if (!this.#busy) return this.#take(frame);
    const memory = memoryOf(frame);
    if (this.#waiting.length >= waitingFrames || this.#size + memory > bufferedAudioBytes)
      return this.events.full();
    if (!this.share.charge(memory)) return this.events.exhausted();
    this.#waiting.push(frame);
    this.#size += memory;
  }

  /** Drops the waiting frames, since the socket closes. */
  clear(): void {
    this.#waiting = [];
    this.#size = 0;
  }

  #take(frame: Frame): void {
    const answered = this.events.take(frame);
    if (!answered) return;
    this.#busy = true;
    void answered.then(() => this.#resume());
  }

  #resume(): void {
    this.#busy = false;
    while (!this.#busy) {
      const next = this.#waiting.shift();
      if (next === undefined) return;
      const memory = memoryOf(next);
      this.#size -= memory;
      this.share.release(memory);
      this.#take(next);
    }
  }
}
