/** Loudness of samples, for a meter: linear in decibels, from 0 (silence: -60 dB or less) to 1 (full scale). */
const SILENCE_DB = -60;

export function levelOf(samples: Float32Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const decibels = 10 * Math.log10(energy);
  return Math.min(1, Math.max(0, 1 - decibels / SILENCE_DB));
}
