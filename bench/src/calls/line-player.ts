/** Playback of the agent's voice at a caller's end of a line, piece by piece, as it arrives. */
import type { LineAudio } from '../audio/line-audio.js';

/** RMS of 16-bit samples; less is silence. */
const AUDIBLE_RMS = 150;
/** Nothing for so long is a pause. */
const PAUSE_MS = 400;

function isAudible(samples: Int16Array): boolean {
  const energy = samples.reduce((sum, sample) => sum + sample * sample, 0);
  return energy > AUDIBLE_RMS ** 2 * Math.max(1, samples.length);
}

export class LinePlayer {
  /** Pieces so far; of them those that came when everything before them had been played. */
  total = 0;
  late = 0;
  /** Instants at which pieces came that can be heard: the first since it was forgotten, and the last. */
  first: number | undefined;
  last = 0;
  /** When what has come is played. */
  #end = 0;

  constructor(private readonly audio: Pick<LineAudio, 'rate' | 'read'>) {}

  /** A piece that came at that instant. */
  take(piece: Uint8Array, at: number): void {
    const samples = this.audio.read(piece);
    const gap = at - this.#end;
    this.total += 1;
    if (gap > 0 && gap < PAUSE_MS) this.late += 1;
    this.#end = Math.max(at, this.#end) + (samples.length * 1000) / this.audio.rate;
    if (!isAudible(samples)) return;
    this.first ??= at;
    this.last = at;
  }

  /** Drops what was not played yet. Returns when playback fell silent. */
  clear(at: number): number {
    const silent = Math.min(at, this.#end);
    this.#end = 0;
    return silent;
  }

  forget(): void {
    this.first = undefined;
  }
}
