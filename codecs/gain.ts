/**
 * Volume and loudness of a stream of 16-bit PCM, chunk by chunk, without delay (native `prosody.volume`
 * and `prosody.normalize_loudness`). Cheap: two passes of plain arithmetic, a few nanoseconds a sample.
 * Invariants: as many samples out as in; the input is never written to; no sample exceeds CEILING, the gain
 * gives way before a peak would be clipped and comes back slowly.
 */
import { LIMITS } from '../contracts/limits.js';

export interface GainOptions {
  /** dB, −20 to 20; held to that range */
  readonly volume: number;
  /** Brings speech to TARGET_RMS before the volume is applied. */
  readonly normalizeLoudness: boolean;
}

/** A stream of samples at its new level; as it is where there is nothing to change. */
export type Gain = (pcm: AsyncIterable<Int16Array>) => AsyncIterable<Int16Array>;

const FULL_SCALE = 32_768;
const fromDb = (db: number): number => 10 ** (db / 20);

/** −0.1 dBFS */
const CEILING = Math.floor((FULL_SCALE - 1) * fromDb(-0.1));
/** Close to −16 LUFS for speech, where spoken programmes for headphones and telephones are. */
const TARGET_RMS = FULL_SCALE * fromDb(-18);
/** Quieter blocks are pauses and do not count towards the loudness. */
const GATE_RMS = FULL_SCALE * fromDb(-50);
const MOST_CORRECTION = fromDb(12);
/** 6 to 32 ms */
const BLOCK = 256;
/** Share of the way that the gain moves in one block: back after a peak, and to a new loudness. */
const RELEASE = 0.05;
/** Samples over which a change is spread, so that it does not click. */
const RAMP = 32;

/** A gain; every stream that goes through it has a level of its own. */
export const createGain = (options: GainOptions): Gain =>
  options.volume === 0 && !options.normalizeLoudness
    ? (pcm) => pcm
    : (pcm) => levelled(pcm, new Level(options));

async function* levelled(pcm: AsyncIterable<Int16Array>, level: Level): AsyncGenerator<Int16Array> {
  for await (const samples of pcm) yield level.apply(samples);
}

class Level {
  readonly #volume: number;
  readonly #normalize: boolean;
  #energy = 0;
  #counted = 0;
  #gain: number | undefined;

  constructor({ volume, normalizeLoudness }: GainOptions) {
    const { min, max } = LIMITS.native.volumeDb;
    this.#volume = fromDb(Math.min(max, Math.max(min, volume)));
    this.#normalize = normalizeLoudness;
  }

  apply(samples: Int16Array): Int16Array {
    if (this.#normalize) this.#measure(samples);
    const wanted = this.#volume * this.#correction();
    const output = new Int16Array(samples.length);
    for (let start = 0; start < samples.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, samples.length);
      const from = this.#gain ?? wanted;
      const to = Math.min(from + (wanted - from) * RELEASE, CEILING / peakOf(samples, start, end));
      ramp(samples, output, { start, end, from: this.#gain ?? to, to });
      this.#gain = to;
    }
    return output;
  }

  /** Counts the blocks that hold speech towards the loudness so far. */
  #measure(samples: Int16Array): void {
    for (let start = 0; start < samples.length; start += BLOCK) {
      const end = Math.min(start + BLOCK, samples.length);
      const energy = energyOf(samples, start, end);
      if (energy < GATE_RMS ** 2 * (end - start)) continue;
      this.#energy += energy;
      this.#counted += end - start;
    }
  }

  #correction(): number {
    if (this.#counted === 0) return 1;
    const correction = TARGET_RMS / Math.sqrt(this.#energy / this.#counted);
    return Math.min(MOST_CORRECTION, Math.max(1 / MOST_CORRECTION, correction));
  }
}

function peakOf(samples: Int16Array, start: number, end: number): number {
  let peak = 1;
  for (let i = start; i < end; i++) peak = Math.max(peak, Math.abs(samples[i] ?? 0));
  return peak;
}

function energyOf(samples: Int16Array, start: number, end: number): number {
  let energy = 0;
  for (let i = start; i < end; i++) energy += (samples[i] ?? 0) ** 2;
  return energy;
}

interface Ramp {
  readonly start: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** Scales one block; while the gain still comes down, a peak is held at the ceiling. */
function ramp(input: Int16Array, output: Int16Array, { start, end, from, to }: Ramp): void {
  for (let i = start; i < end; i++) {
    const way = Math.min(1, (i - start) / RAMP);
    const value = (input[i] ?? 0) * (from + (to - from) * way);
    output[i] = Math.max(-CEILING, Math.min(CEILING, Math.round(value)));
  }
}
