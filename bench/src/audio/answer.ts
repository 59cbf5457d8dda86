/** The verdict on one answer of speech: what it took, or why it is no speech. */
import { arrivalOf, type Timeline, underrunsOf } from './player.js';
import { type AudioFormat, type Shape, shapeOf } from './shape.js';

export interface Expected {
  readonly format: AudioFormat;
  /** Hz, of raw PCM. */
  readonly rate: number;
  /** Less audio than this is too little for the text. */
  readonly leastSeconds: number;
}

/** All instants are milliseconds on one clock. */
export interface SpeechTimes {
  readonly firstByte: number;
  /** When the first sound could be heard. */
  readonly firstAudio: number;
  readonly end: number;
  /** Seconds of audio. */
  readonly duration: number;
  /** Milliseconds for which a player that starts at the first byte is silent in all. */
  readonly underrun: number;
}

export type SpeechVerdict = SpeechTimes | { readonly failure: string };

/** Nobody speaks more characters than this in a second. */
const FASTEST_CHARACTERS_A_SECOND = 40;
/** Speech has pauses, but not nothing else. */
const LEAST_AUDIBLE = 0.1;
/** A listener who hears nothing for so long has been left alone. */
export const STALL_MS = 1000;

export const leastSecondsOf = (text: string): number => [...text].length / FASTEST_CHARACTERS_A_SECOND;

function objection(shape: Shape, stall: number, { leastSeconds }: Expected): string | undefined {
  if (shape.audibleFrom === undefined || shape.audible < LEAST_AUDIBLE) return 'silence';
  if (shape.duration < leastSeconds) return 'too little audio';
  return stall > STALL_MS ? 'stalled' : undefined;
}

/** `shape` may be handed in where the same bytes were seen before. */
export function judgeSpeech(
  timeline: Timeline,
  shape: Shape,
  end: number,
  expected: Expected,
): SpeechVerdict {
  const underruns = underrunsOf(timeline, shape);
  const lastGap = end - (timeline.at(-1)?.[0] ?? end);
  const failure = objection(shape, Math.max(underruns.longest, lastGap - shape.duration * 1000), expected);
  const firstAudio = arrivalOf(timeline, shape.audibleFrom ?? Infinity);
  if (failure !== undefined || firstAudio === undefined) return { failure: failure ?? 'silence' };
  const [firstByte = end] = timeline[0] ?? [];
  return { firstByte, firstAudio, end, duration: shape.duration, underrun: underruns.total };
}

/** Shapes by the digest of the bytes: a deterministic server's answers are looked into once. */
export class Shapes {
  readonly #known = new Map<string, Shape | { readonly failure: string }>();

  of(digest: string, body: Buffer, { format, rate }: Expected): Shape | { readonly failure: string } {
    const key = `${digest} ${format} ${rate}`;
    let shape = this.#known.get(key);
    if (shape === undefined) this.#known.set(key, (shape = tried(body, format, rate)));
    return shape;
  }
}

function tried(body: Buffer, format: AudioFormat, rate: number): Shape | { readonly failure: string } {
  try {
    return shapeOf(body, format, rate);
  } catch (error) {
    return { failure: `wrong format: ${(error as Error).message}` };
  }
}
