/** 16-bit samples to the floats that models take, and back. */

/** Each sample divided by full scale: floats in [-1, 1). */
export function floatsOf(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index++) floats[index] = samples[index]! / 32768;
  return floats;
}

/** Floats of a model as 16-bit samples, clipped at full scale. */
export function samplesOfFloats(floats: Float32Array): Int16Array {
  const samples = new Int16Array(floats.length);
  for (let index = 0; index < floats.length; index++)
    samples[index] = Math.max(-32_768, Math.min(32_767, Math.round(floats[index]! * 32_767)));
  return samples;
}
