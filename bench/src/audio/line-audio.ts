/** How the sound of lines is written: that of telephones, and of agents' clients. */
import { mulawOf, samplesOf } from './mulaw.js';

export interface LineAudio {
  /** Hz */
  readonly rate: number;
  /** `pcm`: 16-bit samples, little-endian. */
  write(pcm: Buffer): Buffer;
  read(bytes: Uint8Array): Int16Array;
}

export const MULAW: LineAudio = { rate: 8000, write: mulawOf, read: samplesOf };

/** 16-bit samples, little-endian. */
export const linear = (rate: number): LineAudio => ({
  rate,
  write: (pcm) => pcm,
  read: (bytes) => new Int16Array(Uint8Array.from(bytes).buffer),
});
