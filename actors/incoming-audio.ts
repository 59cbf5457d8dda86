/**
 * Audio that the client of a socket has sent and that is not transcribed yet: the one buffer of all sockets that take audio,
 * in base64 or bytes. Pieces are copied into shared blocks, so that a small one takes no more memory than its bytes, however
 * it was spelled; blocks and large pieces are charged as they are (contracts/ports/accounts/memory.ts).
 *
 * Invariants: bytes come out in the order in which they went in; a piece that is not base64, exceeds the budget or finds no
 * memory changes nothing; audio put back by failed transcriptions comes first, in the order in which it was taken; a turn of
 * PCM holds whole samples, and a half sample at its end never shifts the turns after it.
 */
import { BYTES_PER_SAMPLE } from '../contracts/audio.js';
import { type MemoryShare, PIECE_BYTES, pieceOf } from '../contracts/ports/accounts/memory.js';
import { decodeBase64, decodedLength, paddingOf } from '../contracts/text/base64.js';
import { alignmentAfter } from './sample-alignment.js';

const BLOCK_BYTES = 64 * 1024;
/** Pieces of at least this size are kept as decoded, outside of blocks; also the size of a socket's first block. */
const OWN_PIECE_BYTES = 16 * 1024;

const NO_BLOCK = Buffer.alloc(0);

/** `full`: beyond the socket's own limit; `exhausted`: beyond the memory budget of all. */
export type AppendResult = 'taken' | 'full' | 'malformed' | 'exhausted';

export interface TakenAudio {
  readonly chunks: readonly Uint8Array[];
  readonly bytes: number;
  /** Position among all audio taken from this buffer. */
  readonly order: number;
  /** Memory charged for it until `release`. */
  readonly held: number;
}

/** Memory of a chunk that nothing else uses. */
const memoryOf = ({ buffer }: Uint8Array): number => pieceOf(buffer.byteLength);

/** A copy with memory of its own: small buffers of Node share theirs. */
function copyOf(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length);
  copy.set(bytes);
  return copy;
}

export class IncomingAudio {
  #chunks: Uint8Array[] = [];
  #bytes = 0;
  /** Memory charged for the chunks. */
  #held = 0;
  /** The current block; its bytes from `#start` to `#end` are not in the chunks yet. */
  #block = NO_BLOCK;
  #start = 0;
  #end = 0;
  #returned: readonly TakenAudio[] = [];
  #returnedBytes = 0;
  #taken = 0;
  /** First byte of the sample that the last turn of PCM ended in. Whether the stream goes on after it shows later. */
  #half: number | undefined;

  /** `share`: closed by its owner, which frees the memory of taken audio as well. */
  constructor(private readonly share: MemoryShare) {}

  /** Bytes that wait, without the half sample of an earlier turn. */
  get bytes(): number {
    return this.#bytes + this.#returnedBytes + this.#end - this.#start;
  }

