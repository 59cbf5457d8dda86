/**
 * The body of a streamed reply on its way to the channel. The first chunk leaves at once; what follows and is there
 * within the same run of microtasks is written together, since a write costs as much as 10 KB of audio.
 */
import type { Channel, ReplyHead } from './adapter.js';

/** What is gathered is written once it is so much. */
const MOST_BYTES = 64 * 1024;

type Chunk = string | Uint8Array;

const bytesOf = (chunk: Chunk): Uint8Array => (typeof chunk === 'string' ? Buffer.from(chunk) : chunk);

export class GatheredWrites {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  #flowing = true;
  #scheduled = false;

  constructor(private readonly channel: Pick<Channel, 'begin' | 'write' | 'finish'>) {}

  /** Whether all that was written has left. A channel in which something waits is given no more: it keeps one chunk. */
  get flowing(): boolean {
    return this.#flowing;
  }

  /** False: no more is wanted until the channel is writable. */
  begin(head: ReplyHead, chunk: Chunk): boolean {
    return (this.#flowing = this.channel.begin(head, chunk));
  }

  /** As `begin`. */
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

  /** Writes what is gathered, unless the channel is full. */
  flush(): void {
    if (this.#flowing && this.#bytes > 0) this.#flowing = this.channel.write(this.#take());
  }

  /** Ends the reply; only while it flows. False: the channel has still to become writable once. */
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
    // Behind all promises that settle now.
    process.nextTick(() => {
      this.#scheduled = false;
      this.flush();
    });
  }
}
