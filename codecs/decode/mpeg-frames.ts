/**
 * Headers of MPEG audio frames. A file that was cut out of an MP3 or recorded from a radio stream begins in the middle of a
 * frame, so that only a chain of frames further on shows what it is.
 */

/** As far as FFmpeg's demuxer looks for the first frame, too. */
const SEARCH_BYTES = 64 * 1024;
/** Frames that must follow one another: noise holds single headers, but no such chain. */
const CHAIN = 3;

const SYNC = 0xff;
const MPEG_1 = 3;
const LAYER_3 = 1;
/** Hz of MPEG 1, by the index in a header. */
const FREQUENCIES = [44_100, 48_000, 32_000];
/** What the other versions' frequencies are divided by, by the version's bits: MPEG 2.5, a reserved value, MPEG 2. */
const DIVISORS = [4, 1, 2];
/** Kilobits a second of layer 3, by the index in a header, which begins with 1. */
const BITRATES_1 = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320];
const BITRATES_2 = [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160];

interface Header {
  readonly version: number;
  readonly layer: number;
  readonly bitrate: number;
  readonly frequency: number;
  readonly padding: number;
}

/** The indexes in an MPEG audio header: eleven sync bits, no reserved version, layer, bitrate or sampling frequency. */
function headerAt(bytes: Uint8Array, at: number): Header | undefined {
  const [first, second, third] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  const version = (second >> 3) & 3;
  const layer = (second >> 1) & 3;
  const bitrate = third >> 4;
  const frequency = (third >> 2) & 3;
  const synced = first === SYNC && (second & 0xe0) === 0xe0;
  const known = version !== 1 && layer !== 0 && bitrate !== 0 && bitrate !== 15 && frequency !== 3;
  return synced && known ? { version, layer, bitrate, frequency, padding: (third >> 1) & 1 } : undefined;
}

/** Whether the file begins with a frame of any layer. */
export const isMpegFrame = (bytes: Uint8Array): boolean => headerAt(bytes, 0) !== undefined;

/** Bytes of a layer 3 frame. */
function lengthOf({ version, bitrate, frequency, padding }: Header): number {
  const isFirst = version === MPEG_1;
  const kilobits = (isFirst ? BITRATES_1 : BITRATES_2)[bitrate - 1] ?? 0;
  const hertz = (FREQUENCIES[frequency] ?? 1) / (isFirst ? 1 : (DIVISORS[version] ?? 1));
  return Math.floor(((isFirst ? 144 : 72) * kilobits * 1000) / hertz) + padding;
}

function isChain(bytes: Uint8Array, start: number): boolean {
  let at = start;
  for (let count = 0; count < CHAIN; count += 1) {
    const header = headerAt(bytes, at);
    if (header?.layer !== LAYER_3) return false;
    at += lengthOf(header);
  }
  return true;
}

/** Whether frames of layer 3 follow one another somewhere in the first bytes. */
export function holdsMpegFrames(file: Uint8Array): boolean {
  const searched = file.subarray(0, SEARCH_BYTES);
  for (let at = searched.indexOf(SYNC); at >= 0; at = searched.indexOf(SYNC, at + 1))
    if (isChain(file, at)) return true;
  return false;
}
