/**
 * Voice activity of the user, and the audio around it in windows. Time is counted in samples, so what
 * the network leaves out must be filled before it comes here.
 */
import { bytesOf, RECOGNITION_RATE } from '../contracts/audio.js';
import type { Report } from './wire.js';

/** Tells voice from silence, frame by frame; keeps its own state. */
export interface VoiceDetector {
  /** DETECTOR_FRAME samples at 16 kHz. */
  push(frame: Int16Array): boolean;
  /** Gives it back. */
  release(): void;
}

export const DETECTOR_FRAME = 512;

const samplesIn = (ms: number): number => (ms * RECOGNITION_RATE) / 1000;

/** Audio kept before voice is noticed: as long as the detector needs to be sure, and a little more. */
const BEFORE = samplesIn(480);
const WINDOW = samplesIn(200);

const at = (samples: number): number => Math.round((samples * 1000) / RECOGNITION_RATE);

export class VadWindows {
  #active = false;
  #heard = 0;
  readonly #frame = new Int16Array(DETECTOR_FRAME);
  #filled = 0;
  /** Before voice: what has just been heard. While it lasts: the window that fills. */
  #kept: Int16Array[] = [];
  #keptSamples = 0;

  constructor(
    private readonly detector: VoiceDetector,
    private readonly report: (report: Report) => void,
  ) {}

  /** Any length, 16 kHz. */
  push(samples: Int16Array): void {
    for (let from = 0; from < samples.length;) {
      const part = samples.subarray(from, from + DETECTOR_FRAME - this.#filled);
      this.#frame.set(part, this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === DETECTOR_FRAME) this.#listen(this.#frame.slice());
    }
  }

  /** Whatever was being said is over. */
  stop(): void {
    if (this.#active) this.#end();
    this.detector.release();
  }

  #listen(frame: Int16Array): void {
    this.#filled = 0;
    this.#heard += frame.length;
    this.#keep(frame);
    const active = this.detector.push(frame);
    if (active && !this.#active) this.#begin();
    if (this.#active && this.#keptSamples >= WINDOW) this.#flush();
    if (!active && this.#active) this.#end();
    if (!this.#active) this.#forget();
  }

  #keep(frame: Int16Array): void {
    this.#kept.push(frame);
    this.#keptSamples += frame.length;
  }

  #forget(): void {
    while (this.#keptSamples > BEFORE) this.#keptSamples -= this.#kept.shift()?.length ?? 0;
  }

  #begin(): void {
    this.#active = true;
    this.report({ on: 'speech', active: true, at: at(this.#heard) });
    this.#flush();
  }

  #end(): void {
    this.#flush();
    this.#active = false;
    this.report({ on: 'speech', active: false, at: at(this.#heard) });
  }

  #flush(): void {
    if (this.#keptSamples === 0) return;
    const window = new Int16Array(this.#keptSamples);
    let filled = 0;
    for (const frame of this.#kept) {
      window.set(frame, filled);
      filled += frame.length;
    }
    this.report({ on: 'audio', pcm: bytesOf(window), at: at(this.#heard - this.#keptSamples) });
    this.#kept = [];
    this.#keptSamples = 0;
  }
}
