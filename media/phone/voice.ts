/**
 * The agent's voice on its way to a phone: playout in the line's rate and format, in frames of 20 ms, which some providers
 * need, or several of those in one piece, which others need. A little of each utterance is sent ahead, so that late beats
 * are not audible. Pressed keys are tones between utterances: speech waits for them, and they wait for speech. A caller on
 * hold hears the hold sound while nothing is said.
 */
import { PLAYOUT_RATE } from '../../contracts/audio.js';
import type { LineFormat } from '../../contracts/ports/calls/calls.js';
import { Resampling } from '../../engines/resampling.js';
import { FRAME_MS, type PlayoutFrame, type Playout } from '../playout.js';
import { codecFor, type LineCodec } from './codecs.js';
import { HOLD, tonesOf } from './tones.js';

/** Frames that the provider holds besides the one that it plays, unless its format says otherwise. */
const AHEAD = 2;

const joined = (frames: readonly Uint8Array[]): Uint8Array =>
  frames.length === 1 ? frames[0]! : Buffer.concat(frames);

export class PhoneVoice {
  readonly #codec: LineCodec;
  #resampling: Resampling;
  readonly #frame: Int16Array;
  #filled = 0;
  /** Frames of the next piece. */
  #piece: Uint8Array[] = [];
  readonly #frames: number;
  #tones: Int16Array[] = [];
  /** Position in the hold sound; undefined if the caller is not on hold. */
  #held: number | undefined;
  /** Whether the last beat had no speech. */
  #quiet = true;
  /** The utterance that is sent. */
  #utterance: number | undefined;

  constructor(
    private readonly format: LineFormat,
    private readonly playout: Playout,
    /** Sends a piece in the line's format; `utterance`: as of the frame that it ends with. */
    private readonly send: (audio: Uint8Array, utterance: number | undefined) => void,
    /** Receives each frame of speech or tones, before it is converted. */
    private readonly said: (samples: Int16Array) => void,
    /** The last of the keys has been sent. */
    private readonly pressed: () => void = () => undefined,
  ) {
    this.#codec = codecFor(format);
    this.#resampling = new Resampling(PLAYOUT_RATE, format.rate);
    this.#frame = new Int16Array((format.rate * FRAME_MS) / 1000);
    this.#frames = format.frames ?? 1;
  }

  /** Queues keys, after those pressed before. */
  press(keys: string): void {
    this.#tones.push(...tonesOf(keys));
  }

  /** Puts the other side on hold, or ends that: it hears the hold sound while nothing is said. */
  hold(on: boolean): void {
    this.#held = on ? 0 : undefined;
  }

  /** Called every 20 ms; true if speech or a tone was sent. */
  beat(): boolean {
    if (this.#quiet && this.#tones.length > 0) return this.#tone();
    const frame = this.playout.next();
    this.#quiet = frame === undefined;
    if (!frame) return this.#held === undefined ? this.#fill() : this.#wait(this.#held);
    if (frame.begins) this.#begin();
    this.#speak(frame);
    for (let more = 1; frame.begins && more < this.ahead; more += 1) {
      const next = this.playout.next();
      if (next) this.#speak(next);
    }
    return true;
  }

  /** Sends a frame of the hold sound, which does not count as speech of the agent. */
  #wait(held: number): false {
    const sound = HOLD();
    this.#send(sound[held % sound.length]!);
    this.#held = held + 1;
    return false;
  }

  /** Sends the last, partly filled piece, padded with silence. */
  #fill(): false {
    while (this.#piece.length > 0) this.#flush(new Int16Array(this.#frame.length));
    return false;
  }

  /** Frames sent at once at the beginning of an utterance. */
  get ahead(): number {
    return (this.format.ahead ?? AHEAD) + this.#frames;
  }

  /** Whether all frames of speech have been sent. */
  get hasLeft(): boolean {
    return this.#piece.length === 0;
  }

  /** Drops frames that have not been sent. */
  drop(): void {
    this.#piece = [];
  }

  #tone(): true {
    const samples = this.#tones.shift()!;
    this.#speak({ samples, begins: false });
    if (this.#tones.length === 0) this.pressed();
    return true;
  }

  #begin(): void {
    this.#resampling = new Resampling(PLAYOUT_RATE, this.format.rate);
    this.#filled = 0;
  }

  #speak({ samples, utterance }: PlayoutFrame): void {
    this.#utterance = utterance;
    this.said(samples);
    this.#send(samples);
  }

  #send(samples: Int16Array): void {
    const made = this.#resampling.push(samples);
    for (let from = 0; from < made.length;) {
      const part = made.subarray(from, from + this.#frame.length - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === this.#frame.length) this.#flush(this.#frame);
    }
  }

  #flush(frame: Int16Array): void {
    this.#filled = 0;
    this.#piece.push(this.#codec.encode(frame));
    if (this.#piece.length === this.#frames) this.send(joined(this.#piece.splice(0)), this.#utterance);
  }
}
