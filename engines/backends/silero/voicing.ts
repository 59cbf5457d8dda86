/**
 * Voice or silence, from the probability of voice in each frame: neither a click begins a voice nor a pause between two
 * sounds ends one. A voice that has lasted for long ends with any short pause.
 */

/** Frames in a row of voice that begin one, and of silence that end one; of 32 ms each. */
export interface VoicingFrames {
  readonly begin: number;
  readonly end: number;
  /** Frames after which a voice has lasted for long. */
  readonly long: number;
  /**
   * Evidence that begins a voice in its second frame: the sum of the frames' log odds (natural logarithm), as in a sequential test.
   * Absent: only their number does.
   */
  readonly sure?: number;
}

/** A frame above it is voice. */
const VOICE = 0.5;
/** Of a voice that has lasted for long: only a clear voice goes on, and so many frames end it. */
const LONG = { voice: 0.9, end: 5 } as const;
/** Fewest frames of a voice that begins by its evidence: one alone may be a click. */
const LEAST_SURE = 2;
/** A frame so much below what is voice is silence; in between it is whatever was before. */
const BAND = 0.15;

/** Natural logarithm of the odds that a frame is voice. */
const logOdds = (probability: number): number => Math.log(probability / (1 - probability));

export class Voicing {
  #active = false;
  /** Frames of voice in a row, before it has begun. */
  #risen = 0;
  /** Log odds of these frames together. */
  #evidence = 0;
  /** Frames of the present voice. */
  #lasted = 0;
  #fallen = 0;

  constructor(private readonly patience: VoicingFrames) {}

  /** Takes the next frame's probability; returns whether there is voice after it. */
  push(probability: number): boolean {
    if (this.#active) this.#active = this.#goesOn(probability);
    else this.#active = this.#begins(probability);
    return this.#active;
  }

  /** Frames since the voice was last heard: of the one that has just ended, its silence. */
  get silent(): number {
    return this.#fallen;
  }

  /** What follows counts as a voice of its own, though it goes on. */
  restart(): void {
    this.#lasted = 0;
  }

  #begins(probability: number): boolean {
    const isVoice = probability > VOICE;
    this.#risen = isVoice ? this.#risen + 1 : 0;
    this.#evidence = isVoice ? this.#evidence + logOdds(probability) : 0;
    if (this.#risen < this.patience.begin && !this.#isSure) return false;
    this.#risen = 0;
    this.#evidence = 0;
    this.#lasted = 0;
    this.#fallen = 0;
    return true;
  }

  get #isSure(): boolean {
    return this.#risen >= LEAST_SURE && this.#evidence >= (this.patience.sure ?? Infinity);
  }

  #goesOn(probability: number): boolean {
    this.#lasted += 1;
    const isLong = this.#lasted > this.patience.long;
    const voice = isLong ? LONG.voice : VOICE;
    const isSilent = probability <= voice - BAND;
    if (probability > voice) this.#fallen = 0;
    else if (isSilent || this.#fallen > 0) this.#fallen += 1;
    return !isSilent || this.#fallen < (isLong ? LONG.end : this.patience.end);
  }
}
