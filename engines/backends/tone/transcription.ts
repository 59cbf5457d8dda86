/**
 * Decodes tones to text with Goertzel's algorithm. Anything but a complete message with a correct check
 * byte counts as silence: nothing is guessed.
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { SttEngine, SttPiece, VoiceActivity } from '../../../contracts/ports/speech/stt.js';
import { frames } from '../frames.js';
import { SpanCutter } from '../span-cutter.js';
import {
  checkByte,
  FREQUENCIES,
  LENGTH_BYTES,
  MARKER,
  PREAMBLE,
  SYMBOL_SAMPLES,
  SYMBOLS_PER_BYTE,
  timesOfWords,
} from './code.js';
import { toneSttDescription } from './description.js';

const COEFFICIENTS = FREQUENCIES.map((hertz) => 2 * Math.cos((2 * Math.PI * hertz) / RECOGNITION_RATE));
/** Left out at both edges of a symbol, where resampling and MP3 blur it into its neighbour. */
const EDGE_SAMPLES = 40;
const SYNC_STEP = 8;
/** Least share of a preamble's power that lies in its own tones. */
const TONALITY = 0.5;
const AUDIBLE = 600;

/** Power of one tone in a stretch of samples. */
function power(samples: Int16Array, from: number, to: number, symbol: number): number {
  const coefficient = COEFFICIENTS[symbol]!;
  let one = 0;
  let two = 0;
  for (let index = from; index < to; index++) {
    const now = samples[index]! + coefficient * one - two;
    two = one;
    one = now;
  }
  return one * one + two * two - coefficient * one * two;
}

const preamblePower = (samples: Int16Array, at: number): number =>
  PREAMBLE.reduce((sum, symbol, index) => {
    const from = at + index * SYMBOL_SAMPLES;
    return sum + power(samples, from, from + SYMBOL_SAMPLES, symbol);
  }, 0);

function energy(samples: Int16Array, from: number, to: number): number {
  let sum = 0;
  for (let index = from; index < to; index++) sum += samples[index]! ** 2;
  return sum;
}

/** Start of the strongest preamble near the first sound; undefined if there is none. */
function findMessage(samples: Int16Array): number | undefined {
  const sound = samples.findIndex((sample) => Math.abs(sample) > AUDIBLE);
  const length = PREAMBLE.length * SYMBOL_SAMPLES;
  if (sound < 0) return undefined;
  let best = { at: -1, power: 0 };
  const last = Math.min(samples.length - length, sound + 2 * SYMBOL_SAMPLES);
  for (let at = Math.max(0, sound - SYMBOL_SAMPLES); at <= last; at += SYNC_STEP) {
    const heard = preamblePower(samples, at);
    if (heard > best.power) best = { at, power: heard };
  }
  if (best.at < 0) return undefined;
  // A pure tone of N samples has N/2 times its energy as power in Goertzel's measure.
  const tonality = best.power / ((SYMBOL_SAMPLES / 2) * energy(samples, best.at, best.at + length));
  return tonality > TONALITY ? best.at : undefined;
}

function symbolAt(samples: Int16Array, at: number): number {
  let best = { symbol: 0, power: -1 };
  for (let symbol = 0; symbol < MARKER; symbol++) {
    const heard = power(samples, at + EDGE_SAMPLES, at + SYMBOL_SAMPLES - EDGE_SAMPLES, symbol);
    if (heard > best.power) best = { symbol, power: heard };
  }
  return best.symbol;
}

/** `count` bytes from the position `at`; undefined if the audio ends before. */
function bytesAt(samples: Int16Array, at: number, count: number): Uint8Array | undefined {
  const length = SYMBOL_SAMPLES * SYMBOLS_PER_BYTE;
  if (at + count * length > samples.length + EDGE_SAMPLES) return undefined;
  return Uint8Array.from({ length: count }, (_, index) => {
    const from = at + index * length;
    return (symbolAt(samples, from) << 4) | symbolAt(samples, from + SYMBOL_SAMPLES);
  });
}

interface Message {
  readonly at: number;
  readonly text: string;
}

function readMessage(samples: Int16Array): Message | undefined {
  const at = findMessage(samples);
  if (at === undefined) return undefined;
  const behindPreamble = at + PREAMBLE.length * SYMBOL_SAMPLES;
  const head = bytesAt(samples, behindPreamble, LENGTH_BYTES);
  if (!head) return undefined;
  const length = (head[0]! << 8) | head[1]!;
  const behindHead = behindPreamble + LENGTH_BYTES * SYMBOLS_PER_BYTE * SYMBOL_SAMPLES;
  const body = bytesAt(samples, behindHead, length + 1);
  if (!body || checkByte(body.subarray(0, length)) !== body[length]) return undefined;
  return { at, text: Buffer.from(body.subarray(0, length)).toString() };
}

function transcribePiece(samples: Int16Array): SttPiece {
  const message = readMessage(samples);
  if (!message) return { text: '', words: [] };
  const offset = message.at / RECOGNITION_RATE;
  const words = timesOfWords(message.text).map(({ text, start, end }) => ({
    text,
    start: start + offset,
    end: end + offset,
  }));
  return { text: message.text, words };
}

export const createToneStt = (): SttEngine => ({
  ...toneSttDescription,
  transcribe(samples, _options, signal): Promise<SttPiece> {
    return signal.aborted
      ? Promise.reject(signal.reason as Error)
      : Promise.resolve(transcribePiece(samples));
  },
});

/** 10 ms. */
const FRAME = RECOGNITION_RATE / 100;
/** Silent frames that end a message: messages are 100 ms apart, and within one no frame is silent. */
const GAP_FRAMES = 6;

const isLoud = (frame: Int16Array): boolean => frame.some((sample) => Math.abs(sample) > AUDIBLE);

/** Separates messages at the silence between them. */
export const toneActivity: VoiceActivity = {
  async *spans(audio, { maxSpanSeconds }, signal) {
    const cutter = new SpanCutter({
      maxSpan: Math.floor(maxSpanSeconds * RECOGNITION_RATE),
      lag: { begin: FRAME, end: GAP_FRAMES * FRAME },
    });
    let silentFrames = GAP_FRAMES;
    for await (const frame of frames(audio, FRAME)) {
      signal.throwIfAborted();
      silentFrames = isLoud(frame) ? 0 : silentFrames + 1;
      const { span } = cutter.push(frame, silentFrames < GAP_FRAMES);
      if (span) yield span;
    }
    const last = cutter.end();
    if (last) yield last;
  },
};
