/** A simulated caller's microphone: its speech in a room with steady noise, one packet every 20 ms. */
import type { Encoder } from '@evan/opus';
import { bytesOf, PLAYOUT_RATE, samplesOf } from '../../../contracts/audio.js';
import { encoders } from '../../opus-pool.js';
import { OPUS_TYPE, RtpWriter } from '../rtp.js';

export const FRAME_MS = 20;
const FRAME = (PLAYOUT_RATE * FRAME_MS) / 1000;
/** Bits per second. */
const BITRATE = 64_000;
/** Share of the previous sample in the noise (a low-pass filter), as rooms hum more than they hiss. */
const SMOOTHING = 0.85;
/** RMS of noise, uniform from -1 to 1, after smoothing. */
const SMOOTHED_RMS = (1 / Math.sqrt(3)) * Math.sqrt((1 - SMOOTHING) / (1 + SMOOTHING));

/** Steady noise with that RMS, the same each time. */
export class RoomNoise {
  #state = 1;
  #last = 0;

  constructor(private readonly rms: number) {}

  addTo(samples: Int16Array): void {
    if (this.rms === 0) return;
    const gain = this.rms / SMOOTHED_RMS;
    for (let index = 0; index < samples.length; index += 1) {
      // xorshift32
      this.#state ^= this.#state << 13;
      this.#state ^= this.#state >>> 17;
      this.#state ^= this.#state << 5;
      this.#last = SMOOTHING * this.#last + (1 - SMOOTHING) * (this.#state / 2 ** 31);
      const mixed = (samples[index] ?? 0) + this.#last * gain;
      samples[index] = Math.max(-32_768, Math.min(32_767, mixed));
    }
  }
}

interface Part {
  readonly utterance: number;
  readonly at: number;
  readonly samples: Int16Array;
  readonly last: boolean;
  used: number;
}

export interface Said {
  readonly utterance: number;
  readonly from: number;
  readonly to: number;
}

export class CallerVoice {
  readonly #encoder: Encoder = encoders.take();
  readonly #writer: RtpWriter;
  readonly #noise: RoomNoise;
  readonly #parts: Part[] = [];
  readonly #from = new Map<number, number>();

  constructor(
    ssrc: number,
    noise: number,
    private readonly send: (packet: Buffer) => void,
    private readonly said: (said: Said) => void,
  ) {
    this.#encoder.bitrate = BITRATE;
    this.#noise = new RoomNoise(noise);
    this.#writer = new RtpWriter(ssrc, OPUS_TYPE);
  }

  say(utterance: number, at: number, pcm: Uint8Array, last: boolean): void {
    this.#parts.push({ utterance, at, samples: samplesOf(pcm), last, used: 0 });
  }

  /** Sends the frame that begins at `now`. Skipped beats only advance the timestamp. */
  beat(now: number, skipped: number): void {
    for (let frame = 0; frame <= skipped; frame += 1) this.#writer.tick();
    const samples = new Int16Array(FRAME);
    const begins = this.#fill(samples, now);
    this.#noise.addTo(samples);
    this.send(this.#writer.packet(this.#encoder.encode(bytesOf(samples)), begins));
  }

  /** Fills a frame with speech; true if an utterance begins in it. */
  #fill(samples: Int16Array, now: number): boolean {
    let [filled, begins] = [0, false];
    while (filled < samples.length) {
      const [part] = this.#parts;
      if (!part || part.at > now) break;
      if (!this.#from.has(part.utterance)) {
        this.#from.set(part.utterance, now);
        begins = true;
      }
      const piece = part.samples.subarray(part.used, part.used + samples.length - filled);
      samples.set(piece, filled);
      filled += piece.length;
      part.used += piece.length;
      if (part.used < part.samples.length) break;
      this.#parts.shift();
      if (part.last) this.#tell(part.utterance, now + (filled * 1000) / PLAYOUT_RATE);
    }
    return begins;
  }

  #tell(utterance: number, to: number): void {
    const from = this.#from.get(utterance) ?? to;
    this.#from.delete(utterance);
    this.said({ utterance, from, to: Math.round(to) });
  }

  /** Called once. */
  close(): void {
    encoders.give(this.#encoder);
  }
}
