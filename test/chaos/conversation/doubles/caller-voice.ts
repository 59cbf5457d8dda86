/**
 * The voice of a caller: spoken words, with a high, soft tone in them that says of which call they are. Tones alone are silence for the
 * detection of voices, and a double of a recogniser need not understand words.
 */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { createFlite } from '../../../../engines/backends/flite/index.js';
import { atRate } from '../../../../engines/resampling.js';
import { CALLER_RATE } from '../../../fixtures/calls/caller.js';

/** Calls that can be told apart. */
export const MOST_CALLS = 64;
const AMPLITUDE = 500;
/** Above most of a voice, and below what recognition hears. */
const hertzOf = (call: number): number => 4600 + 40 * call;
/** Least share of a tone in the sound, as an amplitude. */
const LEAST = AMPLITUDE / 4;
/** Quieter than any voice. */
const SILENT = 300;

const known = new Map<string, Promise<Int16Array>>();
let flite: ReturnType<typeof createFlite> | undefined;

/** `text` at CALLER_RATE, without silence at its end. */
async function spoken(text: string): Promise<Int16Array> {
  const engine = await (flite ??= createFlite());
  async function* samples(): AsyncGenerator<Int16Array> {
    const request = { text, voice: engine.voices[0]!.name, language: 'en', speed: 1 } as const;
    for await (const event of engine.synthesize(request, new AbortController().signal))
      if (event.kind === 'audio') yield event.samples;
  }
  const parts: number[] = [];
  for await (const part of atRate(samples(), engine.capabilities.sampleRate, CALLER_RATE))
    parts.push(...part);
  return Int16Array.from(parts.slice(0, parts.findLastIndex((sample) => Math.abs(sample) > SILENT) + 1));
}

/** The words of a call, from 0, as samples at CALLER_RATE that end with the voice. */
export async function callerWords(text: string, call: number): Promise<Int16Array> {
  const made = known.get(text) ?? spoken(text);
  known.set(text, made);
  const angle = (2 * Math.PI * hertzOf(call)) / CALLER_RATE;
  return (await made).map((sample, index) => sample + AMPLITUDE * Math.sin(angle * index));
}

/** How loud a tone is in samples at RECOGNITION_RATE, as its amplitude. */
function loudness(samples: Int16Array, hertz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hertz) / RECOGNITION_RATE);
  let [one, two] = [0, 0];
  for (const sample of samples) [two, one] = [one, sample + coefficient * one - two];
  return (2 * Math.sqrt(Math.max(0, one * one + two * two - coefficient * one * two))) / samples.length;
}

/** The call that samples at RECOGNITION_RATE are of; undefined if they are of none. */
export function callOf(samples: Int16Array): number | undefined {
  const found = Array.from({ length: MOST_CALLS }, (_, call) => ({
    call,
    loud: loudness(samples, hertzOf(call)),
  }));
  const loudest = found.reduce((one, other) => (other.loud > one.loud ? other : one));
  return loudest.loud > LEAST ? loudest.call : undefined;
}
