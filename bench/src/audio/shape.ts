/**
 * The audio in an answer's bytes: its length, the byte at which it becomes audible, and how much of it is audible.
 * Judged after the load, so that judging does not slow it.
 */
import type { Frame } from './frame.js';
import { mp3Frames } from './mp3.js';

/** Raw PCM is 16-bit mono. */
export type AudioFormat = 'pcm' | 'wav' | 'mp3';

export interface Shape {
  /** Seconds of audio. */
  readonly duration: number;
  /** Seconds that can be played of the first so many bytes. */
  secondsIn(bytes: number): number;
  /** How many bytes must have come before the first sound; undefined where all is silent. */
  readonly audibleFrom: number | undefined;
  /** Share of the audio that is no silence. */
  readonly audible: number;
}

/** RMS of 16-bit samples, 60 dB below full scale: less is silence. */
const SILENCE_RMS = 33;
const FRAME_SECONDS = 0.02;

function* pcmFrames(body: Buffer, from: number, rate: number): Generator<Frame> {
  const samples = Math.round(rate * FRAME_SECONDS);
  for (let at = from; at + 1 < body.length;) {
    const end = Math.min((body.length & ~1) | (from & 1), at + samples * 2, body.length);
    let energy = 0;
    for (let index = at; index + 1 < end; index += 2) energy += body.readInt16LE(index) ** 2;
    const count = (end - at) >> 1;
    if (count === 0) return;
    yield { end, seconds: count / rate, audible: Math.sqrt(energy / count) > SILENCE_RMS };
    at = end;
  }
}

/** Offset of the samples in a WAV file, and their rate. Throws Error unless it is 16-bit mono PCM. */
export function wavHeader(body: Buffer): { readonly from: number; readonly rate: number } {
  if (body.toString('latin1', 0, 4) !== 'RIFF' || body.toString('latin1', 8, 12) !== 'WAVE')
    throw new Error('no WAV');
  let rate = 0;
  for (let at = 12; at + 8 <= body.length;) {
    const name = body.toString('latin1', at, at + 4);
    if (name === 'fmt ') {
      if (body.readUInt16LE(at + 10) !== 1 || body.readUInt16LE(at + 22) !== 16)
        throw new Error('no 16-bit mono WAV');
      rate = body.readUInt32LE(at + 12);
    }
    if (name === 'data' && rate > 0) return { from: at + 8, rate };
    at += 8 + body.readUInt32LE(at + 4);
  }
  throw new Error('a WAV without samples');
}

const isOther = (body: Buffer): boolean =>
  ['RIFF', 'ID3', 'OggS', '<htm', '<!DO', '{"er'].some(
    (start) => body.toString('latin1', 0, start.length) === start,
  );

function framesOf(body: Buffer, format: AudioFormat, rate: number): Frame[] {
  if (format === 'mp3') return mp3Frames(body);
  if (format === 'wav') {
    const header = wavHeader(body);
    return [...pcmFrames(body, header.from, header.rate)];
  }
  if (isOther(body)) throw new Error('no raw PCM');
  if (body.length % 2 === 1) throw new Error('half a sample');
  return [...pcmFrames(body, 0, rate)];
}

/** Throws Error with a few words where the bytes are not of the format. */
export function shapeOf(body: Buffer, format: AudioFormat, rate: number): Shape {
  const frames = framesOf(body, format, rate);
  const seconds: number[] = [];
  let duration = 0;
  for (const frame of frames) seconds.push((duration += frame.seconds));
  const audible = frames.filter((frame) => frame.audible).reduce((sum, frame) => sum + frame.seconds, 0);
  return {
    duration,
    audibleFrom: frames.find((frame) => frame.audible)?.end,
    audible: duration === 0 ? 0 : audible / duration,
    secondsIn: (bytes) => seconds[lastWithin(frames, bytes)] ?? 0,
  };
}

/** The index of the last frame that ends within so many bytes; -1 where none does. */
function lastWithin(frames: readonly Frame[], bytes: number): number {
  let [low, high] = [-1, frames.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((frames[middle]?.end ?? Infinity) <= bytes) low = middle;
    else high = middle - 1;
  }
  return low;
}
