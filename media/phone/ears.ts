/**
 * What is heard on a phone line, to an unbroken stream at 16 kHz: a microphone (../embedded/microphone.ts) whose packets
 * are pieces of the provider's stream. Pieces are put in order where the provider counts them, bursts are taken as they
 * come, and a provider that stutters is waited for longer than a network that drops.
 */
import { bytesOf, RECOGNITION_RATE } from '../../contracts/audio.js';
import type { LineFormat } from '../../contracts/ports/calls.js';
import { Resampling } from '../../engines/resampling.js';
import { Microphone } from '../embedded/microphone.js';
import { FRAME_MS } from '../playout.js';
import { codecFor } from './codecs.js';

/** Beats of 20 ms that a provider may be late. */
const PATIENCE = 20;
/** Frames of one packet at most; a microphone takes 120 ms. */
const MOST_FRAMES = 5;
const SEQUENCES = 0x10000;

export class PhoneEars {
  readonly #microphone: Microphone;
  readonly #packetBytes: number;
  /** The place of the last packet, as the microphone counts. */
  #sequence = 0;
  /** Packets by which its count is ahead of the provider's: long pieces are several. */
  #more = 0;

  /** `heard`: 16 kHz. */
  constructor(format: LineFormat, heard: (samples: Int16Array) => void) {
    const codec = codecFor(format);
    const resampling = format.rate === RECOGNITION_RATE ? undefined : new Resampling(format.rate);
    this.#packetBytes = MOST_FRAMES * codec.bytesPerSample * ((format.rate * FRAME_MS) / 1000);
    const decoder = {
      decode(audio: Uint8Array): Uint8Array {
        const samples = codec.decode(audio);
        return bytesOf(resampling ? resampling.push(samples) : samples);
      },
    };
    this.#microphone = new Microphone(decoder, heard, undefined, PATIENCE);
  }

  /** A piece of any length. `order`: its place, where the provider counts. */
  hear(audio: Uint8Array, order?: number): void {
    const first = order === undefined ? this.#sequence + 1 : order + this.#more;
    // An empty piece has its place as well.
    const packets = Math.max(1, Math.ceil(audio.length / this.#packetBytes));
    for (let at = 0; at < packets; at += 1)
      this.#receive(audio.subarray(at * this.#packetBytes, (at + 1) * this.#packetBytes), first + at);
    this.#more += packets - 1;
  }

  #receive(payload: Uint8Array, order: number): void {
    this.#sequence = order % SEQUENCES;
    this.#microphone.receive({ ssrc: 0, sequence: this.#sequence, timestamp: 0, payload });
  }

  /** Every 20 ms; `passed`: more than one, where the machine could not keep up. */
  beat(passed: number): void {
    this.#microphone.beat(passed);
  }
}
