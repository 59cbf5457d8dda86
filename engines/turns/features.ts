/**
 * The input of smart-turn: Whisper's log-mel spectrogram of the last eight seconds. Samples are first scaled to mean 0
 * and deviation 1; 80 bands on Slaney's mel scale, a frame every 10 ms, clipped to the loudest 80 dB, about -1 to 1.
 */
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { BINS, Fourier400, FRAME } from './fourier-400.js';
import { SECONDS } from './window.js';

/** Samples that are used. */
export const SAMPLES = SECONDS * RECOGNITION_RATE;
export const BANDS = 80;
const STEP = RECOGNITION_RATE / 100;
export const FRAMES = SAMPLES / STEP;

const VARIANCE_FLOOR = 1e-7;
const POWER_FLOOR = 1e-10;
/** Dynamic range below the loudest value, in bels. */
const RANGE = 8;

const hann = Float64Array.from(
  { length: FRAME },
  (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * index) / FRAME),
);

/** Slaney's scale: linear up to 1 kHz, which is 15 mel, and logarithmic above. */
const EVEN_HERTZ = 200 / 3;
const BREAK = { hertz: 1000, mel: 15 };
const STEEP = Math.log(6.4) / 27;
const melOf = (hertz: number): number =>
  hertz < BREAK.hertz ? hertz / EVEN_HERTZ : BREAK.mel + Math.log(hertz / BREAK.hertz) / STEEP;
const hertzOf = (mel: number): number =>
  mel < BREAK.mel ? mel * EVEN_HERTZ : BREAK.hertz * Math.exp(STEEP * (mel - BREAK.mel));

interface Band {
  readonly from: number;
  readonly weights: readonly number[];
}

/** Triangles that overlap by half, each of the same area. */
const bands: readonly Band[] = (() => {
  const highest = melOf(RECOGNITION_RATE / 2);
  const edge = (index: number): number => hertzOf((highest * index) / (BANDS + 1));
  return Array.from({ length: BANDS }, (_, index) => {
    const [low, peak, high] = [edge(index), edge(index + 1), edge(index + 2)];
    const weights = Array.from({ length: BINS }, (__, bin) => {
      const hertz = (bin * RECOGNITION_RATE) / FRAME;
      const height = Math.min((hertz - low) / (peak - low), (high - hertz) / (high - peak));
      return (Math.max(0, height) * 2) / (high - low);
    });
    const from = weights.findIndex((weight) => weight > 0);
    return { from, weights: weights.slice(from, weights.findLastIndex((weight) => weight > 0) + 1) };
  });
})();

/** The last eight seconds, padded with zeros in front, at mean 0 and deviation 1; and the index of their first sample. */
function levelled(samples: Int16Array): { readonly audio: Float64Array; readonly begin: number } {
  const audio = new Float64Array(SAMPLES);
  const begin = Math.max(0, SAMPLES - samples.length);
  for (let at = begin; at < SAMPLES; at++) audio[at] = samples[samples.length - SAMPLES + at]! / 32768;
  let sum = 0;
  let squares = 0;
  for (const sample of audio) {
    sum += sample;
    squares += sample * sample;
  }
  const mean = sum / SAMPLES;
  const deviation = Math.sqrt(squares / SAMPLES - mean * mean + VARIANCE_FLOOR);
  for (let at = 0; at < SAMPLES; at++) audio[at] = (audio[at]! - mean) / deviation;
  return { audio, begin };
}

/** The samples around a frame's middle; at both ends the audio is mirrored. */
function cut(audio: Float64Array, frame: number, into: Float64Array): void {
  const from = frame * STEP - FRAME / 2;
  for (let at = 0; at < FRAME; at++) {
    const index = Math.abs(from + at);
    const mirrored = index < SAMPLES ? index : 2 * (SAMPLES - 1) - index;
    into[at] = audio[mirrored]! * hann[at]!;
  }
}

function writeBands(power: Float64Array, frame: number, features: Float32Array): void {
  bands.forEach(({ from, weights }, band) => {
    let sum = 0;
    for (let at = 0; at < weights.length; at++) sum += weights[at]! * power[from + at]!;
    features[band * FRAMES + frame] = Math.log10(Math.max(POWER_FLOOR, sum));
  });
}

/** Frames before any sound are all alike. */
function repeatFirst(frames: number, features: Float32Array): void {
  for (let band = 0; band < BANDS; band++)
    features.fill(features[band * FRAMES]!, band * FRAMES, band * FRAMES + frames);
}

function scale(features: Float32Array): void {
  let loudest = -Infinity;
  for (const value of features) loudest = Math.max(loudest, value);
  for (let at = 0; at < features.length; at++)
    features[at] = (Math.max(features[at]!, loudest - RANGE) + 4) / 4;
}

/** BANDS × FRAMES features of samples at RECOGNITION_RATE, band by band; of longer audio only the end is used. */
export function featuresOf(samples: Int16Array): Float32Array {
  const { audio, begin } = levelled(samples);
  const features = new Float32Array(BANDS * FRAMES);
  const fourier = new Fourier400();
  const frames = [new Float64Array(FRAME), new Float64Array(FRAME)] as const;
  const powers = [new Float64Array(BINS), new Float64Array(BINS)] as const;
  const silent = Math.max(0, Math.floor((begin - FRAME / 2) / STEP));
  for (let frame = 0; frame < FRAMES; frame = frame === 0 ? Math.max(2, silent - (silent % 2)) : frame + 2) {
    frames.forEach((into, offset) => cut(audio, frame + offset, into));
    fourier.powers(...frames, ...powers);
    powers.forEach((power, offset) => writeBands(power, frame + offset, features));
  }
  repeatFirst(silent, features);
  scale(features);
  return features;
}
