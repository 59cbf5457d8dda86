/** The way from a caller's mouth to the network: what else the microphone picks up, and what is lost. */
import { gain, RATE, scaled, wordsOf, mixed, bytesOf } from '../audio/level.js';
import { randomFrom } from '../random.js';
import { FRAME_MS } from './timing.js';
import { microphoneEncoder, SILENCE } from './utterance.js';

/** 20 ms of what is said: as a packet, and as 16-bit samples at RATE. */
export interface Frame {
  readonly packet: Buffer;
  readonly pcm: Buffer;
}

export interface Way {
  /** The next packet to send, given what the caller says in it; undefined: it is lost. */
  packetOf(said: Frame | undefined): Buffer | undefined;
  /** 20 ms of the agent's voice that have just been heard. */
  hear(pcm: Uint8Array): void;
}

const SAMPLES = (RATE * FRAME_MS) / 1000;

/** The samples of the frame with that number; silence behind the end. */
export function frameOf(pcm: Buffer, index: number): Buffer {
  const frame = Buffer.alloc(SAMPLES * 2);
  pcm.copy(frame, 0, index * SAMPLES * 2, (index + 1) * SAMPLES * 2);
  return frame;
}

/** Nothing but what is said, and all of it. */
export const DIRECT: Way = { packetOf: (said) => said?.packet ?? SILENCE, hear: () => undefined };

/** Loses this share of the packets, each by chance alone; the same ones for the same seed. */
export function losing(share: number, seed: number): Way {
  const random = randomFrom(seed);
  return { ...DIRECT, packetOf: (said) => (random() < share ? undefined : DIRECT.packetOf(said)) };
}

/** In a room that sounds like that, over and over, while the caller says nothing; what is said has the room in it already. */
export function inRoom(packets: readonly Buffer[]): Way {
  let next = 0;
  const sound = (): Buffer => packets[next++ % packets.length] ?? SILENCE;
  return { ...DIRECT, packetOf: (said) => said?.packet ?? sound() };
}

/** From the loudspeaker to the microphone: what comes straight, and off three walls. */
const REFLECTIONS = [
  { ms: 2, share: 1 },
  { ms: 11, share: 0.5 },
  { ms: 24, share: 0.35 },
  { ms: 43, share: 0.2 },
] as const;
const REFLECTED = Math.sqrt(REFLECTIONS.reduce((sum, { share }) => sum + share ** 2, 0));
/** A small loudspeaker and a room take most of what is above that. */
const PASSED_HZ = 3500;
/** Frames that wait in the caller's player before they sound. */
const PLAYER_FRAMES = 4;
/** More than these came in a burst: the player drops what is too old. */
const MOST_FRAMES = 25;

/** The agent's voice comes back into the microphone, so many dB quieter than it was sent (a negative number). */
export class Speakerphone implements Way {
  readonly #encoder = microphoneEncoder();
  readonly #player: Int16Array[] = [];
  /** What has sounded of late, as long as the latest reflection. */
  #sounded = new Int16Array(Math.ceil((RATE * REFLECTIONS.at(-1)!.ms) / 1000));
  #plays = false;
  #low = 0;

  constructor(private readonly db: number) {}

  hear(pcm: Uint8Array): void {
    this.#player.push(wordsOf(pcm));
    if (this.#player.length > MOST_FRAMES) this.#player.shift();
  }

  packetOf(said: Frame | undefined): Buffer {
    const own = said === undefined ? new Int16Array(SAMPLES) : wordsOf(said.pcm);
    return Buffer.from(this.#encoder.encode(Buffer.from(bytesOf(mixed(own, this.#echo())))));
  }

  #next(): Int16Array {
    this.#plays = this.#plays ? this.#player.length > 0 : this.#player.length >= PLAYER_FRAMES;
    return (this.#plays ? this.#player.shift() : undefined) ?? new Int16Array(SAMPLES);
  }

  #echo(): Int16Array {
    const [before, sounds] = [this.#sounded, this.#next()];
    const whole = new Int16Array(before.length + SAMPLES);
    whole.set(before);
    whole.set(sounds, before.length);
    this.#sounded = whole.slice(SAMPLES);
    const share = 1 - Math.exp((-2 * Math.PI * PASSED_HZ) / RATE);
    const room = sounds.map((_, index) => {
      const sum = REFLECTIONS.reduce(
        (total, { ms, share: of }) =>
          total + of * whole[before.length + index - Math.round((RATE * ms) / 1000)]!,
        0,
      );
      this.#low += share * (sum / REFLECTED - this.#low);
      return this.#low;
    });
    return scaled(room, gain(this.db));
  }
}
