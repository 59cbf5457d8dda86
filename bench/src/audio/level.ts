/** How loud speech is: all that callers say is made equally loud. */

/** Hz of the callers' microphones, and of all samples here. */
export const RATE = 24_000;

/** RMS of 16-bit samples in which somebody speaks, and of what all callers say. */
const VOICED_RMS = 150;
export const SPEECH_RMS = 3000;
const FRAME = RATE / 50;

const clipped = (sample: number): number => Math.max(-32_768, Math.min(32_767, sample));

/** Root mean square of 16-bit samples. */
export const rmsOf = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);

/**
 * Scales samples to the loudness of all that callers say: a synthetic voice varies by ten decibels from one sentence to the next.
 * Frames that are `roomDb` quieter than the loudest are the room's noise, and are not counted.
 */
export function levelled(samples: Int16Array, roomDb = Infinity): Uint8Array {
  const all = Array.from({ length: Math.ceil(samples.length / FRAME) }, (_, index) =>
    rmsOf(samples.subarray(index * FRAME, (index + 1) * FRAME)),
  );
  const least = Math.max(VOICED_RMS, Math.max(...all) / 10 ** (roomDb / 20));
  const frames = all.filter((rms) => rms > least);
  const level = Math.sqrt(frames.reduce((sum, rms) => sum + rms * rms, 0) / Math.max(1, frames.length));
  return new Uint8Array(scaled(samples, SPEECH_RMS / Math.max(VOICED_RMS, level)).buffer);
}

/** Samples times a factor, kept within 16 bits. */
export const scaled = (samples: Int16Array, factor: number): Int16Array =>
  samples.map((sample) => clipped(sample * factor));

/** The factor of so many decibels. */
export const gain = (db: number): number => 10 ** (db / 20);

/** The sum of both, as long as the first; the second is repeated to its end. */
export function mixed(samples: Int16Array, noise: Int16Array): Int16Array {
  if (noise.length === 0) return samples;
  return samples.map((sample, index) => clipped(sample + noise[index % noise.length]!));
}

/** 16-bit samples one after the other. */
export function joined(...parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** So many milliseconds in which nothing sounds. */
export const silence = (ms: number): Int16Array => new Int16Array(Math.round((RATE * ms) / 1000));

/** The bytes of 16-bit samples, which share their memory, and back. */
export const bytesOf = (samples: Int16Array): Uint8Array =>
  new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
export const wordsOf = (bytes: Uint8Array): Int16Array => new Int16Array(Uint8Array.from(bytes).buffer);

/** Amplitude of a sample above which it is heard. */
export const AUDIBLE = 100;

/** Without the silence before and behind it. */
export function trimmed(samples: Int16Array): Int16Array {
  const isAudible = (sample: number): boolean => Math.abs(sample) > AUDIBLE;
  const first = samples.findIndex(isAudible);
  return first < 0 ? new Int16Array() : samples.subarray(first, samples.findLastIndex(isAudible) + 1);
}
