/**
 * The caller's audio on a phone line, as an unbroken stream at 16 kHz: a microphone (../embedded/microphone.ts) whose packets
 * are pieces of the provider's stream. Pieces are put in order if the provider numbers them, bursts are accepted, and a
 * stuttering provider is waited for longer than a lossy network.
 */
import { alignmentAfter } from '../../actors/sample-alignment.js';
import { bytesOf, RECOGNITION_RATE } from '../../contracts/audio.js';
import type { LineFormat } from '../../contracts/ports/calls/calls.js';
import { Resampling } from '../../engines/resampling.js';
import { Microphone } from '../embedded/microphone.js';
import { FRAME_MS } from '../playout.js';
import { codecFor } from './codecs.js';

/**
 * Beats of 20 ms that a provider may be late. Nothing of a socket is lost, so where a voice breaks off in the middle the rest of it is
 * late: silence would tear its words apart.
 */
const PATIENCE = { patience: 20, patienceInVoice: 60 };
/** Most frames of one packet; a microphone accepts up to 120 ms. */
const MOST_FRAMES = 5;
const SEQUENCES = 0x10000;

export class PhoneReceiver {
  readonly #microphone: Microphone;
  readonly #packetBytes: number;
  /** Sequence number of the last packet for the microphone. */
  #sequence = 0;
  readonly #sampleBytes: number;
  /** First byte of a sample that a piece ended in. */
  #half: number | undefined;
  /** Packets by which it is ahead of the provider's count, as long pieces become several packets. */
  #more = 0;

  /** `heard`: 16 kHz. `isPaced`: what comes is no faster than it may be heard. */
  constructor(format: LineFormat, heard: (samples: Int16Array) => void, isPaced = false) {
    const codec = codecFor(format);
    const resampling = format.rate === RECOGNITION_RATE ? undefined : new Resampling(format.rate);
    this.#sampleBytes = codec.bytesPerSample;
    this.#packetBytes = MOST_FRAMES * codec.bytesPerSample * ((format.rate * FRAME_MS) / 1000);
    const decoder = {
      decode(audio: Uint8Array): Uint8Array {
        const samples = codec.decode(audio);
        return bytesOf(resampling ? resampling.push(samples) : samples);
      },
    };
    this.#microphone = new Microphone(decoder, heard, undefined, { ...PATIENCE, isPaced });
  }

  /** Takes a piece of any length. `order`: its sequence number, if the provider counts. */
  hear(piece: Uint8Array, order?: number): void {
    const audio = this.#sampleBytes === 1 ? piece : this.#aligned(piece);
    const first = order === undefined ? this.#sequence + 1 : order + this.#more;
    // An empty piece has a sequence number as well.
    const packets = Math.max(1, Math.ceil(audio.length / this.#packetBytes));
    for (let at = 0; at < packets; at += 1)
      this.#receive(audio.subarray(at * this.#packetBytes, (at + 1) * this.#packetBytes), first + at);
    this.#more += packets - 1;
  }

  /** The piece in whole samples: a half one at its end goes with the next piece, unless that begins anew. */
  #aligned(piece: Uint8Array): Uint8Array {
    const half = this.#half;
    const goesOn = half !== undefined && alignmentAfter(half, [piece]) !== 'anew';
    const audio = goesOn ? Uint8Array.of(half, ...piece) : piece;
    const odd = audio.length % this.#sampleBytes;
    this.#half = odd === 0 ? undefined : audio.at(-1);
    return audio.subarray(0, audio.length - odd);
  }

  #receive(payload: Uint8Array, order: number): void {
    this.#sequence = order % SEQUENCES;
    this.#microphone.receive({ ssrc: 0, sequence: this.#sequence, timestamp: 0, payload });
  }

  /** Called every 20 ms; `passed`: more than 1 if beats were skipped; `isVoiced`: what came last was voice. */
  beat(passed: number, isVoiced = false): void {
    this.#microphone.beat(passed, isVoiced);
  }
}
