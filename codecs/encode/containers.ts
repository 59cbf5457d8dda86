/**
 * Containers for encoded packets: raw (MP3), or Ogg pages by FFmpeg's muxer (Opus). Native: child processes only.
 * Invariants: `take` returns each byte once, in order; `free` is idempotent.
 */
import { FormatContext, IOContext, type Packet, Rational } from 'node-av/lib';
import { check } from '../native.js';
import type { FrameEncoder } from './frame-encoder.js';

export interface OutputContainer {
  write(packet: Packet): void;
  /** Writes the end of the file. Call once, last. */
  finish(): void;
  /** Returns the bytes written since the last call. */
  take(): Buffer;
  free(): void;
}

/** The longest page, so that a listener does not wait for a full one. */
const OGG_PAGE_MICROSECONDS = '100000';
const IO_BUFFER_BYTES = 4096;
const IO_WRITES = 1;

/** Packets one after another, without headers. */
export class RawPackets implements OutputContainer {
  #packets: Buffer[] = [];

  write(packet: Packet): void {
    if (packet.data) this.#packets.push(Buffer.from(packet.data));
  }

  finish(): void {}

  take(): Buffer {
    const bytes = Buffer.concat(this.#packets);
    this.#packets = [];
    return bytes;
  }

  free(): void {}
}

export class OggPages implements OutputContainer {
  readonly #format = new FormatContext();
  readonly #io = new IOContext();
  #written: Buffer[] = [];
  #freed = false;

  constructor(encoder: FrameEncoder) {
    this.#io.allocContextWithCallbacks(IO_BUFFER_BYTES, IO_WRITES, null, (bytes) => {
      this.#written.push(Buffer.from(bytes));
      return bytes.length;
    });
    try {
      this.#open(encoder);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  write(packet: Packet): void {
    packet.streamIndex = 0;
    check(this.#format.writeFrameSync(packet), 'ogg page');
  }

  finish(): void {
    check(this.#format.writeTrailerSync(), 'ogg trailer');
  }

  take(): Buffer {
    this.#io.flushSync();
    const bytes = Buffer.concat(this.#written);
    this.#written = [];
    return bytes;
  }

  /** The order matters: in any other, node-av frees or awaits the I/O context a second time. */
  free(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.#format.pb = null;
    this.#io.freeContext();
    this.#format.freeContext();
  }

  #open(encoder: FrameEncoder): void {
    check(this.#format.allocOutputContext2(null, 'ogg', null), 'ogg muxer');
    const stream = this.#format.newStream(null);
    check(encoder.context.parametersFromContext(stream.codecpar), 'ogg stream');
    stream.timeBase = new Rational(1, encoder.rate);
    this.#format.pb = this.#io;
    check(this.#format.setOption('page_duration', OGG_PAGE_MICROSECONDS), 'ogg page duration');
    check(this.#format.writeHeaderSync(null), 'ogg header');
  }
}
