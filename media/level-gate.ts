/**
 * Tells the user's voice from background by its loudness: learns during a call how loud this user and the room are,
 * and takes a far quieter voice for background: a television, or somebody at the next table.
 *
 * Levels are decibels of full scale, over up to 200 ms and without the room's noise. Rules: until the user has been
 * heard for long enough, every voice is the user's; a voice that turns out to be loud enough has been the user's from its
 * beginning; nothing is learnt while the agent speaks, as the microphone may hear it. In a crowd, where a detector hears
 * voice all the time, a voice ends when it has sunk into the room's, and what rises above that is one. A user who moves away from the
 * microphone is heard again after some seconds of speech: background while the agent listens lowers the expected
 * level, until a voice as loud as before resets it. A level learnt from a first sentence alone is given up sooner.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';
import { RoomLevel } from './room-level.js';

/** Owner of the voice that is heard. */
export type VoiceOwner = 'user' | 'background';

/**
 * A voice this far below the user's is somebody else's, in decibels; to change sides it must pass the limit by the hysteresis. Users
 * raise their voice over the agent's, so while it speaks a voice is somebody else's sooner.
 */
const FAR_DB = { listens: 12, speaks: 9.5 };
const HYSTERESIS_DB = 2.5;
/** How much louder than the room a voice is, in decibels: to be heard on, and to be heard again once it has sunk into it. */
const ABOVE_DB = { stays: 4.5, returns: 6.5 };

const FRAME_SECONDS = DETECTOR_FRAME / RECOGNITION_RATE;
const framesIn = (seconds: number): number => Math.ceil(seconds / FRAME_SECONDS);

