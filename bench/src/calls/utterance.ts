/** Recorded speech as the packets that a caller sends: encoded once, said by many. */
import { Encoder } from '@evan/opus';

/** Hz of the microphone, and of what is heard. */
export const RATE = 24_000;
export const FRAME_MS = 20;
const FRAME = (RATE * FRAME_MS) / 1000;
/** Amplitude of 16-bit samples below which audio counts as silence. */
const AUDIBLE = 100;

export interface Utterance {
  /** 16-bit mono at RATE. */
  readonly pcm: Buffer;
  /** Of 20 ms each. */
  readonly packets: readonly Buffer[];
  /** Milliseconds from the beginning to the first and to behind the last sample that can be heard. */
  readonly from: number;
  readonly to: number;
}

/** Tones must arrive unharmed. */
const BITRATE = 96_000;

const isAudible = (pcm: Buffer, index: number): boolean => Math.abs(pcm.readInt16LE(index * 2)) > AUDIBLE;

/** `pcm` is 16-bit mono at RATE. */
export function encodeUtterance(pcm: Buffer): Utterance {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE, application: 'audio' });
  encoder.bitrate = BITRATE;
  const count = pcm.length >> 1;
  const packets: Buffer[] = [];
  for (let at = 0; at < count; at += FRAME) {
    const frame = Buffer.alloc(FRAME * 2);
    pcm.copy(frame, 0, at * 2, (at + FRAME) * 2);
    packets.push(Buffer.from(encoder.encode(frame)));
  }
  let [first, last] = [0, count - 1];
  while (first < count && !isAudible(pcm, first)) first += 1;
  while (last > first && !isAudible(pcm, last)) last -= 1;
  return { pcm, packets, from: (first * 1000) / RATE, to: ((last + 1) * 1000) / RATE };
}

export const SILENCE: Buffer = encodeUtterance(Buffer.alloc(FRAME * 2)).packets[0]!;
