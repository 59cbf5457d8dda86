/**
 * Frames of one socket that wait, in order.
 *
 * Invariants: they are bounded by count and memory, and one beyond that is not kept; each is charged from `add` to `free`, however much
 * later than `next` that is.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { MeteredMemory, type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';

const { frames: MOST_FRAMES, bytes: MOST_BYTES } = LIMITS.socket.waiting;

/** Number of places at the front that are free again before they are removed. */
const COMPACT_AT = 4096;

/** A character for which each one of its string takes two bytes. */
const WIDE = /[^\0-\xff]/;

interface Waiting {
  /** Bytes, or characters of a string. */
  readonly length: number;
}

const memoryOf = (frame: Waiting | string): number =>
  pieceOf(typeof frame === 'string' && WIDE.test(frame) ? 2 * frame.length : frame.length);

export class WaitingFrames<Frame extends Waiting | string> {
  #frames: (Frame | undefined)[] = [];
  /** Index of the oldest one. */
  #next = 0;
  #memory = 0;
  readonly #charged: MeteredMemory;

  constructor(share: MemoryShare) {
    this.#charged = new MeteredMemory(share);
  }

  get isEmpty(): boolean {
    return this.#next >= this.#frames.length;
  }

  /** Why the frame is not kept: too many wait, or there is no memory for it. */
  add(frame: Frame): 'full' | 'exhausted' | undefined {
    const memory = memoryOf(frame);
    if (this.#frames.length - this.#next >= MOST_FRAMES || this.#memory + memory > MOST_BYTES) return 'full';
    if (!this.#charged.set(this.#memory + memory)) return 'exhausted';
    this.#frames.push(frame);
    this.#memory += memory;
    return undefined;
  }

  /** The oldest one, which waits no more but stays charged. */
  next(): Frame | undefined {
    const frame = this.#frames[this.#next];
    // Its place stays until all have gone, but what it holds does not.
    this.#frames[this.#next] = undefined;
    this.#next += 1;
    if (this.isEmpty) this.#forget();
    else if (this.#next >= COMPACT_AT) this.#compact();
    return frame;
  }

  free(frame: Frame): void {
    this.#memory -= memoryOf(frame);
    this.#charged.set(this.#memory);
  }

  /** Drops all, since the socket closes, which gives their memory back. */
  clear(): void {
    this.#forget();
  }

  #compact(): void {
    this.#frames.splice(0, this.#next);
    this.#next = 0;
  }

  #forget(): void {
    this.#frames = [];
    this.#next = 0;
  }
}
