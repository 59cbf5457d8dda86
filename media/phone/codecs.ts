/**
 * Audio formats of phone lines: G.711 (µ-law and A-law) and linear PCM, from and to samples. G.711 uses tables
 * that the library fills once: calling it sample by sample takes ten times as long.
 */
import g711 from 'alawmulaw';
import { bytesOf, samplesOf } from '../../contracts/audio.js';
import type { LineFormat } from '../../contracts/ports/calls/calls.js';

export interface LineCodec {
  readonly bytesPerSample: number;
  encode(samples: Int16Array): Uint8Array;
  decode(bytes: Uint8Array): Int16Array;
}

const SAMPLES = 65_536;
const BYTES = 256;

function companded({ encode, decode }: typeof g711.mulaw): LineCodec {
  // Indexed by the bits of a sample.
  const bytes = encode(new Int16Array(SAMPLES).map((_, bits) => bits));
  const samples = decode(new Uint8Array(BYTES).map((_, byte) => byte));
  return {
    bytesPerSample: 1,
    encode(from) {
      const coded = new Uint8Array(from.length);
      for (let at = 0; at < from.length; at++) coded[at] = bytes[from[at]! & 0xffff]!;
      return coded;
    },
    decode(from) {
      const decoded = new Int16Array(from.length);
      for (let at = 0; at < from.length; at++) decoded[at] = samples[from[at]!]!;
      return decoded;
    },
  };
}

const linear: LineCodec = {
  bytesPerSample: 2,
  encode: (samples) => bytesOf(samples).slice(),
  decode: samplesOf,
};

const MAKE: Readonly<Record<LineFormat['codec'], () => LineCodec>> = {
  mulaw: () => companded(g711.mulaw),
  alaw: () => companded(g711.alaw),
  linear: () => linear,
};
const made = new Map<LineFormat['codec'], LineCodec>();

export function codecFor({ codec }: Pick<LineFormat, 'codec'>): LineCodec {
  const known = made.get(codec) ?? MAKE[codec]();
  made.set(codec, known);
  return known;
}