/** Frames over which a level is measured, and frames that a detector needs to notice a voice. */
const WINDOW = framesIn(0.2);
const NOTICED = 2;
/** What passes of a silence until a level that is measured over a window has fallen. */
const HALF_WINDOW = WINDOW >> 1;
/** Frames without anything as loud as the user, after which the voice is somebody else's. */
const LEFT_OFF = framesIn(0.8);
/** Frames no louder than the room, after which a voice has sunk into it; one that is louder takes so many back, as crowds have louder moments. */
const SUNK = framesIn(0.4);
const RISEN = 2;
/** A sound that has varied by less than this is no voice in a room, but all that is to be heard: a tone. It sinks into nothing. */
const VARIES_DB = 2;
/** Frames in which a voice that begins softly may become the user's without the hysteresis. */
const RISES = framesIn(0.3);
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
  #whose: VoiceOwner | undefined;
  /** Energies of the last frames, and the number of frames of the present voice. */
  readonly #energies: number[] = [];
  #frames = 0;
  #noise: number | undefined;
  /** The loudest level of the present voice, and its frames since it was last as loud as the user. */
  #loudest = SILENCE_DB;
  #low = 0;
  readonly #room = new RoomLevel();
  /** Frames until the room's level is known again. */
  #unknown = 0;
  /** Frames in which the present voice was no louder than the room; whether what is heard is only the room since then. */
  #sunk = 0;
  #isRoom = false;
  #silent = 0;
  /** Whether the present voice began while the agent was silent, so can be learnt from. */
  #learns = false;
  /** Levels of the user's last stretches of voice, and the frames of all of them so far. */
  #levels: number[] = [];
  #heard = 0;
  #drift = 0;

  /** `listens`: whether the agent is silent. */
  constructor(private readonly listens: () => boolean) {}

  /**
   * Takes the next frame, of DETECTOR_FRAME samples; undefined if there is no voice, or only the room's. `silenced`: as all of it might
   * be the agent's echo.
   */
  push(frame: Int16Array, voiced: boolean, silenced = false): VoiceOwner | undefined {
    this.#energies.push(meanSquare(frame));
    if (this.#energies.length > WINDOW) this.#energies.shift();
    this.#noteRoom(silenced);
    this.#isRoom &&= voiced;
    if (voiced) this.#hear();
    else if (this.#whose) this.#end();
    if (!voiced) this.#noteNoise(decibels(this.#energies.at(-1) ?? 0));
    return this.#whose;
  }

  /** A silenced frame says nothing about the room, nor does a level over it. */
  #noteRoom(silenced: boolean): void {
    this.#unknown = silenced ? WINDOW : Math.max(0, this.#unknown - 1);
    if (this.#unknown === 0 && this.listens()) this.#room.push(decibels(this.#energy(WINDOW)));
  }

  /** Frames of silence at the end of the user's voice, where its level has told the end; otherwise 0. */
  get silent(): number {
    return this.#silent;
  }

  #hear(): void {
    const overRoom = decibels(this.#energy(WINDOW)) - this.#room.db;
    if (this.#isRoom && overRoom < ABOVE_DB.returns) return;
    if (this.#isRoom) this.#emerge();
    else if (!this.#whose) this.#begin();
    this.#frames += 1;
    const level = this.#level();
    this.#loudest = Math.max(this.#loudest, level);
    this.#whose = this.#judge(level);
    this.#sunk = overRoom < ABOVE_DB.stays ? this.#sunk + 1 : Math.max(0, this.#sunk - RISEN);
    if (this.#sunk >= SUNK && this.#loudest >= this.#room.db + VARIES_DB) this.#sink();
    if (this.#whose === 'background' && this.listens())
      this.#drift += (this.#known?.driftDb ?? 0) * FRAME_SECONDS;
  }

  #begin(frames = NOTICED): void {
    this.#frames = frames;
    this.#loudest = SILENCE_DB;
    this.#low = 0;
    this.#sunk = 0;
    this.#isRoom = false;
    this.#silent = 0;
    this.#learns = this.listens();
  }

  /** Mean energy of the last frames. */
  #energy(frames: number): number {
    const window = this.#energies.slice(-Math.min(frames, WINDOW));
    return window.reduce((sum, each) => sum + each, 0) / window.length;
  }

  /** Level of the voice without the noise, as noise raises soft sounds more than loud ones. */
  #level(): number {
    return decibels(Math.max(0, this.#energy(this.#frames) - energyOf(this.#noise ?? SILENCE_DB)));
  }

  /** How well the user is known; undefined if not at all. */
  get #known(): (typeof KNOWN)[number] | undefined {
    return KNOWN.find(({ heard }) => this.#heard >= heard);
  }

  /** The level that is `db` below the user's; -Infinity while they are unknown. */
  #below(db: number): number {
    return this.#known ? median(this.#levels) - this.#drift - db : -Infinity;
  }

  #judge(level: number): VoiceOwner {
    return this.#whose === 'user' ? this.#hearOn(level) : this.#hearOf(level);
  }

  /** VoiceOwner a voice is that begins, or was background so far. */
  #hearOf(level: number): VoiceOwner {
    const turns = this.#whose && this.#frames > RISES ? HYSTERESIS_DB : 0;
    const far = this.listens() ? FAR_DB.listens - turns : FAR_DB.speaks;
    return level >= this.#below(far) ? 'user' : 'background';
  }

  /** VoiceOwner the user's voice is now. */
  #hearOn(level: number): VoiceOwner {
    this.#low = level >= this.#below(FAR_DB.listens + HYSTERESIS_DB) ? 0 : this.#low + 1;
    if (this.#low < LEFT_OFF) return 'user';
    const silent = this.#low + HALF_WINDOW;
    this.#learn();
    this.#begin(RISES);
    this.#silent = silent;
    return 'background';
  }

  /** A voice emerges from those of the room: one of them, unless it is clearly loud enough. */
  #emerge(): void {
    this.#begin(RISES);
    this.#whose = 'background';
  }

  /** The voice has ended in that of the room. */
  #sink(): void {
    this.#end();
    this.#isRoom = true;
    this.#silent = this.#sunk + HALF_WINDOW;
  }

  #end(): void {
    if (this.#whose === 'user') this.#learn();
    this.#whose = undefined;
  }

  #learn(): void {
    if (!this.#learns || this.#frames < LEAST) return;
    // Heard only because of the drift: the user has moved, and what was learnt is no longer true.
    const moved = this.#known !== undefined && this.#loudest < median(this.#levels) - FAR_DB.listens;
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
