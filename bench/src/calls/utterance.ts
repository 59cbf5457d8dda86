/** Recorded speech as the packets that a caller sends: encoded once, said by many. */
import { Encoder } from '@evan/opus';
import { type Sounding, soundingOf } from './sounding.js';
import { FRAME_MS } from './timing.js';

/** Hz of the microphone, and of what is heard. */
export const RATE = 24_000;
const FRAME = (RATE * FRAME_MS) / 1000;

export interface Utterance extends Sounding {
  /** 16-bit mono at RATE. */
  readonly pcm: Buffer;
  /** Opus packets of 20 ms each. */
  readonly packets: readonly Buffer[];
}

/** Tones must arrive unharmed. */
const BITRATE = 96_000;

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
  return { pcm, packets, ...soundingOf(pcm, RATE) };
}

export const SILENCE: Buffer = encodeUtterance(Buffer.alloc(FRAME * 2)).packets[0]!;
