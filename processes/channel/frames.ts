/**
 * Frames on a Unix socket: four bytes of length, big-endian, then that many bytes of MessagePack.
 * A frame is an array: its kind, the number of its stream (0 for the connection itself), then what the kind needs.
 *
 * Invariants: no frame is longer than FRAME_BYTES on either side; a byte is copied at most once while a frame
 * is put together; every decoded binary field has its own buffer, aligned and of exactly its length, so that the
 * receiver may keep it, transfer it, or read samples from it.
 */
import { Decoder, Encoder } from '@msgpack/msgpack';
import { ServiceError } from '../../contracts/errors.js';

export const KIND = {
  /**
   * child → caller, once it is ready: { version, pid, places, batchPlaces, restarts }; places: jobs that it runs or queues at
   * most, and of batch work; restarts: how often its supervisor has started it again, by cause
   */
  hello: 0,
  /** caller → child: { job, args, input, owner? } */
  open: 1,
  /** either way: one value */
  data: 2,
  /** either way: no more values in this direction; from the child, the job has ended */
  end: 3,
  /** child → caller: the job has failed: { code, message, param?, retryAfter? } */
  error: 4,
  /** caller → child: stop the job; always answered by one `ack` */
  cancel: 5,
  /** child → caller: the cancelled job has ended, or was not there */
  ack: 6,
  /** either way: number of bytes that the reader has taken */
  credit: 7,
  /** child → caller: the handler wants no more input */
  stop: 8,
  /**
   * child → caller, for the whole child: jobs running and queued, whether it wants to retire, its `Waits` since the last
   * such frame, and how many of the jobs are batch work
   */
  load: 9,
  ping: 10,
  pong: 11,
  /** child → caller: whether it does work that it announced, and so may be silent for long */
  announce: 12,
} as const;

/** Waits, in milliseconds, of the work that began since the last report, and the number of pieces that wait now. */
export interface Waits {
  /** Jobs, for a slot. */
  readonly jobs: readonly number[];
  /** Pieces of running jobs, for an engine. */
  readonly pieces: readonly number[];
  readonly waitingPieces: number;
}

export type ChannelFrame = readonly [kind: number, stream: number, ...rest: unknown[]];

export const PROTOCOL_VERSION = 1;
export const FRAME_BYTES = 8 * 1024 * 1024;
export const HEADER_BYTES = 4;

/** Largest encoder buffer that is kept; a larger one is released after use. */
const KEPT_ENCODER_BYTES = 1024 * 1024;
/** Most items of an array or map: our values are small trees, and a forged length must not make the decoder allocate. */
const MAX_ITEMS = 100_000;

const newEncoder = (): Encoder => new Encoder({ ignoreUndefined: true, initialBufferSize: 32 * 1024 });
let encoder = newEncoder();
const decoder = new Decoder({ maxArrayLength: MAX_ITEMS, maxMapLength: MAX_ITEMS });

/**
 * The MessagePack of a frame, without its length. The bytes are valid until the next call.
 * Throws `engine_failed` for a value that is too large or that MessagePack does not carry.
 */
export function encodeFrame(frame: ChannelFrame): Uint8Array {
  const bytes = encoded(frame);
  if (bytes.buffer.byteLength > KEPT_ENCODER_BYTES) encoder = newEncoder();
  if (bytes.length <= FRAME_BYTES) return bytes;
  const message = `A job value of ${bytes.length} bytes is over the limit of ${FRAME_BYTES} bytes`;
  throw new ServiceError('engine_failed', { message });
}

function encoded(frame: ChannelFrame): Uint8Array {
  try {
    return encoder.encodeSharedRef(frame);
  } catch (cause) {
    throw new ServiceError('engine_failed', { message: 'A job value cannot be sent', cause });
  }
}

/** Writes a frame's length in front of it. */
export function writeLength(target: Uint8Array, at: number, length: number): void {
  target[at] = length >>> 24;
  target[at + 1] = length >>> 16;
  target[at + 2] = length >>> 8;
  target[at + 3] = length;
}

function readLength(bytes: Uint8Array, at: number): number {
  const length = new DataView(bytes.buffer, bytes.byteOffset + at, HEADER_BYTES).getUint32(0);
  if (length === 0 || length > FRAME_BYTES) throw new RangeError(`frame of ${length} bytes`);
  return length;
}

/** The frame in these bytes, which are copied. Throws if it is not one. */
export function decodeFrame(bytes: Uint8Array): ChannelFrame {
  const frame = decoder.decode(bytes);
  if (!isFrame(frame)) throw new TypeError('not a frame');
  return owned(frame) as ChannelFrame;
}

const isFrame = (value: unknown): value is ChannelFrame =>
  Array.isArray(value) && isCount(value[0]) && isCount(value[1]);

export const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && (value as number) >= 0;

/** Gives every binary field its own buffer; containers are changed in place, for they are fresh. */
function owned(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Uint8Array) return new Uint8Array(value);
  const fields = value as Record<string, unknown>;
  for (const key in fields) {
    const field = fields[key];
    if (typeof field === 'object' && field !== null) fields[key] = owned(field);
  }
  return value;
}

/** Puts frames together from the chunks of a socket. `receive` is given each frame and its length in bytes. */
export class FrameReader {
  readonly #receive: (frame: ChannelFrame, bytes: number) => void;
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerFilled = 0;
  #body: Uint8Array | undefined;
  #bodyFilled = 0;

  constructor(receive: (frame: ChannelFrame, bytes: number) => void) {
    this.#receive = receive;
  }

  /** Takes the next chunk. Throws on anything that is not a frame, and cannot be used afterwards. */
  push(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#body !== undefined) at = this.#fillBody(this.#body, chunk, at);
      else if (this.#headerFilled > 0 || chunk.length - at < HEADER_BYTES) at = this.#fillHeader(chunk, at);
      else at = this.#takeWhole(chunk, at);
    }
  }

  /** The common case: the whole frame is in this chunk and is decoded in place. */
  #takeWhole(chunk: Uint8Array, at: number): number {
    const length = readLength(chunk, at);
    const start = at + HEADER_BYTES;
    if (chunk.length - start < length) {
      this.#body = new Uint8Array(length);
      return start;
    }
    this.#receive(decodeFrame(new Uint8Array(chunk.buffer, chunk.byteOffset + start, length)), length);
    return start + length;
  }

  #fillHeader(chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + HEADER_BYTES - this.#headerFilled);
    this.#header.set(chunk.subarray(at, end), this.#headerFilled);
    this.#headerFilled += end - at;
    if (this.#headerFilled === HEADER_BYTES) {
      this.#body = new Uint8Array(readLength(this.#header, 0));
      this.#headerFilled = 0;
    }
    return end;
  }

  #fillBody(body: Uint8Array, chunk: Uint8Array, at: number): number {
    const end = Math.min(chunk.length, at + body.length - this.#bodyFilled);
    body.set(chunk.subarray(at, end), this.#bodyFilled);
    this.#bodyFilled += end - at;
    if (this.#bodyFilled === body.length) {
      this.#body = undefined;
      this.#bodyFilled = 0;
      this.#receive(decodeFrame(body), body.length);
    }
    return end;
  }
}
