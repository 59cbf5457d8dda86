/**
 * The voiced part of a stretch, with little of the silence around it. A stretch begins well before its voice was noticed, and
 * ends after a quarter of a second of silence; a recogniser may hear no word at all between two such silences where the
 * voice is short (a group of digits, "yes").
 *
 * Judged by level: sounds much softer than the loudest are silence. The margin keeps soft first and last sounds ("f", "s").
 */
import { bytesOf, joinSamples, RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';

/** Samples over which a level is measured: 10 ms. */
const FRAME = 0.01 * RECOGNITION_RATE;
/** A frame this far below the loudest is silence, in decibels. */
const QUIET_DB = 30;
const QUIET = 10 ** (-QUIET_DB / 10);
/** Kept on both sides of the voice. */
const MARGIN = 0.1 * RECOGNITION_RATE;
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

/** The part of the audio (16 kHz PCM, in chunks) that is voiced; undefined if that is nearly all of it, or if all is silence. */
export function voicedPart(chunks: readonly Uint8Array[]): Uint8Array | undefined {
  const samples = joinSamples(chunks.map(samplesOf));
  const energies = energiesOf(samples);
  const least = QUIET * energies.reduce((most, energy) => Math.max(most, energy), 0);
  if (least === 0) return undefined;
  const isLoud = (energy: number): boolean => energy >= least;
  const from = Math.max(0, energies.findIndex(isLoud) * FRAME - MARGIN);
  const until = Math.min(samples.length, (energies.findLastIndex(isLoud) + 1) * FRAME + MARGIN);
  return samples.length - (until - from) < LEAST ? undefined : bytesOf(samples.subarray(from, until));
}
