/** Opus packets by their first bytes (RFC 6716, section 3): their duration, and packets of silence. */
import { OPUS_RATE } from './ogg.js';

const MS = OPUS_RATE / 1000;
/** Frame lengths by the upper five bits: SILK, hybrid, CELT. */
const FRAMES = [
  ...Array.from({ length: 3 }, () => [10, 20, 40, 60]).flat(),
  ...Array.from({ length: 2 }, () => [10, 20]).flat(),
  ...Array.from({ length: 4 }, () => [2.5, 5, 10, 20]).flat(),
].map((ms) => ms * MS);
const LONGEST = 120 * MS;

/** Samples of a packet at 48 kHz; 0 if it is invalid. */
export function samplesIn(packet: Uint8Array): number {
  const [first, second = 0] = packet;
  if (first === undefined) return 0;
  const code = first & 3;
  const count = code === 3 ? second & 0x3f : Math.min(2, code + 1);
  const samples = count * (FRAMES[first >> 3] ?? 0);
  return samples <= LONGEST ? samples : 0;
}

/** Digital silence of one frame, longest first. */
const SILENCE = [31, 30, 29, 28].map((config) => {
  const packet = Uint8Array.of(config << 3, 0xff, 0xfe);
  return { packet, samples: samplesIn(packet) };
});

/** Packets of silence for `samples`, in steps of 2.5 ms; a shorter rest is left out. */
export function* silence(
  samples: number,
): Generator<{ readonly packet: Uint8Array; readonly samples: number }> {
  let left = samples;
  for (const step of SILENCE) for (; left >= step.samples; left -= step.samples) yield step;
}
