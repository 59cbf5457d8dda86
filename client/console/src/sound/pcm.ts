/** Samples as the API carries them: 16-bit PCM, little-endian, in base64. */

/** Hz: the rate at which protocol A and the native API speak by default. */
export const RATE = 24_000;

export function samplesOf(base64: string): Float32Array {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from(
    { length: bytes.length >> 1 },
    (_, index) => view.getInt16(index * 2, true) / 32_768,
  );
}

export function base64Of(samples: Float32Array): string {
  const view = new DataView(new ArrayBuffer(samples.length * 2));
  samples.forEach((sample, index) => {
    view.setInt16(index * 2, Math.max(-1, Math.min(1, sample)) * 32_767, true);
  });
  return btoa(Array.from(new Uint8Array(view.buffer), (byte) => String.fromCharCode(byte)).join(''));
}
