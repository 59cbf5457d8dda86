/**
 * Counts the seconds of audio in encoded bytes as they pass: by byte count for formats of constant bitrate, by page
 * positions for Ogg Opus. Pure; exact to a frame of the codec.
 */
import { type AudioFormat, BYTES_PER_SAMPLE, type OutputFormat } from '../contracts/audio.js';
import { DEFAULT_MP3_BITRATE, FORMATS } from './formats.js';
import { WAV_HEADER_BYTES } from './wav.js';

/** Takes the next bytes and returns the seconds so far. */
export type Progress = (bytes: Uint8Array) => number;

/** In the header of an Ogg page (RFC 3533 section 6): its end position, the number of segments, and their sizes. */
const POSITION_AT = 6;
const COUNT_AT = 26;
const SIZES_AT = 27;

/** Counts the bytes after a header. */
function byBytes(bytesPerSecond: number, headerBytes = 0): Progress {
  let total = -headerBytes;
  return (bytes) => {
    total += bytes.length;
    return Math.max(0, total) / bytesPerSecond;
  };
}

/** The size of the page at `at`; undefined if the bytes end within its header. */
function pageBytes(bytes: Buffer, at: number): number | undefined {
  const count = bytes[at + COUNT_AT];
  if (count === undefined) return undefined;
  const sizes = bytes.subarray(at + SIZES_AT, at + SIZES_AT + count);
  return sizes.length < count ? undefined : sizes.reduce((sum, size) => sum + size, SIZES_AT + count);
}

/** Reads the end position of each page. Finds pages by their sizes, since audio may contain any bytes. */
function byPages(): Progress {
  let samples = 0;
  /** A header that is not complete yet, and the number of bytes before the next one. */
  let begun: Buffer = Buffer.alloc(0);
  let left = 0;
  return (bytes) => {
    const view = Buffer.concat([begun, bytes]);
    let at = left;
    for (let size; (size = pageBytes(view, at)) !== undefined; at += size)
      samples = Math.max(samples, Number(view.readBigInt64LE(at + POSITION_AT)));
    begun = view.subarray(at);
    left = Math.max(0, at - view.length);
    return samples / FORMATS.opus.defaultRate;
  };
}

const PROGRESS: Readonly<Record<AudioFormat, (output: OutputFormat) => Progress>> = {
  pcm: ({ sampleRate }) => byBytes(sampleRate * BYTES_PER_SAMPLE),
  wav: ({ sampleRate }) => byBytes(sampleRate * BYTES_PER_SAMPLE, WAV_HEADER_BYTES),
  mp3: ({ mp3Bitrate = DEFAULT_MP3_BITRATE }) => byBytes((mp3Bitrate * 1000) / 8),
  opus: byPages,
};

export const progressOf = (output: OutputFormat): Progress => PROGRESS[output.format](output);
