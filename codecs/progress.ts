/**
 * Counts the seconds of audio in encoded bytes as they pass: by byte count for formats of constant bitrate, by page
 * positions for Ogg Opus. Pure; exact to a frame of the codec.
 */
import { type AudioFormat, BYTES_PER_SAMPLE, type OutputFormat } from '../contracts/audio.js';
import { DEFAULT_MP3_BITRATE, FORMATS } from './formats.js';
import { WAV_HEADER_BYTES } from './wav.js';

/** Takes the next bytes and returns the seconds so far. */
export type Progress = (bytes: Uint8Array) => number;

const PAGE_MARK = 'OggS';
const GRANULE_AT = 6;
const GRANULE_BYTES = 8;

/** Counts the bytes after a header. */
function byBytes(bytesPerSecond: number, headerBytes = 0): Progress {
  let total = -headerBytes;
  return (bytes) => {
    total += bytes.length;
    return Math.max(0, total) / bytesPerSecond;
  };
}

/** Reads the end position of the pages. A page's header is never split between chunks, since the muxer writes it in one. */
function byPages(): Progress {
  let samples = 0;
  return (bytes) => {
    const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const page = view.lastIndexOf(PAGE_MARK, undefined, 'latin1') + GRANULE_AT;
    if (page >= GRANULE_AT && page + GRANULE_BYTES <= view.length) {
      samples = Math.max(samples, Number(view.readBigInt64LE(page)));
    }
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
