/**
 * The voiced part of a stretch, with little of the silence around it. A stretch begins well before its voice was noticed, and
 * ends after a quarter of a second of silence; a recogniser may hear no word at all between two such silences where the
 * voice is short (a group of digits, "yes").
 *
 * Judged by level: sounds much softer than the loudest are silence, and in noise those that are hardly louder than the softest. The
 * margin keeps soft first and last sounds ("f", "s").
 */
import { bytesOf, joinSamples, RECOGNITION_RATE, samplesOf } from '../../../../contracts/audio.js';

/** Samples over which a level is measured: 10 ms. */
const FRAME = 0.01 * RECOGNITION_RATE;
const ratioOf = (decibels: number): number => 10 ** (decibels / 10);
/** A frame this far below the loudest is silence. */
const QUIET = ratioOf(-30);
/** So is one that is less than this above the noise, which is as loud as the softest tenth of the frames; but none that is nearly as loud as the voice. */
const NOISE = { share: 0.1, above: ratioOf(10), most: ratioOf(-10) } as const;
/** Kept on both sides of the voice. */
export const MARGIN = 0.1 * RECOGNITION_RATE;
/** Less silence than this is not worth another question: the recogniser would hear the same. */
const LEAST = 0.1 * RECOGNITION_RATE;

function energiesOf(samples: Int16Array): Float64Array {
  const energies = new Float64Array(Math.floor(samples.length / FRAME));
  for (let frame = 0; frame < energies.length; frame += 1) {
    let sum = 0;
    for (let at = frame * FRAME; at < (frame + 1) * FRAME; at += 1) sum += samples[at]! ** 2;
    energies[frame] = sum;
  }
  return energies;
}

/** The energy of a frame that is not silent. */
function leastOf(energies: Float64Array): number {
  const sorted = energies.toSorted();
  const loudest = sorted.at(-1) ?? 0;
  const noise = sorted[Math.floor(sorted.length * NOISE.share)] ?? 0;
  return Math.max(QUIET * loudest, Math.min(NOISE.above * noise, NOISE.most * loudest));
}

/** The part of the audio (16 kHz PCM, in chunks) that is voiced; undefined if that is nearly all of it, or if all is silence. */
export function voicedPart(chunks: readonly Uint8Array[]): Uint8Array | undefined {
  const samples = joinSamples(chunks.map(samplesOf));
  const energies = energiesOf(samples);
  const least = leastOf(energies);
  if (least === 0) return undefined;
  const isLoud = (energy: number): boolean => energy >= least;
  const from = Math.max(0, energies.findIndex(isLoud) * FRAME - MARGIN);
  const until = Math.min(samples.length, (energies.findLastIndex(isLoud) + 1) * FRAME + MARGIN);
  return samples.length - (until - from) < LEAST ? undefined : bytesOf(samples.subarray(from, until));
}
