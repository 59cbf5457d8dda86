/**
 * Collects chunks into one piece. Joining a hundred megabytes at the end would need twice the memory and block the event
 * loop for half a second, so chunks of large bodies are copied into place as they arrive.
 */

/** Smaller bodies are joined at the end. Also how much a client must have sent before memory is reserved for its declared length. */
const LARGE_BYTES = 1024 * 1024;

export class ArrivingBytes {
  #chunks: Uint8Array[] = [];
  #length = 0;
  #whole: Buffer | undefined;

  /** `mostBytes`: the most that may arrive; reserved memory that is never written costs nothing. */
  constructor(private readonly mostBytes: number) {}

  /** Takes ownership of `chunk`. Errors: RangeError beyond `mostBytes`. */
  add(chunk: Uint8Array): void {
    if (!this.#whole && this.#length + chunk.length > LARGE_BYTES) this.#makeRoom();
    if (this.#whole) this.#whole.set(chunk, this.#length);
    else this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** All bytes in one piece; a single chunk is returned without a copy. */
  whole(): Uint8Array {
    if (this.#whole) return this.#whole.subarray(0, this.#length);
    const [only] = this.#chunks;
    return only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#length);
  }

  #makeRoom(): void {
    this.#whole = Buffer.allocUnsafeSlow(this.mostBytes);
    let at = 0;
    for (const chunk of this.#chunks) {
      this.#whole.set(chunk, at);
      at += chunk.length;
    }
    this.#chunks = [];
  }
}

/** The most bytes that a body with these headers may have, at most `limitBytes`. */
export function mostBytesOf(headers: ReadonlyMap<string, string>, limitBytes: number): number {
  const declared = Number(headers.get('content-length') ?? NaN);
  return declared >= 0 ? Math.min(declared, limitBytes) : limitBytes;
}
