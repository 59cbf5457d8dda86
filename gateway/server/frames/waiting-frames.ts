/**
 * Frames of one socket that wait, in order.
 *
 * Invariants: they are bounded by count and memory, and one beyond that is not kept; each is charged from `add` to `free`, however much
 * later than `next` that is.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { MeteredMemory, type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';
import { PACKED_BYTES, PackedFrames } from './packed-frames.js';

const { frames: MOST_FRAMES, bytes: MOST_BYTES } = LIMITS.socket.waiting;

/** Number of places at the front that are free again before they are removed. */
const COMPACT_AT = 4096;

/** Bytes for small frames, once PACKED_BYTES were too few. */
const MANY_PACKED_BYTES = 64 * 1024;

/** A character for which each one of its string takes two bytes. */
const WIDE = /[^\0-\xff]/;

interface Waiting {
  /** Bytes, or characters of a string. */
  readonly length: number;
}

const memoryOf = (frame: Waiting | string): number =>
  pieceOf(typeof frame === 'string' && WIDE.test(frame) ? 2 * frame.length : frame.length);

export class WaitingFrames<Frame extends Waiting | string> {
  #frames: (Frame | PackedFrames | undefined)[] = [];
  /** Index of the oldest one. */
  #next = 0;
  /** Number of frames. */
  #count = 0;
  #memory = 0;
  readonly #charged: MeteredMemory;

  constructor(share: MemoryShare) {
    this.#charged = new MeteredMemory(share);
  }

  get isEmpty(): boolean {
    return this.#count === 0;
  }

  /** Why the frame is not kept: too many wait, or there is no memory for it. */
  add(frame: Frame): 'full' | 'exhausted' | undefined {
    const refused = this.#charge(memoryOf(frame));
    if (refused) return refused;
    this.#frames.push(frame);
    return undefined;
  }

  /** As `add`, of a frame of at most PACKED_BYTES that is lent for this call. */
  addLent(bytes: Uint8Array, isText: boolean): 'full' | 'exhausted' | undefined {
    const refused = this.#charge(pieceOf(bytes.length));
    if (refused) return refused;
    const last = this.#frames.at(-1);
    if (last instanceof PackedFrames && last.add(bytes, isText)) return undefined;
    const packed = new PackedFrames(last instanceof PackedFrames ? MANY_PACKED_BYTES : PACKED_BYTES);
    packed.add(bytes, isText);
    this.#frames.push(packed);
    return undefined;
  }

  /** The oldest one, which waits no more but stays charged. */
  next(): Frame | string | Buffer | undefined {
    const first = this.#frames[this.#next];
    if (first === undefined) return undefined;
    this.#count -= 1;
    if (first instanceof PackedFrames) return this.#unpacked(first);
    this.#advance();
    return first;
  }

  #unpacked(packed: PackedFrames): string | Buffer {
    const { nextLength } = packed;
    const frame = packed.next();
    // From now on it counts as `free` will.
    this.#memory += memoryOf(frame) - pieceOf(nextLength);
    if (packed.isEmpty) this.#advance();
    return frame;
  }

  #charge(memory: number): 'full' | 'exhausted' | undefined {
    if (this.#count >= MOST_FRAMES || this.#memory + memory > MOST_BYTES) return 'full';
    if (!this.#charged.set(this.#memory + memory)) return 'exhausted';
    this.#memory += memory;
    this.#count += 1;
    return undefined;
  }

  #advance(): void {
    // Its place stays until all have gone, but what it holds does not.
    this.#frames[this.#next] = undefined;
    this.#next += 1;
    if (this.#next >= this.#frames.length) this.#forget();
    else if (this.#next >= COMPACT_AT) this.#compact();
  }

  free(frame: Frame | string | Buffer): void {
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
    this.#count = 0;
    this.#frames = [];
    this.#next = 0;
  }
}
