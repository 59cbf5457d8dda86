/**
 * Collects chunks into one piece. Joining a hundred megabytes at the end would need twice the memory and block the event
 * loop for half a second, so chunks are copied into place as they arrive; what they take is charged.
 */
import { mustCharge, PIECE_BYTES, type MemoryShare } from '../../../contracts/ports/accounts/memory.js';

/** Also how much a client must have sent before memory is reserved for its declared length. */
const LARGE_BYTES = 1024 * 1024;
const LEAST_BYTES = 4096;
/** Most bytes that are charged in advance. */
const AHEAD_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);

export class ArrivingBytes {
  #whole: Buffer = NOTHING;
  #length = 0;
  #charged = 0;

  /** `mostBytes`: the most that may arrive; reserved memory that is never written costs nothing. */
  constructor(
    private readonly mostBytes: number,
    private readonly share: MemoryShare,
  ) {}

  get length(): number {
    return this.#length;
  }

  /** Copies `chunk`, which is lent. Errors: `memory_exhausted`; RangeError beyond `mostBytes`. */
  add(chunk: Uint8Array): void {
    const length = this.#length + chunk.length;
    this.#charge(length);
    this.#makeRoom(length);
    this.#whole.set(chunk, this.#length);
    this.#length = length;
  }

  /** All bytes in one piece. */
  whole(): Uint8Array {
    return this.#whole.subarray(0, this.#length);
  }

  /** Forgets the bytes and gives back what they were charged. */
  clear(): void {
    this.#whole = NOTHING;
    this.#length = 0;
    if (this.#charged > 0) this.share.release(this.#charged);
    this.#charged = 0;
  }

  /** Somewhat in advance, since many small chunks take no more room than a few large ones. */
  #charge(length: number): void {
    if (length <= this.#charged) return;
    const ahead = Math.max(PIECE_BYTES, Math.min(this.#charged, AHEAD_BYTES));
    const bytes = Math.max(length - this.#charged, ahead);
    mustCharge(this.share, bytes);
    this.#charged += bytes;
  }

  #makeRoom(length: number): void {
    if (length <= this.#whole.length) return;
    const ahead = length > LARGE_BYTES ? this.mostBytes : Math.max(2 * length, LEAST_BYTES);
    const larger = Buffer.allocUnsafeSlow(Math.min(ahead, this.mostBytes));
    larger.set(this.whole());
    this.#whole = larger;
  }
}

/** The most bytes that a body with these headers may have, at most `limitBytes`. */
export function mostBytesOf(headers: ReadonlyMap<string, string>, limitBytes: number): number {
  const declared = Number(headers.get('content-length') ?? NaN);
  return declared >= 0 ? Math.min(declared, limitBytes) : limitBytes;
}
