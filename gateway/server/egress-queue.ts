/**
 * Frames that wait to be sent on one WebSocket. They are sent in order, audio and events alike; the wire gets at most
 * WIRE_BYTES at a time, so that the rest can be counted, and dropped if the client does not read. What is not with the kernel
 * yet is charged, a waiting frame with PIECE_BYTES at least.
 */
import { MeteredMemory, type MemoryShare, pieceOf } from '../../contracts/ports/accounts/memory.js';
import type { Wire } from './adapters/adapter.js';

/** Bytes that keep a fast client busy between two drain events. */
const WIRE_BYTES = 64 * 1024;

/** Number of sent entries at the front of the list after which they are removed. */
const COMPACT_AT = 512;

const sizeOf = (frame: string | Uint8Array): number =>
  typeof frame === 'string' ? Buffer.byteLength(frame) : frame.byteLength;

export class EgressQueue {
  #frames: (string | Uint8Array)[] = [];
  #head = 0;
  #waitingBytes = 0;
  #waitingMemory = 0;
  #acceptedBytes = 0;
  #memory: MeteredMemory | undefined;

  /** `share`: opened with the first frame that does not leave at once. */
  constructor(
    private readonly wire: Wire,
    private readonly share: () => MemoryShare,
  ) {}

  /** Bytes that are not with the kernel yet. */
  get bytes(): number {
    return this.#waitingBytes + this.wire.bufferedBytes;
  }

  /** Bytes passed to the kernel since the beginning; does not grow while the client does not read. */
  get deliveredBytes(): number {
    return this.#acceptedBytes - this.bytes;
  }

  /** Returns the frame's size. */
  push(frame: string | Uint8Array): number {
    const size = sizeOf(frame);
    this.#acceptedBytes += size;
    if (this.#head === this.#frames.length && this.wire.bufferedBytes < WIRE_BYTES) this.wire.send(frame);
    else this.#wait(frame, size);
    return size;
  }

  #wait(frame: string | Uint8Array, size: number): void {
    this.#frames.push(frame);
    this.#count(size, 1);
    this.#pass();
  }

  /** Passes frames to the wire until it is full. */
  flush(): void {
    this.#pass();
    this.charge();
  }

  /** Charges what waits now. False if there is no memory for it. */
  charge(): boolean {
    const bytes = this.#waitingMemory + this.wire.bufferedBytes;
    if (bytes === 0 && !this.#memory) return true;
    return (this.#memory ??= new MeteredMemory(this.share())).set(bytes);
  }

  /** Drops frames that were not passed to the wire. */
  clear(): void {
    this.#frames = [];
    this.#head = 0;
    this.#waitingBytes = 0;
    this.#waitingMemory = 0;
  }

  #pass(): void {
    while (this.#head < this.#frames.length && this.wire.bufferedBytes < WIRE_BYTES) {
      const frame = this.#frames[this.#head] ?? '';
      this.#frames[this.#head++] = '';
      this.#count(sizeOf(frame), -1);
      this.wire.send(frame);
    }
    if (this.#head === this.#frames.length) this.clear();
    else if (this.#head > COMPACT_AT) this.#compact();
  }

  #count(size: number, sign: 1 | -1): void {
    this.#waitingBytes += sign * size;
    this.#waitingMemory += sign * pieceOf(size);
  }

  #compact(): void {
    this.#frames.splice(0, this.#head);
    this.#head = 0;
  }
}
