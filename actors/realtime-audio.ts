/**
 * Audio that the client of a realtime session has sent and not committed yet, decoded from base64 into blocks: an
 * append makes no object of its own, so that many small ones hold no more memory than their bytes.
 *
 * Invariants: bytes come out as they went in; an append that is no base64, or that the budget does not hold,
 * changes nothing; what came back from failed transcriptions stands in front, in the order in which it was taken.
 */
import { decodeBase64, decodedLength } from '../contracts/base64.js';
import { AudioBuffer } from './audio-buffer.js';

const BLOCK_BYTES = 64 * 1024;
/** From here on a chunk is kept as it was decoded; a session's first block is no larger. */
const OWN_CHUNK_BYTES = 16 * 1024;

const NO_BLOCK = Buffer.alloc(0);

const paddingOf = (text: string): number => (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);

export type Appended = 'taken' | 'full' | 'malformed';

export interface TakenAudio {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Its place among all that was taken. */
  readonly order: number;
}

export class InputAudio {
  readonly #buffer = new AudioBuffer();
  /** The block at work; what lies between `#start` and `#end` is not in the buffer yet. */
  #block = NO_BLOCK;
  #start = 0;
  #end = 0;
  #returned: readonly TakenAudio[] = [];
  #returnedBytes = 0;
  #taken = 0;

  get bytes(): number {
    return this.#buffer.bytes + this.#returnedBytes + this.#end - this.#start;
  }

  /** `full`: it would hold more than `budgetBytes`. */
  append(base64: string, budgetBytes: number): Appended {
    if (base64.startsWith('data:')) return this.#appendWhole(base64, budgetBytes);
    const bytes = decodedLength(base64.length - paddingOf(base64));
    if (bytes === undefined) return 'malformed';
    if (this.bytes + bytes > budgetBytes) return 'full';
    if (bytes >= OWN_CHUNK_BYTES) return this.#appendWhole(base64, budgetBytes);
    if (this.#end + bytes > this.#block.length) this.#openBlock();
    if (this.#block.write(base64, this.#end, 'base64') !== bytes) return 'malformed';
    this.#end += bytes;
    return 'taken';
  }

  /** All of it; the buffer is empty then. */
  take(): TakenAudio {
    const { bytes } = this;
    this.#closeBlock();
    for (const { chunks } of this.#returned.toReversed()) this.#buffer.putBack(chunks);
    this.#returned = [];
    this.#returnedBytes = 0;
    return { chunks: this.#buffer.take(), bytes, order: this.#taken++ };
  }

  /** Audio that was taken comes back: its transcription failed. */
  putBack(taken: TakenAudio): void {
    this.#returned = [...this.#returned, taken].sort((a, b) => a.order - b.order);
    this.#returnedBytes += taken.bytes;
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
