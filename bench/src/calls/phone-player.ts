/** A telephone's playback of the agent's voice, frame by frame, as it arrives. */
import { samplesOf } from '../audio/mulaw.js';
import { FRAME_MS } from './timing.js';

/** RMS of 16-bit samples; less is silence. */
const AUDIBLE_RMS = 150;
/** Nothing for so long is a pause. */
const PAUSE_MS = 400;

function isAudible(mulaw: Uint8Array): boolean {
  const samples = samplesOf(mulaw);
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return energy > AUDIBLE_RMS ** 2 * Math.max(1, samples.length);
}

export class PhonePlayer {
  /** Frames so far; of them those that came when everything before them had been played. */
  total = 0;
  late = 0;
  /** Instants at which frames came that can be heard: the first since it was forgotten, and the last. */
  first: number | undefined;
  last = 0;
  /** When what has come is played. */
  #end = 0;

  /** A frame of µ-law that came at that instant. */
  take(mulaw: Uint8Array, at: number): void {
    const gap = at - this.#end;
    this.total += 1;
    if (gap > 0 && gap < PAUSE_MS) this.late += 1;
    this.#end = Math.max(at, this.#end) + FRAME_MS;
    if (!isAudible(mulaw)) return;
    this.first ??= at;
    this.last = at;
  }

  /** Drops the frames not played yet. Returns when playback fell silent. */
  clear(at: number): number {
    const silent = Math.min(at, this.#end);
    this.#end = 0;
    return silent;
  }

  forget(): void {
    this.first = undefined;
  }
}
