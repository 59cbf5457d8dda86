/** What is around a caller, or between a caller and the gateway, in plain code: the same samples each time. All at RATE. */
import { randomFrom } from '../random.js';
import { gain, joined, levelled, mixed, RATE, scaled, silence, wordsOf } from './level.js';
import { mulawOf, samplesOf } from './mulaw.js';
import { resampled } from './resample.js';

/** Made as loud as all callers. */
export const normalised = (samples: Int16Array): Int16Array => wordsOf(levelled(samples));

const PHONE_RATE = 8000;
/** Hz below which a telephone line carries little (ITU-T G.712). */
const PHONE_FROM = 300;

/** Without what is below so many Hz: a high-pass of the first order, applied twice. */
function highPassed(samples: Int16Array, hertz: number, rate: number): Int16Array {
  const decay = 1 / (1 + (2 * Math.PI * hertz) / rate);
  const passed = samples.slice();
  for (let time = 0; time < 2; time += 1) {
    let [before, out] = [0, 0];
    passed.forEach((sample, index) => {
      out = decay * (out + sample - before);
      before = sample;
      passed[index] = out;
    });
  }
  return passed;
}

/** As a telephone line carries it: 300 to 3,800 Hz, 8 kHz, µ-law, there and back. */
export function telephoned(samples: Int16Array): Int16Array {
  const narrow = highPassed(resampled(samples, RATE, PHONE_RATE), PHONE_FROM, PHONE_RATE);
  const bytes = Buffer.from(narrow.buffer, narrow.byteOffset, narrow.byteLength);
  return normalised(resampled(samplesOf(mulawOf(bytes)), PHONE_RATE, RATE));
}

/** Each of these voices says all that it has over and over, and all of them at once: as loud as a caller. */
export function babbled(voices: readonly Int16Array[], seconds: number): Int16Array {
  const random = randomFrom(2);
  const crowd = voices
    .map((voice) => {
      const start = Math.floor(random() * voice.length);
      return joined(voice.subarray(start), voice.subarray(0, start));
    })
    // The sum of many voices must not be cut off before it is levelled.
    .map((voice) => scaled(voice, 1 / Math.sqrt(voices.length)))
    .reduce((sum, voice) => mixed(sum, voice), silence(seconds * 1000));
  return normalised(crowd);
}

/** Notes of a tune below the voices of a television, in Hz, each half a second long. */
const TUNE = [196, 247, 294, 247, 220, 262, 330, 262];
const NOTE = RATE / 2;
/** So much quieter than its voices. */
const TUNE_DB = -12;

/** Voices one after the other with a tune below them: as loud as a caller. */
export function televised(voices: readonly Int16Array[]): Int16Array {
  const pieces = voices.flatMap((voice) => [voice, silence(200)]);
  const speech = joined(...pieces);
  const tune = speech.map((_, index) => {
    const hertz = TUNE[Math.floor(index / NOTE) % TUNE.length]!;
    const fade = 1 - (index % NOTE) / NOTE;
    return 5000 * fade * Math.sin((2 * Math.PI * hertz * index) / RATE);
  });
  return normalised(mixed(speech, scaled(normalised(tune), gain(TUNE_DB))));
}

/** Partials of a hum through closed lips: it has hardly anything above half a kilohertz. */
const HUM_FALL = 1.5;
const HUM_PARTIALS = 8;

/** One syllable of a hum: its pitch glides from the first to the second, in Hz. */
function syllable(from: number, to: number, ms: number): Int16Array {
  let phase = 0;
  const sounding = silence(ms);
  return sounding.map((_, index) => {
    const share = index / sounding.length;
    phase += (2 * Math.PI * (from + (to - from) * share)) / RATE;
    let sum = 0;
    for (let partial = 1; partial <= HUM_PARTIALS; partial += 1)
      sum += Math.sin(partial * phase) / partial ** HUM_FALL;
    return 6000 * Math.sin(Math.PI * share) ** 0.5 * sum;
  });
}

/** "Mm-hm" by a voice of so many Hz: a falling syllable, a breath, and a rising one. */
export const hummed = (hertz: number): Int16Array =>
  normalised(
    joined(syllable(hertz * 1.05, hertz * 0.9, 220), silence(60), syllable(hertz * 0.95, hertz * 1.25, 260)),
  );
