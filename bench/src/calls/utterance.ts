/** Recorded speech as the packets that a caller sends: encoded once, said by many. */
import { Encoder } from '@evan/opus';
import { RATE } from '../audio/level.js';
import { type Sounding, soundingOf } from './sounding.js';
import { FRAME_MS } from './timing.js';

export { RATE };

const FRAME = (RATE * FRAME_MS) / 1000;

export interface Utterance extends Sounding {
  /** 16-bit mono at RATE. */
  readonly pcm: Buffer;
  /** Opus packets of 20 ms each. */
  readonly packets: readonly Buffer[];
}

/** Tones must arrive unharmed. */
const BITRATE = 96_000;

/** Encodes frames of FRAME_MS of a microphone, one after the other. */
export function microphoneEncoder(): Encoder {
  const encoder = new Encoder({ channels: 1, sample_rate: RATE, application: 'audio' });
  encoder.bitrate = BITRATE;
  return encoder;
}

/** `pcm` is 16-bit mono at RATE. */
export function encodeUtterance(pcm: Buffer): Utterance {
  const encoder = microphoneEncoder();
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
