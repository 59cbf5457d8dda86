/**
 * Chunks of audio that a socket's client has sent and not committed yet, in their order. Their budget is the caller's
 * affair (realtime-audio.ts).
 *
 * Invariants: `bytes` is the sum of the chunks'; chunks are the caller's own copies, and none is ever split.
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

  /** All of it; the buffer is empty then. */
  take(): readonly Uint8Array[] {
    const taken = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return taken;
  }

  /** Chunks that were taken come back, in front of those that have arrived since: their transcription failed. */
  putBack(taken: readonly Uint8Array[]): void {
    this.#chunks = [...taken, ...this.#chunks];
    for (const chunk of taken) this.#bytes += chunk.byteLength;
  }
}
