/**
 * The code between text and tones: every symbol is 20 ms of one of seventeen tones, sixteen for the values
 * of half a byte and one that only the preamble has. A message is preamble, length (2 bytes), the text in
 * UTF-8, a check byte, and a silence that separates it from the next. All tones lie below 3.4 kHz and
 * far enough apart for a telephone's 8 kHz and for 64 kbit/s MP3.
 */
import { TONE_RATE } from './description.js';

export const SYMBOL_SAMPLES = TONE_RATE / 50;
export const SYMBOL_SECONDS = SYMBOL_SAMPLES / TONE_RATE;
export const SYMBOLS_PER_BYTE = 2;

/** Whole periods in a symbol, so that each begins and ends at zero. */
const frequencyOf = (value: number): number => 600 + 150 * value;
const VALUES = 16;
export const MARKER = VALUES;
export const FREQUENCIES = Array.from({ length: VALUES + 1 }, (_, value) => frequencyOf(value));

export const PREAMBLE: readonly number[] = [MARKER, 0, MARKER];
export const LENGTH_BYTES = 2;
export const MOST_BYTES = 0xffff;
/** Symbols of silence after a message. */
export const TAIL_SYMBOLS = 5;

const AMPLITUDE = 16_000;
const RAMP_SAMPLES = 24;

/** Soft edges keep the tones of neighbours apart. */
const ramp = (index: number): number =>
  Math.min(1, index / RAMP_SAMPLES, (SYMBOL_SAMPLES - index) / RAMP_SAMPLES);

const waveformOf = (frequency: number): Int16Array =>
  Int16Array.from({ length: SYMBOL_SAMPLES }, (_, index) =>
    Math.round(AMPLITUDE * ramp(index) * Math.sin((2 * Math.PI * frequency * index) / TONE_RATE)),
  );

let made: readonly Int16Array[] | undefined;
/** The samples of each symbol, made at first use: only tests and trials speak in tones. */
export const waveforms = (): readonly Int16Array[] => (made ??= FREQUENCIES.map(waveformOf));

/** CRC-8, polynomial 7. */
export function checkByte(bytes: Uint8Array): number {
  let check = 0;
  for (const byte of bytes) {
    check ^= byte;
    for (let bit = 0; bit < 8; bit++) check = check & 0x80 ? ((check << 1) ^ 0x07) & 0xff : check << 1;
  }
  return check;
}

/** The symbols of a message without its tail. */
export function symbolsOf(text: Uint8Array): Uint8Array {
  const bytes = [text.length >> 8, text.length & 0xff, ...text, checkByte(text)];
  return Uint8Array.from([...PREAMBLE, ...bytes.flatMap((byte) => [byte >> 4, byte & 15])]);
}

/** Seconds from the start of a message to the byte at `index` of its text. */
export const secondsToByte = (index: number): number =>
  (PREAMBLE.length + (LENGTH_BYTES + index) * SYMBOLS_PER_BYTE) * SYMBOL_SECONDS;

export interface TextWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** The words of a text with the times of their bytes, in seconds from the start of its message. */
export function timesOfWords(text: string): TextWord[] {
  let bytes = 0;
  let from = 0;
  return [...text.matchAll(/\S+/gu)].map(({ 0: word, index }) => {
    bytes += Buffer.byteLength(text.slice(from, index));
    const start = secondsToByte(bytes);
    bytes += Buffer.byteLength(word);
    from = index + word.length;
    return { text: word, start, end: secondsToByte(bytes) };
  });
}
