/**
 * Changes volume and loudness of a stream of 16-bit PCM, chunk by chunk, without delay (native `prosody.volume`
 * and `prosody.normalize_loudness`). Cheap: two passes of plain arithmetic, a few nanoseconds per sample.
 * Invariants: as many samples out as in; the input is never written to; no sample exceeds CEILING: the gain
 * drops before a peak would clip, and recovers slowly.
 */
import type { LevelOptions } from '../contracts/audio.js';
import { LIMITS } from '../contracts/limits.js';

const FULL_SCALE = 32_768;
const fromDb = (db: number): number => 10 ** (db / 20);

/** −0.1 dBFS */
const CEILING = Math.floor((FULL_SCALE - 1) * fromDb(-0.1));
/** About −16 LUFS for speech, the usual loudness of spoken programmes for headphones and telephones. */
const TARGET_RMS = FULL_SCALE * fromDb(-18);
/** Quieter blocks are pauses and do not count towards the loudness. */
const GATE_RMS = FULL_SCALE * fromDb(-50);
const MOST_CORRECTION = fromDb(12);
/** Samples per block: 6 to 32 ms, depending on the rate. */
const BLOCK = 256;
/** Part of the remaining difference that the gain covers in one block, after a peak or towards a new loudness. */
const RELEASE = 0.05;
/** Samples over which a gain change is spread, to avoid clicks. */
const RAMP = 32;

/** Whether these options change the audio at all. */
export const changesLevel = ({ volume, normalizeLoudness }: LevelOptions): boolean =>
  volume !== 0 || normalizeLoudness;

/** The gain of one stream, applied chunk by chunk. */
export class Level {
  readonly #volume: number;
  readonly #normalize: boolean;
  #energy = 0;
  #counted = 0;
  #gain: number | undefined;

  constructor({ volume, normalizeLoudness }: LevelOptions) {
    const { min, max } = LIMITS.native.volumeDb;
    this.#volume = fromDb(Math.min(max, Math.max(min, volume)));
    this.#normalize = normalizeLoudness;
  }

  /** The samples at their new level. */
  apply(samples: Int16Array): Int16Array {
    const bound = this.#measure(samples);
    const wanted = this.#volume * this.#correction();
    const isQuiet = bound * Math.max(wanted, this.#gain ?? wanted) <= CEILING;
    const output = new Int16Array(samples.length);
    for (let start = 0; start < samples.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, samples.length);
      const from = this.#gain ?? wanted;
      const next = from + (wanted - from) * RELEASE;
      const to = isQuiet ? next : Math.min(next, CEILING / peakOf(samples, start, end));
      scale(samples, output, { start, end, from: this.#gain ?? to, to });
      this.#gain = to;
    }
    return output;
  }

  /**
   * Adds the blocks with speech to the loudness so far. Returns an upper bound of the absolute sample values, at most
   * about twice the largest. One plain loop, which the compiler turns into a few instructions per sample.
   */
  #measure(samples: Int16Array): number {
    let bits = 1;
    for (let start = 0; start < samples.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, samples.length);
      let energy = 0;
      for (let i = start; i < end; i++) {
        const sample = samples[i]!;
        energy += Math.imul(sample, sample);
        bits |= sample ^ (sample >> 31);
      }
      if (energy < GATE_RMS ** 2 * (end - start)) continue;
      this.#energy += energy;
      this.#counted += end - start;
    }
    return bits + 1;
  }

  #correction(): number {
    if (!this.#normalize || this.#counted === 0) return 1;
    const correction = TARGET_RMS / Math.sqrt(this.#energy / this.#counted);
    return Math.min(MOST_CORRECTION, Math.max(1 / MOST_CORRECTION, correction));
  }
}

function peakOf(samples: Int16Array, start: number, end: number): number {
  let peak = 1;
  for (let i = start; i < end; i++) {
    const size = samples[i]! < 0 ? -samples[i]! : samples[i]!;
    if (size > peak) peak = size;
  }
  return peak;
}

interface Scaling {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Scales one block: the gain ramps first, then stays constant. */
function scale(input: Int16Array, output: Int16Array, { start, end, from, to }: Scaling): void {
  const ramped = from === to ? start : Math.min(end, start + RAMP);
  for (let i = start; i < ramped; i++) {
    // During a downward ramp the gain may still be too high for a peak, which is then clipped at the ceiling.
    const value = Math.round(input[i]! * (from + ((to - from) * (i - start)) / RAMP));
    output[i] = Math.max(-CEILING, Math.min(CEILING, value));
  }
  multiply(input, output, ramped, end, to);
}

/** Multiplies in fixed point with 16 binary places; fits 32 bits, since `gain` takes no sample beyond full scale. */
function multiply(input: Int16Array, output: Int16Array, start: number, end: number, gain: number): void {
  const factor = Math.round(gain * 65_536);
  for (let i = start; i < end; i++) output[i] = (Math.imul(input[i]!, factor) + 32_768) >> 16;
}