  /** Appends base64; `full` if the buffer would exceed `budgetBytes`. */
  append(base64: string, budgetBytes: number): AppendResult {
    const bytes = base64.startsWith('data:') ? undefined : decodedLength(base64.length - paddingOf(base64));
    if (bytes === undefined || bytes >= OWN_PIECE_BYTES) return this.#appendDecoded(base64, budgetBytes);
    if (this.bytes + bytes > budgetBytes) return 'full';
    if (!this.#hasRoom(bytes)) return 'exhausted';
    // A small one may have line breaks, which only decoding it as a whole allows.
    if (this.#block.write(base64, this.#end, 'base64') !== bytes)
      return this.#appendDecoded(base64, budgetBytes);
    this.#end += bytes;
    return 'taken';
  }

  /** The same for bytes, which then belong to the buffer. */
  add(piece: Uint8Array, budgetBytes: number): AppendResult {
    if (this.bytes + piece.length > budgetBytes) return 'full';
    if (piece.length >= OWN_PIECE_BYTES) return this.#keep(piece);
    if (!this.#hasRoom(piece.length)) return 'exhausted';
    this.#block.set(piece, this.#end);
    this.#end += piece.length;
    return 'taken';
  }

  /** Takes a turn of PCM: all whole samples. Half a sample at the end stays until the next turn shows whose it is. */
  take(): TakenAudio {
    this.#settle(true);
    const taken = this.#takeAll();
    const last = taken.chunks.at(-1);
    if (last === undefined || taken.bytes % BYTES_PER_SAMPLE === 0) return taken;
    this.#half = last.at(-1);
    const rest = last.length > 1 ? [last.subarray(0, -1)] : [];
    return { ...taken, chunks: [...taken.chunks.slice(0, -1), ...rest], bytes: taken.bytes - 1 };
  }

  /** Takes all bytes as they are: a file. */
  takeFile(): TakenAudio {
    this.#half = undefined;
    return this.#takeAll();
  }

  /** Reads a turn of PCM without taking it. */
  look(): Pick<TakenAudio, 'chunks' | 'bytes'> {
    this.#settle(false);
    const waiting = this.#block.subarray(this.#start, this.#end);
    const chunks = [...this.#returned.flatMap((taken) => taken.chunks), ...this.#chunks, waiting];
    return { chunks, bytes: this.bytes };
  }

  /** Puts taken audio back, because its transcription failed. */
  putBack(taken: TakenAudio): void {
    this.#returned = [...this.#returned, taken].sort((a, b) => a.order - b.order);
    this.#returnedBytes += taken.bytes;
  }

  /** Charges audio that never was in the buffer as if it had been taken; undefined if there is no memory for it. */
  adopt(audio: Uint8Array): TakenAudio | undefined {
    const chunk = audio.buffer.byteLength > 2 * audio.length ? copyOf(audio) : audio;
    const held = memoryOf(chunk);
    return this.share.charge(held) ? { chunks: [chunk], bytes: chunk.length, order: 0, held } : undefined;
  }

  /** Gives back the memory of taken audio, once. */
  release({ held }: TakenAudio): void {
    if (held > 0) this.share.release(held);
  }

  /** Forgets everything, since the socket closes; the memory goes back with the share. */
  drop(): void {
    this.#half = undefined;
    this.#block = NO_BLOCK;
    this.#start = 0;
    this.#end = 0;
    this.#empty();
  }

  /** Whether the block has room for as many bytes, or a new one was begun. */
  #hasRoom(bytes: number): boolean {
    if (this.#end + bytes <= this.#block.length) return true;
    const size = this.#block === NO_BLOCK ? OWN_PIECE_BYTES : BLOCK_BYTES;
    if (!this.share.charge(size)) return false;
    this.#closeBlock();
    this.#held += this.#block.length;
    this.#block = Buffer.allocUnsafeSlow(size);
    this.#start = 0;
    this.#end = 0;
    return true;
  }

  #appendDecoded(base64: string, budgetBytes: number): AppendResult {
    const piece = decodeBase64(base64);
    return piece ? this.add(piece, budgetBytes) : 'malformed';
  }

  /** Keeps a large piece as it is, unless it is part of something much larger. */
  #keep(piece: Uint8Array): AppendResult {
    const chunk = piece.buffer.byteLength > 2 * piece.length ? copyOf(piece) : piece;
    const memory = memoryOf(chunk);
    if (!this.share.charge(memory)) return 'exhausted';
    this.#closeBlock();
    this.#push(chunk);
    this.#held += memory;
    return 'taken';
  }

  #push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
  }

  #closeBlock(): void {
    this.#push(this.#block.subarray(this.#start, this.#end));
    this.#start = this.#end;
  }

  /** Decides, once it shows, whether the half sample of the turn before belongs to what came since. */
  #settle(isTurn: boolean): void {
    if (this.#half === undefined || this.bytes === this.#returnedBytes) return;
    const alignment = alignmentAfter(this.#half, [
      ...this.#chunks,
      this.#block.subarray(this.#start, this.#end),
    ]);
    if (alignment === 'unknown' && !isTurn) return;
    if (alignment !== 'anew') {
      this.#chunks.unshift(Uint8Array.of(this.#half));
      this.#bytes += 1;
      if (this.share.charge(PIECE_BYTES)) this.#held += PIECE_BYTES;
    }
    this.#half = undefined;
  }

  #takeAll(): TakenAudio {
    const { bytes } = this;
    this.#leaveBlock();
    const chunks = this.#returned.flatMap((taken) => taken.chunks);
    const held = this.#returned.reduce((sum, taken) => sum + taken.held, this.#held);
    const all = { chunks: [...chunks, ...this.#chunks], bytes, held, order: this.#taken++ };
    this.#empty();
    return all;
  }

  #empty(): void {
    this.#chunks = [];
    this.#bytes = 0;
    this.#held = 0;
    this.#returned = [];
    this.#returnedBytes = 0;
  }

  /** Moves the block's bytes to the chunks: as a copy if they are few and the block is of no other chunk, else with the block. */
  #leaveBlock(): void {
    const waiting = this.#block.subarray(this.#start, this.#end);
    const isFew = this.#start === 0 && 2 * waiting.length <= this.#block.length;
    if (isFew && (waiting.length === 0 || this.share.charge(waiting.length))) this.#copyOut(waiting);
    else {
      this.#push(waiting);
      this.#held += this.#block.length;
      this.#block = NO_BLOCK;
    }
    this.#start = 0;
    this.#end = 0;
  }

  /** The copy is charged already. A small block stays for the next turn. */
  #copyOut(waiting: Uint8Array): void {
    if (waiting.length > 0) this.#held += pieceOf(waiting.length);
    this.#push(copyOf(waiting));
    if (this.#block.length <= OWN_PIECE_BYTES) return;
    this.share.release(this.#block.length);
    this.#block = NO_BLOCK;
  }
}
