/** 16-bit samples as the floats in [-1, 1) that models take. */
export function floatsOf(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index++) floats[index] = samples[index]! / 32768;
  return floats;
}
