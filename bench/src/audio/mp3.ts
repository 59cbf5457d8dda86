/**
 * The frames of an MP3 stream, read from their headers and side information without decoding: their lengths, and
 * whether anything audible is coded in them. An encoder codes silence with no spectral values, or at the least gain.
 */
import type { Frame } from './frame.js';

/** kbit/s of layer III by the header's index: MPEG 1, then MPEG 2 and 2.5. */
const BITRATES = [
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
] as const;
const RATES = [44_100, 48_000, 32_000] as const;
/** By the header's version: 2.5, reserved, 2, 1. */
const RATE_DIVISORS = [4, 0, 2, 1] as const;

interface Header {
  readonly length: number;
  readonly rate: number;
  readonly isMpeg1: boolean;
  readonly isMono: boolean;
  /** Bytes before the side information. */
  readonly side: number;
}

function headerAt(body: Buffer, at: number): Header | undefined {
  if (at + 4 > body.length || body.readUInt16BE(at) >> 5 !== 0x7ff) return undefined;
  const word = body.readUInt32BE(at);
  const version = (word >> 19) & 3;
  const layer = (word >> 17) & 3;
  const isMpeg1 = version === 3;
  const kbps = BITRATES[isMpeg1 ? 0 : 1][(word >> 12) & 15];
  const rate = (RATES[(word >> 10) & 3] ?? 0) / (RATE_DIVISORS[version] || Number.NaN);
  if (layer !== 1 || !kbps || !rate) return undefined;
  const length = Math.floor(((isMpeg1 ? 144 : 72) * kbps * 1000) / rate) + ((word >> 9) & 1);
  const hasCheck = ((word >> 16) & 1) === 0;
  return { length, rate, isMpeg1, isMono: ((word >> 6) & 3) === 3, side: hasCheck ? 6 : 4 };
}

const bitsAt = (body: Buffer, bit: number, count: number): number => {
  let value = 0;
  for (let index = bit; index < bit + count; index += 1)
    value = (value << 1) | (((body[index >> 3] ?? 0) >> (7 - (index & 7))) & 1);
  return value;
};

/** The greatest value that a Huffman table codes, without those bits that it takes for greater ones; 4 and 14 are none. */
const TABLE_MOST = [0, 1, 2, 2, 0, 3, 3, 5, 5, 5, 7, 7, 7, 15, 0, 15] as const;
/** How many extra bits (linbits) tables 16 and above take. */
const MORE_BITS = [1, 2, 3, 4, 6, 8, 10, 13, 4, 5, 6, 7, 8, 9, 11, 13] as const;

const mostOf = (table: number): number => TABLE_MOST[table] ?? 14 + 2 ** (MORE_BITS[table - 16] ?? 0);

/** 60 dB below full scale. */
const SILENCE = 0.001;
/** The gain at which a value of 1 is full scale, and how much gain doubles it. */
const FULL_SCALE = 210;
const DOUBLING = 4;

/**
 * ISO 11172-3, 2.4.1.7: part2_3_length (12 bits), big_values (9), global_gain (8), scalefac_compress (4, in MPEG 2 9),
 * window_switching_flag (1), then the tables of two regions behind 3 bits, or of three. How great the values are is
 * told by their tables, to a factor of two.
 */
function loudnessAt(body: Buffer, bit: number, isMpeg1: boolean): number {
  if (bitsAt(body, bit + 12, 9) === 0) return 0;
  const gain = bitsAt(body, bit + 21, 8);
  const flag = bit + 29 + (isMpeg1 ? 4 : 9);
  const isSwitched = bitsAt(body, flag, 1) === 1;
  const from = flag + (isSwitched ? 4 : 1);
  const tables = (isSwitched ? [0, 1] : [0, 1, 2]).map((region) => bitsAt(body, from + region * 5, 5));
  return Math.max(...tables.map(mostOf)) ** (4 / 3) * 2 ** ((gain - FULL_SCALE) / DOUBLING);
}

function isAudible(body: Buffer, at: number, { isMpeg1, isMono, side }: Header): boolean {
  const channels = isMono ? 1 : 2;
  const first = isMpeg1 ? 9 + (isMono ? 5 : 3) + 4 * channels : 8 + (isMono ? 1 : 2);
  const size = isMpeg1 ? 59 : 63;
  for (let granule = 0; granule < (isMpeg1 ? 2 : 1) * channels; granule += 1)
    if (loudnessAt(body, (at + side) * 8 + first + granule * size, isMpeg1) >= SILENCE) return true;
  return false;
}

function behindTag(body: Buffer): number {
  if (body.toString('latin1', 0, 3) !== 'ID3' || body.length < 10) return 0;
  const [a = 0, b = 0, c = 0, d = 0] = body.subarray(6, 10);
  return 10 + ((a << 21) | (b << 14) | (c << 7) | d);
}

/** Throws Error where there is anything but frames. The last one may be cut short; it counts for nothing. */
export function mp3Frames(body: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = behindTag(body); at < body.length;) {
    const header = headerAt(body, at);
    if (header === undefined) throw new Error('no MP3');
    const end = at + header.length;
    if (end > body.length) break;
    const samples = header.isMpeg1 ? 1152 : 576;
    frames.push({ end, seconds: samples / header.rate, audible: isAudible(body, at, header) });
    at = end;
  }
  return frames;
}
