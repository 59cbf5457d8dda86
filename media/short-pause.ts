/**
 * A short pause: the first tenth of a second of silence in a voice, long before VAD reports its end. Most of them become an end,
 * so transcription starts while that is being confirmed.
 */

/** A frame this far below the loudest of the voice is silence, in decibels: more than between a vowel and the softest sound of a word. */
const QUIET_DB = 28;
const QUIET = 10 ** (-QUIET_DB / 10);
/** Frames of 32 ms that make a short pause; closures within words are shorter. */
const FRAMES = 3;

const energyOf = (frame: Int16Array): number => {
  let sum = 0;
  for (const sample of frame) sum += sample * sample;
  return sum;
};

export class ShortPause {
  #loudest = 0;
  #quiet = 0;

  /** Takes the next frame of a voice, of DETECTOR_FRAME samples; returns whether there is a short pause now. */
  push(frame: Int16Array): boolean {
    const energy = energyOf(frame);
    this.#loudest = Math.max(this.#loudest, energy);
    this.#quiet = energy < this.#loudest * QUIET ? this.#quiet + 1 : 0;
    return this.#quiet >= FRAMES;
  }

  /** Frames of silence at the end of the voice so far. */
  get frames(): number {
    return this.#quiet;
  }

  /** The voice has ended: the next one may be softer. */
  reset(): void {
    this.#loudest = 0;
    this.#quiet = 0;
  }
}
