/**
 * Chunks of audio that a socket's client has sent but not committed yet, in order. The user of this class enforces their
 * budget (realtime-audio.ts).
 *
 * Invariants: `bytes` is the total length of the chunks; chunks are the caller's own copies, and none is ever split.
 */
export class AudioBuffer {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  append(chunk: Uint8Array): void {
    if (chunk.byteLength === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
  }

  /** Takes all chunks and empties the buffer. */
  take(): readonly Uint8Array[] {
    const taken = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return taken;
  }

  /** Puts taken chunks back in front of newer ones, because their transcription failed. */
  putBack(taken: readonly Uint8Array[]): void {
    this.#chunks = [...taken, ...this.#chunks];
    for (const chunk of taken) this.#bytes += chunk.byteLength;
  }
}
