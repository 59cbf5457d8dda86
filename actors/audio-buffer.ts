/**
 * Audio that a socket's client has sent and not committed yet. The socket appends to it directly; a commit or a
 * clear takes what is there before its event reaches the actor.
 *
 * Invariants: `bytes` is the sum of what waits; an append that the budget does not hold changes nothing; chunks
 * are the caller's own copies, and a chunk's own samples are never split by the buffer.
 */
export class AudioBuffer {
  #chunks: Uint8Array[] = [];
  #bytes = 0;

  get bytes(): number {
    return this.#bytes;
  }

  /** What waits, oldest first; it stays. */
  get chunks(): readonly Uint8Array[] {
    return this.#chunks;
  }

  /** False where it would hold more than `budgetBytes`; then nothing is added. */
  append(chunk: Uint8Array, budgetBytes: number): boolean {
    if (this.#bytes + chunk.byteLength > budgetBytes) return false;
    if (chunk.byteLength === 0) return true;
    this.#chunks.push(chunk);
    this.#bytes += chunk.byteLength;
    return true;
  }

  /** All of it; the buffer is empty then. */
  take(): readonly Uint8Array[] {
    const taken = this.#chunks;
    this.#chunks = [];
    this.#bytes = 0;
    return taken;
  }

  /** What was taken comes back in front of what has arrived since: its transcription failed. */
  putBack(taken: readonly Uint8Array[]): void {
    this.#chunks = [...taken, ...this.#chunks];
    for (const chunk of taken) this.#bytes += chunk.byteLength;
  }
}
