/**
 * Finds WebM files of one Opus track without gaps, as browsers record them: their clock is the number of their samples, so that the
 * small ffmpeg decodes them, in a tenth of node-av's processor time. Every other file, and whatever is not understood, is not plain.
 *
 * Reads element heads alone, at most MOST_ELEMENTS of them, since this runs beside the sockets.
 */
import { readFile } from 'node:fs/promises';
import type { StoredFile } from '../../contracts/ports/speech/codec.js';
import { ContainerClock } from './container-clock.js';
import { GAPS } from './limits.js';
import type { InputContainer } from './sniff.js';

/** A longer file's decoding outweighs the start of node-av. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_ELEMENTS = 20_000;

/** Elements whose content is read like that of the file itself. */
const ENTERED = new Set([0x1853_8067, 0x1549_a966, 0x1654_ae6b, 0xae, 0x1f43_b675, 0xa0]);
const TRACK_TYPE = 0x83;
const CODEC = 0x86;
const TIMESTAMP_SCALE = 0x2a_d7b1;
const CLUSTER_TIMESTAMP = 0xe7;
const BLOCKS = new Set([0xa3, 0xa1]);

const AUDIO = 2;
const OPUS = 'A_OPUS';
/** Nanoseconds of a time stamp's unit: a millisecond, which is the default. */
const MILLISECOND = 1_000_000;

interface Element {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** The bytes of a number whose first byte's leading zeros tell how many there are; 9 if none is set. */
const bytesOfNumber = (first: number): number => Math.clz32(first) - 23;

const unsigned = (bytes: Buffer, from: number, to: number): number =>
  bytes.subarray(from, to).reduce((sum, byte) => sum * 256 + byte, 0);

const isAllOnes = (bytes: Buffer): boolean => bytes.every((byte) => byte === 0xff);

/** The element at `at`; undefined if its head is not whole. One of unknown length, or cut short, ends with the file. */
function elementAt(bytes: Buffer, at: number): Element | undefined {
  const idBytes = bytesOfNumber(bytes[at] ?? 0);
  const sizeAt = at + idBytes;
  const sizeBytes = bytesOfNumber(bytes[sizeAt] ?? 0);
  const from = sizeAt + sizeBytes;
  if (idBytes > 4 || sizeBytes > 8 || from > bytes.length) return undefined;
  const most = 0xff >> sizeBytes;
  const isUnknown = bytes[sizeAt] === (most | (most + 1)) && isAllOnes(bytes.subarray(sizeAt + 1, from));
  const size = ((bytes[sizeAt] ?? 0) & most) * 256 ** (sizeBytes - 1) + unsigned(bytes, sizeAt + 1, from);
  const to = isUnknown ? bytes.length : Math.min(bytes.length, from + size);
  return { id: unsigned(bytes, at, sizeAt), from, to };
}

/** Milliseconds of a frame, by the four or two lengths of each mode of Opus (RFC 6716, 3.1). */
const SILK = [10, 20, 40, 60];
const HYBRID = [10, 20];
const CELT = [2.5, 5, 10, 20];

function frameMs(config: number): number {
  if (config < 12) return SILK[config % 4] ?? 0;
  return (config < 16 ? HYBRID[config % 2] : CELT[config % 4]) ?? 0;
}

/** Seconds of an Opus packet. */
function secondsOf([head = 0, count = 0]: Uint8Array): number {
  const frames = [1, 2, 2, count & 0x3f][head & 3] ?? 0;
  return (frames * frameMs(head >> 3)) / 1000;
}

const LACED = 0x06;

/** What is known of a file up to some element. */
class Recording {
  #tracks = 0;
  #isPlain = true;
  #cluster = 0;
  readonly #clock = new ContainerClock(GAPS);
  #begin: number | undefined;
  #end = 0;

  /** The file has one track, and nothing in it was other than plain. */
  get isPlain(): boolean {
    return this.#isPlain && this.#tracks === 1 && this.#end > 0;
  }

  take(bytes: Buffer, { id, from, to }: Element): void {
    if (id === TRACK_TYPE) this.#track(unsigned(bytes, from, to));
    else if (id === CODEC) this.#isPlain &&= bytes.toString('latin1', from, to) === OPUS;
    else if (id === CLUSTER_TIMESTAMP) this.#cluster = unsigned(bytes, from, to);
    else if (id === TIMESTAMP_SCALE) this.#isPlain &&= unsigned(bytes, from, to) === MILLISECOND;
    else if (BLOCKS.has(id)) this.#block(bytes.subarray(from, to));
  }

  #track(type: number): void {
    this.#tracks += 1;
    this.#isPlain &&= type === AUDIO;
  }

  /** The number of the track in a byte, two bytes of time after the cluster's, flags, and the packet. */
  #block(block: Buffer): void {
    if (block.length < 5) return;
    const at = (this.#cluster + block.readInt16BE(1)) / 1000;
    this.#begin ??= at;
    const isOdd = bytesOfNumber(block[0] ?? 0) !== 1 || ((block[3] ?? 0) & LACED) !== 0;
    if (isOdd || this.#clock.silenceBefore(at - this.#begin, this.#end) > 0) this.#isPlain = false;
    this.#end += secondsOf(block.subarray(4));
  }
}

function isPlain(bytes: Buffer): boolean {
  const recording = new Recording();
  let at = 0;
  for (let count = 0; at < bytes.length; count += 1) {
    const element = elementAt(bytes, at);
    if (!element || count === MOST_ELEMENTS) return false;
    recording.take(bytes, element);
    at = ENTERED.has(element.id) ? element.from : element.to;
  }
  return recording.isPlain;
}

/** Whether the file is a plain WebM, and small enough to look. */
export async function isPlainWebm(
  file: Uint8Array | StoredFile,
  container: InputContainer,
): Promise<boolean> {
  if (container !== 'webm') return false;
  if (file instanceof Uint8Array)
    return file.length <= MOST_BYTES && isPlain(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  return file.size <= MOST_BYTES && isPlain(await readFile(file.path));
}
