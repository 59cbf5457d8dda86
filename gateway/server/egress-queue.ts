/**
 * Frames that wait to be sent on one WebSocket. They are sent in order, audio and events alike; the wire gets at most
 * WIRE_BYTES at a time, so that the rest can be counted, and dropped if the client does not read.
 */
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
  #acceptedBytes = 0;

  constructor(private readonly wire: Wire) {}

  /** Bytes that are not with the kernel yet. */
  get bytes(): number {
    return this.#waitingBytes + this.wire.bufferedBytes;
  }

  /** Bytes passed to the kernel since the beginning; does not grow while the client does not read. */
  get deliveredBytes(): number {
    return this.#acceptedBytes - this.bytes;
  }

  push(frame: string | Uint8Array): number {
    const size = sizeOf(frame);
    this.#acceptedBytes += size;
    this.#frames.push(frame);
    this.#waitingBytes += size;
    this.flush();
    return size;
  }

  /** Passes frames to the wire until it is full. */
  flush(): void {
    while (this.#head < this.#frames.length && this.wire.bufferedBytes < WIRE_BYTES) {
      const frame = this.#frames[this.#head] ?? '';
      this.#frames[this.#head++] = '';
      this.#waitingBytes -= sizeOf(frame);
      this.wire.send(frame);
    }
    if (this.#head === this.#frames.length) this.clear();
    else if (this.#head > COMPACT_AT) this.#compact();
  }

  /** Drops frames that were not passed to the wire. */
  clear(): void {
    this.#frames = [];
    this.#head = 0;
    this.#waitingBytes = 0;
  }

  #compact(): void {
    this.#frames.splice(0, this.#head);
    this.#head = 0;
  }
}
