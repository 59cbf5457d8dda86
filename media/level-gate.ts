/**
 * Tells the user's voice from background by its loudness: learns during a call how loud this user and the room are,
 * and takes a far quieter voice for background: a television, or somebody at the next table.
 *
 * Levels are decibels of full scale, over up to 200 ms and without the room's noise. Rules: until the user has been
 * heard for long enough, every voice is the user's; a voice that turns out to be loud enough has been the user's from its
 * beginning; nothing is learnt while the agent speaks, as the microphone may hear it. A user who moves away from the
 * microphone is heard again after some seconds of speech: background while the agent listens lowers the expected
 * level, until a voice as loud as before resets it. A level learnt from a first sentence alone is given up sooner.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';

/** Owner of the voice that is heard. */
export type Whose = 'user' | 'background';

/** A voice this far below the user's is somebody else's, in decibels; to change sides it must pass the limit by the hysteresis. */
const FAR_DB = 12;
const HYSTERESIS_DB = 2.5;

const FRAME_SECONDS = DETECTOR_FRAME / RECOGNITION_RATE;
const framesIn = (seconds: number): number => Math.ceil(seconds / FRAME_SECONDS);

/** Frames over which a level is measured, and frames that a detector needs to notice a voice. */
const WINDOW = framesIn(0.2);
const NOTICED = 2;
/** Frames without anything as loud as the user, after which the voice is somebody else's. */
const LEFT_OFF = framesIn(0.8);
/** Shortest voice to learn loudness from. */
const LEAST = framesIn(0.3);
/** Number of stretches of voice that define the user's level. */
const STRETCHES = 5;
/**
 * Amounts of voice that make the user known, and how much a second of background then lowers the level. One short sentence may
 * have been somebody else's, so it is doubted sooner. A quarter of a second of the voice is the silence after it.
 */
const KNOWN = [
  { heard: framesIn(2), driftDb: 0.5 },
  { heard: framesIn(1), driftDb: 3 },
] as const;

/** Noise rises by at most this many decibels a second, so that voices do not count, and falls by this share of the difference each frame. */
const NOISE_UP_DB = 3;
const NOISE_DOWN = 0.3;

const SILENCE_DB = -96;
const decibels = (energy: number): number => Math.max(SILENCE_DB, 10 * Math.log10(energy / 2 ** 30));
const energyOf = (db: number): number => 2 ** 30 * 10 ** (db / 10);

const meanSquare = (frame: Int16Array): number => {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum / frame.length;
};

const median = (values: readonly number[]): number =>
  [...values].sort((one, other) => one - other)[values.length >> 1] ?? SILENCE_DB;

export class LevelGate {
  #whose: Whose | undefined;
  /** Energies of the last frames, and the number of frames of the present voice. */
  readonly #energies: number[] = [];
  #frames = 0;
  #noise: number | undefined;
  /** The loudest level of the present voice, and its frames since it was last as loud as the user. */
  #loudest = SILENCE_DB;
  #low = 0;
  /** Whether the present voice began while the agent was silent, so can be learnt from. */
  #learns = false;
  /** Levels of the user's last stretches of voice, and the frames of all of them so far. */
  #levels: number[] = [];
  #heard = 0;
  #drift = 0;

  /** `listens`: whether the agent is silent. */
  constructor(private readonly listens: () => boolean) {}

  /** Takes the next frame, of DETECTOR_FRAME samples; undefined if there is no voice. */
  push(frame: Int16Array, voiced: boolean): Whose | undefined {
    this.#energies.push(meanSquare(frame));
    if (this.#energies.length > WINDOW) this.#energies.shift();
    if (voiced) this.#hear();
    else if (this.#whose) this.#end();
    if (!voiced) this.#noteNoise(decibels(this.#energies.at(-1) ?? 0));
    return this.#whose;
  }

  #hear(): void {
    if (!this.#whose) this.#begin();
    this.#frames += 1;
    const level = this.#level();
    this.#loudest = Math.max(this.#loudest, level);
    this.#whose = this.#judge(level);
    if (this.#whose === 'background' && this.listens())
      this.#drift += (this.#known?.driftDb ?? 0) * FRAME_SECONDS;
  }

  #begin(): void {
    this.#frames = NOTICED;
    this.#loudest = SILENCE_DB;
    this.#low = 0;
    this.#learns = this.listens();
  }

  /** Level without the noise, as noise raises soft sounds more than loud ones. */
  #level(): number {
    const window = this.#energies.slice(-Math.min(this.#frames, WINDOW));
    const energy = window.reduce((sum, each) => sum + each, 0) / window.length;
    return decibels(Math.max(0, energy - energyOf(this.#noise ?? SILENCE_DB)));
  }

  /** How well the user is known; undefined if not at all. */
  get #known(): (typeof KNOWN)[number] | undefined {
    return KNOWN.find(({ heard }) => this.#heard >= heard);
  }

  #judge(level: number): Whose {
    if (!this.#known) return 'user';
    const least = median(this.#levels) - this.#drift - FAR_DB;
    if (this.#whose !== 'user')
      return level >= least + (this.#whose ? HYSTERESIS_DB : 0) ? 'user' : 'background';
    this.#low = level >= least - HYSTERESIS_DB ? 0 : this.#low + 1;
    if (this.#low < LEFT_OFF) return 'user';
    this.#learn();
    this.#begin();
    return 'background';
  }

  #end(): void {
    if (this.#whose === 'user') this.#learn();
    this.#whose = undefined;
  }

  #learn(): void {
    if (!this.#learns || this.#frames < LEAST) return;
    // Heard only because of the drift: the user has moved, and what was learnt is no longer true.
    const moved = this.#known !== undefined && this.#loudest < median(this.#levels) - FAR_DB;
    this.#levels = [...(moved ? [] : this.#levels), this.#loudest].slice(-STRETCHES);
    this.#heard += this.#frames;
    this.#drift = 0;
  }

  #noteNoise(db: number): void {
    const before = (this.#noise ??= db);
    this.#noise =
      db < before ? before + NOISE_DOWN * (db - before) : Math.min(db, before + NOISE_UP_DB * FRAME_SECONDS);
  }
}
