/** Who says what callers say: a synthetic voice, or a person who was recorded. */
import type { Origin } from '../report/report.js';
import { RATE } from '../audio/level.js';
import { resampled } from '../audio/resample.js';
import { wavHeader } from '../audio/shape.js';

/** What a sentence is for, as the lists of texts name it. */
export const TEXT_KINDS = [
  'questions',
  'statements',
  'digits',
  'emails',
  'names',
  'words',
  'pauses',
  'agreement',
  'short',
  'long',
  'open',
] as const;
export type TextKind = (typeof TEXT_KINDS)[number];
export type Texts = Readonly<Record<TextKind, readonly string[]>>;

export interface Speaker {
  /** Its name in figures, such as `ked`. */
  readonly name: string;
  /** What makes its sound, for people, such as `Festival, voice_ked_diphone`. */
  readonly source: string;
  readonly origin: Origin;
  /** Changes wherever its sound may: with it clips are kept from run to run. Absent: they are not. */
  readonly version?: string;
  /** Fundamental frequency of its hums in Hz; 0 where it hums none. */
  readonly pitch: number;
  /** What it says instead of the lists' texts; undefined: all of these. A kind that is missing is not said. */
  readonly texts?: Readonly<Partial<Texts>>;
  /** All of them, in every run: they are somebody's own recordings. */
  readonly saysAll?: boolean;
  /** Samples at RATE, of any loudness. Throws Error where it cannot say that. */
  say(text: string): Promise<Int16Array>;
}

/** Speakers that a source gives, or why it gives none. */
export interface Source {
  readonly name: string;
  readonly speakers: readonly Speaker[];
  readonly missing?: string;
}

/** Samples at RATE of a WAV file of 16-bit mono. Throws Error for another one. */
export function samplesOfWav(bytes: Buffer): Int16Array {
  const { from, rate } = wavHeader(bytes);
  const end = bytes.length - ((bytes.length - from) % 2);
  return resampled(new Int16Array(Uint8Array.from(bytes.subarray(from, end)).buffer), rate, RATE);
}
