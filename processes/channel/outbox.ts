/**
 * The write queue of one socket. Frames are packed into slabs and written once per turn of the event
 * loop, one slab at a time: so a control frame overtakes all data that the system has not taken yet.
 * Control frames keep their order, and so do data frames. The streams' credit bounds how much waits here.
 */
import type { Socket } from 'node:net';
import { encodeFrame, HEADER_BYTES, writeLength, type ChannelFrame } from './frames.js';

const SLAB_BYTES = 64 * 1024;
const SPARE_SLABS = 16;

interface Slab {
  readonly bytes: Uint8Array;
  used: number;
}

/** Written slabs, kept for reuse by all sockets of the process. */
const spare: Uint8Array[] = [];

const newSlab = (needed: number): Slab => ({
  bytes: needed > SLAB_BYTES ? new Uint8Array(needed) : (spare.pop() ?? new Uint8Array(SLAB_BYTES)),
  used: 0,
});

function release(slab: Slab): void {
  if (slab.bytes.length === SLAB_BYTES && spare.length < SPARE_SLABS) spare.push(slab.bytes);
}

export class Outbox {
  readonly #socket: Socket;
  readonly #control: Slab[] = [];
  readonly #data: Slab[] = [];
  #writing = false;
  #scheduled = false;
  #ending = false;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Queues a frame ahead of all data. Returns its length in bytes. Throws like `encodeFrame`. */
  control(frame: ChannelFrame): number {
    return this.#add(this.#control, frame);
  }

  /** Queues a frame behind the data before it. Returns its length in bytes. Throws like `encodeFrame`. */
  data(frame: ChannelFrame): number {
    return this.#add(this.#data, frame);
  }

  /** Ends the socket once everything queued is written. */
  end(): void {
    this.#ending = true;
    this.#schedule();
  }

  #add(lane: Slab[], frame: ChannelFrame): number {
    const encoded = encodeFrame(frame);
    const needed = HEADER_BYTES + encoded.length;
    let slab = lane.at(-1);
    if (slab === undefined || slab.bytes.length - slab.used < needed) lane.push((slab = newSlab(needed)));
    writeLength(slab.bytes, slab.used, encoded.length);
    slab.bytes.set(encoded, slab.used + HEADER_BYTES);
    slab.used += needed;
    this.#schedule();
    return encoded.length;
  }

  #schedule(): void {
    if (this.#scheduled || this.#writing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#write();
    });
  }

  #write(): void {
    const slab = this.#control.shift() ?? this.#data.shift();
    if (slab === undefined) return this.#writeEnd();
    this.#writing = true;
    this.#socket.write(slab.bytes.subarray(0, slab.used), (error) => {
      this.#writing = false;
      release(slab);
      if (!error) this.#write();
    });
  }

  #writeEnd(): void {
    if (this.#ending) this.#socket.end();
  }
}
