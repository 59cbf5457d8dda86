/** How loud samples are, as a bar shows it: linear in decibels, from silence (0) to full scale (1). */
const SILENCE_DB = -60;

export function levelOf(samples: Float32Array): number {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
  const decibels = 10 * Math.log10(energy);
  return Math.min(1, Math.max(0, 1 - decibels / SILENCE_DB));
}
