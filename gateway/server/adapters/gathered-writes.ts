/**
 * Batches the chunks of a streamed reply. The first chunk is written at once; later ones that arrive within the same
 * run of microtasks are written together, since a write costs as much as 10 KB of audio.
 */
import type { SocketChannel, ReplyHead } from './adapter.js';

/** Gathered chunks are written once they have this many bytes. */
const MOST_BYTES = 64 * 1024;

type Chunk = string | Uint8Array;

const bytesOf = (chunk: Chunk): Uint8Array => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk);

export class GatheredWrites {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #flowing = true;
  #scheduled = false;

  constructor(private readonly channel: Pick<SocketChannel, 'begin' | 'write' | 'finish'>) {}

  /** Whether everything written is with the kernel. Until then the channel gets no more, since it keeps only one chunk. */
  get flowing(): boolean {
    return this.#flowing;
  }

  /** False: write no more until the channel is writable. */
  begin(head: ReplyHead, chunk: Chunk): boolean {
    return (this.#flowing = this.channel.begin(head, chunk));
  }

  /** False: as for `begin`. */
  write(chunk: Chunk): boolean {
    if (chunk.length === 0) return this.#flowing;
    const bytes = bytesOf(chunk);
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= MOST_BYTES) this.flush();
    else this.#schedule();
    return this.#flowing;
  }

  /** The channel is writable again. */
  writable(): void {
    this.#flowing = true;
    if (this.#bytes > 0) this.#schedule();
  }

  /** Writes the gathered chunks, unless the channel is full. */
  flush(): void {
    if (this.#flowing && this.#bytes > 0) this.#flowing = this.channel.write(this.#take());
  }

  /** Ends the reply; call it only while `flowing`. False: the channel has to become writable once more. */
  finish(): boolean {
    return this.channel.finish(this.#take());
  }

  #take(): Uint8Array {
    const [only] = this.#chunks;
    const bytes = only && this.#chunks.length === 1 ? only : Buffer.concat(this.#chunks, this.#bytes);
    this.#chunks = [];
    this.#bytes = 0;
    return bytes;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // Runs after all promises that settle now.
    process.nextTick(() => {
      this.#scheduled = false;
      this.flush();
    });
  }
}
