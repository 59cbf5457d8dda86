/**
 * The jobs of a speech child and their messages: one vocabulary for both sides of the socket.
 * Audio comes back as PCM bytes, 100 ms and then 400 ms per value, so that a cancel or another stream gets in between;
 * audio to the child uses larger values, because a child reads much faster than it works.
 */
import { bytesOf, samplesOf } from '../contracts/audio.js';
import type { LanguageCode } from '../contracts/speech/languages.js';
import type { Demand } from '../contracts/ports/speech/demand.js';
import type { JobValue } from '../contracts/ports/jobs.js';
import type { TimedWord, TtsEvent, TtsRequest } from '../contracts/ports/speech/tts.js';
import type { TimedSegment } from './long-audio.js';

export const SPEECH_JOBS = { synthesize: 'synthesize', transcribe: 'transcribe' } as const;

export interface SynthesizeArgs {
  readonly engine: string;
  readonly request: TtsRequest;
}

export interface TranscribeArgs {
  readonly engine: string;
  /** Absent or null: no hint. */
  readonly language?: string | null;
  readonly words?: boolean;
  /** Hz of the audio; absent: that of recognition. */
  readonly sampleRate?: number;
  /** Length of the audio, if known. */
  readonly seconds?: number;
  readonly interim?: boolean;
  readonly demand?: Demand;
}

type Word = readonly [text: string, start: number, end: number];
type Segment = readonly [...Word, words?: readonly Word[] | null, language?: LanguageCode];
type TtsValue = { readonly a: Uint8Array } | { readonly w: Word };

const wordToWire = ({ text, start, end }: TimedWord): Word => [text, start, end];
const wordFromWire = ([text, start, end]: Word): TimedWord => ({ text, start, end });

const FIRST_SECONDS = 0.1;
const VALUE_SECONDS = 0.4;

/** The values of one event. `rate` in Hz. */
export function* valuesOfEvent(event: TtsEvent, rate: number): Generator<TtsValue> {
  if (event.kind === 'word') {
    return yield { w: wordToWire(event.word) };
  }
  const length = Math.floor(rate * VALUE_SECONDS);
  for (
    let at = 0, end = Math.floor(rate * FIRST_SECONDS);
    at < event.samples.length;
    at = end, end += length
  ) {
    yield { a: bytesOf(event.samples.subarray(at, end)) };
  }
}

export function eventOfValue(value: JobValue): TtsEvent {
  const sent = value as TtsValue;
  if ('a' in sent) return { kind: 'audio', samples: samplesOf(sent.a) };
  return { kind: 'word', word: wordFromWire(sent.w) };
}

export function valueOfSegment(segment: TimedSegment): Segment {
  const { text, start, end, words, language } = segment;
  const timed = words?.map(wordToWire);
  if (language !== undefined) return [text, start, end, timed ?? null, language];
  return timed ? [text, start, end, timed] : [text, start, end];
}

export function segmentOfValue(value: JobValue): TimedSegment {
  const [text, start, end, words, language] = value as Segment;
  const timed = words && { words: words.map(wordFromWire) };
  return { text, start, end, ...timed, ...(language !== undefined && { language }) };
}

/** Longest PCM value to a child, in samples: two seconds at the rate of recognition. */
const INPUT_SAMPLES = 32_000;

export async function* valuesOfAudio(audio: AsyncIterable<Int16Array>): AsyncGenerator<Uint8Array> {
  for await (const samples of audio) {
    for (let at = 0; at < samples.length; at += INPUT_SAMPLES) {
      yield bytesOf(samples.subarray(at, at + INPUT_SAMPLES));
    }
  }
}

export async function* audioOfValues(values: AsyncIterable<JobValue>): AsyncGenerator<Int16Array> {
  for await (const value of values) yield samplesOf(value as Uint8Array);
}
