/**
 * Bytes that arrive in chunks and are wanted in one piece. A hundred megabytes joined in the end would be there twice
 * and hold the event loop for half a second, so what is large is put where it belongs as it arrives.
 */

/** Below this it is joined in the end. It is also what a client must have sent before room is made for what it declares. */
const LARGE_BYTES = 1024 * 1024;

export class ArrivingBytes {
  #chunks: Uint8Array[] = [];
  #length = 0;
  #whole: Buffer | undefined;

  /** `mostBytes`: as many may come; memory that nothing has come for costs nothing. */
  constructor(private readonly mostBytes: number) {}

  /** Takes ownership of `chunk`. Errors: RangeError beyond `mostBytes`. */
  add(chunk: Uint8Array): void {
    if (!this.#whole && this.#length + chunk.length > LARGE_BYTES) this.#makeRoom();
    if (this.#whole) this.#whole.set(chunk, this.#length);
    else this.#chunks.push(chunk);
    this.#length += chunk.length;
  }

  /** All of it; a single chunk is returned itself. */
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

/** The most bytes that a body of these headers has, under a limit. */
export function mostBytesOf(headers: ReadonlyMap<string, string>, limitBytes: number): number {
  const declared = Number(headers.get('content-length') ?? NaN);
  return declared >= 0 ? Math.min(declared, limitBytes) : limitBytes;
}
