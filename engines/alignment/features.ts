/**
 * Acoustic features by which two voices saying the same words are compared, every 10 ms: mel-frequency cepstral
 * coefficients, each scaled to mean 0 and deviation 1 over the piece, so that a voice's own timbre cancels out.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { Fourier } from '../fourier.js';

/** Samples from one frame to the next, and (below) samples of one frame. */
export const FRAME_STEP = RECOGNITION_RATE / 100;
const FRAME_LENGTH = RECOGNITION_RATE / 40;
const TRANSFORM = 512;
const BANDS = 32;
export const COEFFICIENTS = 13;

const LOWEST_HERTZ = 80;
const HIGHEST_HERTZ = 7600;
/** Raises high sounds to the level of low ones. */
const PREEMPHASIS = 0.97;
/** Loudness distinguishes words less well than timbre does. */
const LOUDNESS_WEIGHT = 0.25;
/** Keeps the logarithm of digital silence finite. */
const FLOOR = 1e-6;

export interface Features {
  readonly frames: number;
  /** COEFFICIENTS values a frame. */
  readonly values: Float32Array;
}

const hann = Float64Array.from(
  { length: FRAME_LENGTH },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / (FRAME_LENGTH - 1)),
);

const melOf = (hertz: number): number => 2595 * Math.log10(1 + hertz / 700);
const hertzOf = (mel: number): number => 700 * (10 ** (mel / 2595) - 1);

interface Band {
  readonly from: number;
  readonly weights: Float64Array;
}

/** Triangles that overlap by half, evenly spaced on the mel scale. */
const bands: readonly Band[] = (() => {
  const [lowest, highest] = [melOf(LOWEST_HERTZ), melOf(HIGHEST_HERTZ)];
  const edge = (index: number): number => {
    const hertz = hertzOf(lowest + ((highest - lowest) * index) / (BANDS + 1));
    return Math.floor(((TRANSFORM + 1) * hertz) / RECOGNITION_RATE);
  };
  return Array.from({ length: BANDS }, (_, index) => {
    const [from, peak, to] = [edge(index), edge(index + 1), edge(index + 2)];
    const weights = Float64Array.from({ length: to - from }, (_, offset) => {
      const bin = from + offset;
      return bin < peak ? offset / Math.max(1, peak - from) : (to - bin) / Math.max(1, to - peak);
    });
    return { from, weights };
  });
})();

/** Rows of the cosine transform from bands to coefficients. */
const cosines = Array.from({ length: COEFFICIENTS }, (_, row) =>
  Float64Array.from({ length: BANDS }, (_, band) => {
    const weight = row === 0 ? LOUDNESS_WEIGHT : 1;
    return weight * Math.cos((Math.PI * row * (band + 0.5)) / BANDS);
  }),
);

function dot(left: Float64Array, right: Float64Array, from = 0): number {
  let sum = 0;
  for (let index = 0; index < left.length; index++) sum += left[index]! * right[from + index]!;
  return sum;
}

/** Scales each coefficient to mean 0 and deviation 1. */
function normalise(values: Float32Array, frames: number): void {
  for (let row = 0; row < COEFFICIENTS; row++) {
    let sum = 0;
    let squares = 0;
    for (let at = row; at < values.length; at += COEFFICIENTS) {
      sum += values[at]!;
      squares += values[at]! ** 2;
    }
    const mean = sum / frames;
    const deviation = Math.sqrt(Math.max(0, squares / frames - mean ** 2)) + FLOOR;
    for (let at = row; at < values.length; at += COEFFICIENTS) values[at] = (values[at]! - mean) / deviation;
  }
}

/** The features of 16 kHz samples. Audio shorter than one frame has none. */
export function featuresOf(samples: Int16Array): Features {
  const frames = Math.max(0, Math.floor((samples.length - FRAME_LENGTH) / FRAME_STEP) + 1);
  const values = new Float32Array(frames * COEFFICIENTS);
  const fourier = new Fourier(TRANSFORM);
  const frame = new Float64Array(TRANSFORM);
  const power = new Float64Array(TRANSFORM / 2 + 1);
  const loudness = new Float64Array(BANDS);
  for (let index = 0; index < frames; index++) {
    const from = index * FRAME_STEP;
    for (let at = 0; at < FRAME_LENGTH; at++) {
      const before = at === 0 ? 0 : samples[from + at - 1]!;
      frame[at] = ((samples[from + at]! - PREEMPHASIS * before) / 32768) * hann[at]!;
    }
    fourier.power(frame, power);
    bands.forEach(({ from: bin, weights }, band) => {
      loudness[band] = Math.log(dot(weights, power, bin) + FLOOR);
    });
    cosines.forEach((row, at) => {
      values[index * COEFFICIENTS + at] = dot(row, loudness);
    });
  }
  normalise(values, frames);
  return { frames, values };
}
