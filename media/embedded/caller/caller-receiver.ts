/**
 * The receiving side of a simulated caller: turns packets of the agent's voice into unbroken audio. The agent sends
 * nothing while it is silent, but its clock continues: frames are placed by that clock, relative to the packet that came
 * with the least delay. So a stuttering machine causes no gaps in the speech or in its measurements.
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { decoders } from '../../opus-pool.js';
import { Microphone } from '../microphone.js';
import { CLOCK_PER_FRAME, OPUS_TYPE, readRtp } from '../rtp.js';

const FRAME_MS = 20;
const FRAME = (RECOGNITION_RATE * FRAME_MS) / 1000;
/** Frames of a window. */
const WINDOW = 5;
/** Longest wait for a packet, in frames. */
const PATIENCE = 10;

export class CallerReceiver {
  readonly #decoder = decoders.take();
  readonly #microphone: Microphone;
  /** Frames not yet reported, by the agent's clock in frames. */
  readonly #frames = new Map<number, Int16Array>();
  /** Place of this packet's next frame on that clock. */
  #next = 0;
  #now = 0;
  #told = 0;
  /** Our frame number at the agent's clock 0. */
  #origin: number | undefined;
  /** The same by the packets so far; takes effect at the next silence. */
  #nearest = Infinity;
  /** Whether the beat is delivering silence, which needs no place. */
  #beating = false;

  constructor(private readonly heard: (at: number, samples: Int16Array) => void) {
    this.#microphone = new Microphone(
      this.#decoder,
      (samples) => this.#place(samples),
      ({ timestamp }) => (this.#next = timestamp / CLOCK_PER_FRAME),
    );
  }

  packet(bytes: Buffer): void {
    const packet = readRtp(bytes, OPUS_TYPE);
    if (!packet) return;
    this.#compare(packet.timestamp / CLOCK_PER_FRAME);
    this.#microphone.receive(packet);
  }

  /** Compares the two clocks; a packet that is far too late shows that the agent's clock has stopped for a while. */
  #compare(sent: number): void {
    const origin = this.#now - sent;
    this.#nearest = Math.min(this.#nearest, origin);
    if (origin > this.#nearest + PATIENCE) this.#origin = this.#nearest = origin;
  }

  #place(samples: Int16Array): void {
    if (this.#beating && samples.every((sample) => sample === 0)) return;
    for (let at = 0; at < samples.length; at += FRAME, this.#next += 1)
      if (this.#next + (this.#origin ?? this.#nearest) >= this.#told)
        this.#frames.set(this.#next, samples.slice(at, at + FRAME));
  }

  /** Called when frame number `now` begins. */
  beat(now: number, passed: number): void {
    this.#now = now;
    this.#beating = true;
    this.#microphone.beat(passed);
    this.#beating = false;
    while (this.#told + WINDOW + PATIENCE <= now) this.#tell();
  }

  #tell(): void {
    const samples = new Int16Array(WINDOW * FRAME);
    for (let frame = 0; frame < WINDOW; frame += 1) samples.set(this.#take(this.#told++), frame * FRAME);
    this.heard(this.#told * FRAME_MS, samples);
  }

  #take(place: number): ArrayLike<number> {
    this.#origin ??= this.#nearest;
    const frame = this.#frames.get(place - this.#origin);
    if (!frame) this.#origin = this.#nearest;
    this.#frames.delete(place - this.#origin);
    return frame ?? [];
  }

  /** Called once. */
  close(): void {
    decoders.give(this.#decoder);
  }
}
