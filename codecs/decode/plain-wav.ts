/**
 * Reads WAV files of 16-bit mono PCM in place, without a decoder. Most uploads are such files, and starting the decoder's process
 * costs more than recognising a short sentence. Every other file is left to the decoder. Invariants: no byte outside of the file is
 * read, and at most MOST_CHUNKS chunk headers.
 */
import { BYTES_PER_SAMPLE } from '../../contracts/audio.js';
import { type TrailingBytes, behindIn, CHUNKS, soundEnd } from './chunks.js';

/** 16-bit little-endian mono samples: a view of the file's own bytes. */
export interface PlainWav {
  readonly pcm: Uint8Array;
  /** Hz, as the file declares it; unchecked. */
  readonly sampleRate: number;
}

const FIRST_CHUNK = 12;
const HEAD_BYTES = 8;
/** Format, channels, rate, bytes a second, bytes a frame, bits. */
const FORMAT_BYTES = 16;
const FORMAT_PCM = 1;
const MOST_CHUNKS = 32;

const tagOf = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(at + byte)));

/** The rate of 16-bit mono PCM; undefined for any other format. */
function rateOf(view: DataView, at: number): number | undefined {
  const field = (offset: number): number => view.getUint16(at + offset, true);
  const plain = field(0) === FORMAT_PCM && field(2) === 1 && field(12) === 2 && field(14) === 16;
  return plain ? view.getUint32(at + 4, true) : undefined;
}

/**
 * The samples of a file of 16-bit mono PCM; undefined for any other file, and for one without samples. A truncated file gives the
 * samples that it has.
 */
export function plainWav(file: Uint8Array): PlainWav | undefined {
  const declared = wavSpan(file, file.length);
  const span = declared && withRest(declared, behindIn(file, declared.to), file.length);
  return span && holdsSample(span)
    ? { pcm: file.subarray(span.from, span.to), sampleRate: span.sampleRate }
    : undefined;
}

/** Where the samples of such a file are. */
export interface WavSpan {
  readonly from: number;
  readonly to: number;
  readonly sampleRate: number;
}

/** What the header declares, from the file's first bytes and its size; it may hold no sample (`withRest`, `holdsSample`). */
export function wavSpan(head: Uint8Array, size: number): WavSpan | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  if (view.byteLength < FIRST_CHUNK || tagOf(view, 0) !== 'RIFF' || tagOf(view, 8) !== 'WAVE')
    return undefined;
  let sampleRate: number | undefined;
  let at = FIRST_CHUNK;
  for (let count = 0; count < MOST_CHUNKS && at + HEAD_BYTES <= view.byteLength; count += 1) {
    const [tag, length] = [tagOf(view, at), view.getUint32(at + 4, true)];
    const from = at + HEAD_BYTES;
    if (tag === 'data') return spanOf(from, Math.min(from + length, size), sampleRate);
    if (tag === 'fmt ') {
      if (length < FORMAT_BYTES || from + FORMAT_BYTES > view.byteLength) return undefined;
      sampleRate = rateOf(view, from);
    }
    at = from + length + (length % 2);
  }
  return undefined;
}

const spanOf = (from: number, to: number, sampleRate: number | undefined): WavSpan | undefined =>
  sampleRate === undefined ? undefined : { from, to, sampleRate };

export const holdsSample = ({ from, to }: WavSpan): boolean => to - from >= BYTES_PER_SAMPLE;

/** The span with the samples that came behind its declared end (chunks.ts). */
export const withRest = (span: WavSpan, rest: TrailingBytes, size: number): WavSpan => ({
  ...span,
  to: soundEnd({ to: span.to, size, form: CHUNKS.riff }, rest),
});
