/**
 * Tells the user's voice from others by its loudness: learns within a call how loud this user is and how loud the room,
 * and takes a voice far below for one in the background, a television or somebody at the next table.
 *
 * Levels are decibels of full scale, over up to 200 ms and without the room's noise. Rules: until the user has been
 * heard for long enough every voice is the user's; a voice that turns out to be loud enough has been the user's from its
 * beginning; while the agent speaks nothing is learnt, as the microphone may hear it. Whoever moves away from the
 * microphone is heard again after some seconds of speech: what is in the background while the agent listens lowers the
 * level, until the user is heard as loud as before. What was learnt of a first sentence alone is given up sooner.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';

/** Whose voice is heard. */
export type Whose = 'user' | 'background';

/** A voice so far below the user's is somebody else's, in decibels; to be taken for another it has to pass it by so much. */
const FAR_DB = 12;
const HYSTERESIS_DB = 2.5;

const FRAME_SECONDS = DETECTOR_FRAME / RECOGNITION_RATE;
const framesIn = (seconds: number): number => Math.ceil(seconds / FRAME_SECONDS);

/** Frames over which a level is taken, and those that a detector needs to notice a voice. */
const WINDOW = framesIn(0.2);
const NOTICED = 2;
/** So long nothing as loud as the user: somebody else goes on. */
const LEFT_OFF = framesIn(0.8);
/** What is shorter says nothing about loudness. */
const LEAST = framesIn(0.3);
/** Stretches of voice that the user is known by. */
const STRETCHES = 5;
/**
 * By how much voice the user is known, and how much a second of background lowers the level then. One short sentence may have
 * been somebody else's, so it is doubted sooner: of the voice a quarter of a second is the silence behind it.
 */
const KNOWN = [
  { heard: framesIn(2), driftDb: 0.5 },
  { heard: framesIn(1), driftDb: 3 },
] as const;

/** Noise follows down at once, and up by so many decibels a second: voices do not count. */
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
  /** Energies of the last frames, and how many belong to the present voice. */
  readonly #energies: number[] = [];
  #frames = 0;
  #noise: number | undefined;
  /** Of the present voice: its loudest moment, and how long it has not been as loud as the user. */
  #loudest = SILENCE_DB;
  #low = 0;
  /** Whether the present voice is one to learn from. */
  #learns = false;
  /** The user's last stretches of voice, and how long all were. */
  #levels: number[] = [];
  #heard = 0;
  #drift = 0;

  /** `listens`: whether the agent says nothing. */
  constructor(private readonly listens: () => boolean) {}

  /** Takes the next frame, of DETECTOR_FRAME samples; undefined where nobody is heard. */
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

  /** Without the noise, as noise lifts what is soft more than what is loud. */
  #level(): number {
    const window = this.#energies.slice(-Math.min(this.#frames, WINDOW));
    const energy = window.reduce((sum, each) => sum + each, 0) / window.length;
    return decibels(Math.max(0, energy - energyOf(this.#noise ?? SILENCE_DB)));
  }

  /** How well the user is known; undefined where not at all. */
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
    // Heard for the drift only: the user has moved, and what was learnt is no more true.
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
