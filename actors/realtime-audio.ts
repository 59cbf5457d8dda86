/**
 * Audio that the client of a realtime session has sent but not committed yet, decoded from base64 into shared blocks: a
 * small append creates no object, so that many of them take no more memory than their bytes.
 *
 * Invariants: bytes come out in the order in which they went in; an append that is not base64, or exceeds the budget,
 * changes nothing; audio put back by failed transcriptions comes first, in the order in which it was taken.
 */
import { decodeBase64, decodedLength, paddingOf } from '../contracts/text/base64.js';
import { BYTES_PER_SAMPLE } from '../contracts/audio.js';
import { AudioBuffer } from './audio-buffer.js';

const BLOCK_BYTES = 64 * 1024;
/** Chunks of at least this size are kept as decoded, outside of blocks; also the size of a session's first block. */
const OWN_CHUNK_BYTES = 16 * 1024;

const NO_BLOCK = Buffer.alloc(0);

export type Appended = 'taken' | 'full' | 'malformed';

export interface TakenAudio {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Position among all audio taken from this buffer. */
  readonly order: number;
}

export class InputAudio {
  readonly #buffer = new AudioBuffer();
  /** The current block; its bytes from `#start` to `#end` are not in the buffer yet. */
  #block = NO_BLOCK;
  #start = 0;
  #end = 0;
  #returned: readonly TakenAudio[] = [];
  #returnedBytes = 0;
  #taken = 0;

  get bytes(): number {
    return this.#buffer.bytes + this.#returnedBytes + this.#end - this.#start;
  }

  /** Returns `full` if the buffer would exceed `budgetBytes`. */
  append(base64: string, budgetBytes: number): Appended {
    const bytes = base64.startsWith('data:') ? undefined : decodedLength(base64.length - paddingOf(base64));
    if (bytes === undefined) return this.#appendWhole(base64, budgetBytes);
    if (this.bytes + bytes > budgetBytes) return 'full';
    // A small one may have line breaks, which only decoding it as a whole allows.
    const isTaken = bytes < OWN_CHUNK_BYTES && this.#write(base64, bytes);
    return isTaken ? 'taken' : this.#appendWhole(base64, budgetBytes);
  }

  /** Takes all audio and empties the buffer. */
  take(): TakenAudio {
    const { bytes } = this;
    this.#closeBlock();
    for (const { chunks } of this.#returned.toReversed()) this.#buffer.putBack(chunks);
    this.#returned = [];
    this.#returnedBytes = 0;
    return { chunks: this.#buffer.take(), bytes, order: this.#taken++ };
  }

  /** As `take`, but only whole samples: half a sample at the end stays until its other half arrives. */
  takeSamples(): TakenAudio {
    const taken = this.take();
    const last = taken.chunks.at(-1);
    if (last === undefined || taken.bytes % BYTES_PER_SAMPLE === 0) return taken;
    // A copy: a view would keep the whole chunk in memory.
    this.#buffer.append(Uint8Array.of(last.at(-1) ?? 0));
    const chunks = [...taken.chunks.slice(0, -1), last.subarray(0, -1)];
    return { ...taken, chunks, bytes: taken.bytes - 1 };
  }

  /** Puts taken audio back, because its transcription failed. */
  putBack(taken: TakenAudio): void {
    this.#returned = [...this.#returned, taken].sort((a, b) => a.order - b.order);
    this.#returnedBytes += taken.bytes;
  }

  /** Decodes into the block; false if that gives another number of bytes. */
  #write(base64: string, bytes: number): boolean {
    if (this.#end + bytes > this.#block.length) this.#openBlock();
    if (this.#block.write(base64, this.#end, 'base64') !== bytes) return false;
    this.#end += bytes;
    return true;
  }

  #appendWhole(base64: string, budgetBytes: number): Appended {
    const chunk = decodeBase64(base64);
    if (!chunk) return 'malformed';
    if (this.bytes + chunk.length > budgetBytes) return 'full';
    this.#closeBlock();
    this.#buffer.append(chunk);
    return 'taken';
  }

  #openBlock(): void {
    this.#closeBlock();
    this.#block = Buffer.allocUnsafeSlow(this.#block === NO_BLOCK ? OWN_CHUNK_BYTES : BLOCK_BYTES);
    this.#start = 0;
    this.#end = 0;
  }

  #closeBlock(): void {
    this.#buffer.append(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }
}
