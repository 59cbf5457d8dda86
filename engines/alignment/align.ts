/**
 * Times of a transcript's words: a voice with known word times speaks the transcript, and
 * time warping maps its words onto the audio. Synchronous parts take up to 0.3 s for a piece of 15 s, so
 * it runs on a thread of its own (aligner.ts).
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import type { TimedWord, TtsEngine } from '../../contracts/ports/speech/tts.js';
import { FRAME_STEP, featuresOf } from './features.js';
import { fillTimes, type WordSpan, wordsIn } from './transcript-words.js';
import { type Path, warp } from './warp.js';

/**
 * Times of the words of `text` in `samples` (16 kHz), in seconds from their start; every word has one, in
 * order. Words that the voice cannot say are placed between their neighbours.
 */
export type Align = (samples: Int16Array, text: string, signal: AbortSignal) => Promise<readonly TimedWord[]>;

export interface Reader {
  /** Has word times and speaks at 16 kHz. */
  readonly engine: TtsEngine;
  readonly voice: string;
}

/** Longer than any engine's piece. Longer audio is not warped, which bounds memory at a few megabytes. */
const MOST_SAMPLES = 30 * RECOGNITION_RATE;
/** Longest reading of the text, as a multiple of the audio: a longer one cannot match the words spoken. */
const LONGEST_READING = 4;
const SLACK_SAMPLES = 2 * RECOGNITION_RATE;
const FRAME_SECONDS = FRAME_STEP / RECOGNITION_RATE;
/** How far ahead the next word is searched, in words: a reading may split a word in two, or skip it. */
const LOOK_AHEAD = 4;

interface Reading {
  readonly samples: Int16Array;
  readonly words: readonly TimedWord[];
}

/** The text as the voice reads it, with word times; undefined if it is longer than `most` samples. */
async function read({ engine, voice }: Reader, text: string, most: number, signal: AbortSignal) {
  const samples = new Int16Array(most);
  const words: TimedWord[] = [];
  let length = 0;
  const request = { text, voice, language: 'en', speed: 1, timing: true } as const;
  for await (const event of engine.synthesize(request, signal)) {
    if (event.kind === 'word') words.push(event.word);
    else {
      if (length + event.samples.length > most) return undefined;
      samples.set(event.samples, length);
      length += event.samples.length;
    }
  }
  return { samples: samples.subarray(0, length), words };
}

/** The index among `words` of each word that was read, in order; -1 for one that is not among them. */
function placesOf(words: readonly string[], read: readonly TimedWord[]): number[] {
  let next = 0;
  return read.map(({ text }) => {
    const found = words.indexOf(text, next);
    if (found < 0 || found >= next + LOOK_AHEAD) return -1;
    next = found + 1;
    return found;
  });
}

/** Maps a time span of the reading to the audio. */
function laid({ first, last }: Path, { start, end }: WordSpan): WordSpan {
  const frameAt = (seconds: number): number =>
    Math.max(0, Math.min(first.length - 1, Math.round(seconds / FRAME_SECONDS)));
  const from = frameAt(start);
  const to = Math.max(from, frameAt(end) - 1);
  return { start: first[from]! * FRAME_SECONDS, end: (last[to]! + 1) * FRAME_SECONDS };
}

function timesFrom(words: readonly string[], { samples, words: read }: Reading, heard: Int16Array) {
  const known = new Array<WordSpan | undefined>(words.length).fill(undefined);
  const path = warp(featuresOf(samples), featuresOf(heard));
  if (!path) return known;
  let after = 0;
  placesOf(words, read).forEach((place, index) => {
    if (place < 0) return;
    const span = laid(path, read[index]!);
    const start = Math.max(after, span.start);
    after = Math.max(start, span.end);
    known[place] = { start, end: after };
  });
  return known;
}

/** Alignment in this thread. Errors: the voice's own. */
export const createAlign =
  (reader: Reader): Align =>
  async (samples, text, signal) => {
    const words = wordsIn(text);
    const whole = { start: 0, end: samples.length / RECOGNITION_RATE };
    const most = LONGEST_READING * samples.length + SLACK_SAMPLES;
    const reading = samples.length > MOST_SAMPLES ? undefined : await read(reader, text, most, signal);
    const known = reading ? timesFrom(words, reading, samples) : [];
    return fillTimes(words, known, whole);
  };
