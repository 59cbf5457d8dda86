/**
 * Small frames that wait, one behind the other in one piece of memory: a buffer for each takes longer than all else that is done when
 * tens of thousands of them come at once.
 */

/** Longer frames wait in memory of their own. */
export const PACKED_BYTES = 4096;

export class PackedFrames {
  readonly #bytes: Buffer;
  readonly #ends: number[] = [];
  readonly #areTexts: boolean[] = [];
  /** Index of the oldest one, and where it begins. */
  #next = 0;
  #start = 0;

  /** `size`: bytes of all, PACKED_BYTES at least. */
  constructor(size: number) {
    this.#bytes = Buffer.allocUnsafeSlow(size);
  }

  get isEmpty(): boolean {
    return this.#next >= this.#ends.length;
  }

  /** Bytes of the oldest one. */
  get nextLength(): number {
    return (this.#ends[this.#next] ?? this.#start) - this.#start;
  }

  /** Copies a frame. False if there is no room for it. */
  add(bytes: Uint8Array, isText: boolean): boolean {
    const at = this.#ends.at(-1) ?? 0;
    if (at + bytes.length > this.#bytes.length) return false;
    this.#bytes.set(bytes, at);
    this.#ends.push(at + bytes.length);
    this.#areTexts.push(isText);
    return true;
  }

  /** The oldest one, in memory of its own; there must be one. */
  next(): string | Buffer {
    const end = this.#start + this.nextLength;
    const bytes = this.#bytes.subarray(this.#start, end);
    const frame = this.#areTexts[this.#next] ? bytes.toString() : copyOf(bytes);
    this.#next += 1;
    this.#start = end;
    return frame;
  }
}

function copyOf(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  own.set(bytes);
  return own;
}
