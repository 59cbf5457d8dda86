/** µ-law of ITU-T G.711: a sign, an exponent and a mantissa of 14 bits, told in 8, all of them inverted. */
const BIAS = 132;
const MOST = 32_635;

function encoded(sample: number): number {
  const size = Math.min(Math.abs(sample), MOST) + BIAS;
  const exponent = 24 - Math.clz32(size);
  const mantissa = (size >> (exponent + 3)) & 0x0f;
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff;
}

function decoded(byte: number): number {
  const bits = ~byte & 0xff;
  const size = ((((bits & 0x0f) << 3) + BIAS) << ((bits >> 4) & 0x07)) - BIAS;
  return (bits & 0x80) !== 0 ? -size : size;
}

const DECODED = Int16Array.from({ length: 256 }, (_, byte) => decoded(byte));

/** 16-bit samples of each. */
export const samplesOf = (mulaw: Uint8Array): Int16Array => Int16Array.from(mulaw, (byte) => DECODED[byte]!);

/** `pcm`: 16-bit samples, little-endian. */
export function mulawOf(pcm: Buffer): Buffer {
  return Buffer.from(
    Uint8Array.from({ length: pcm.length >> 1 }, (_, at) => encoded(pcm.readInt16LE(at * 2))),
  );
}
