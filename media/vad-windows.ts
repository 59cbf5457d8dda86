/**
 * Voice activity, of the user or in the background, and the audio around it in windows. Time is counted in samples, so what
 * the network leaves out must be filled before it comes here.
 *
 * Voice may be listened for in another sound than the windows have: of a line that returns the agent's voice, in what is left without
 * it. What is taken out there would leave holes in a soft caller's words.
 */
import { bytesOf, RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';
import { LevelGate, type Whose } from './level-gate.js';
import { Lull } from './lull.js';
import type { Report } from './wire.js';

/** Tells voice from silence, frame by frame; keeps its own state. */
export interface VoiceDetector {
  /** DETECTOR_FRAME samples at 16 kHz. */
  push(frame: Int16Array): boolean;
  /** Gives it back. */
  release(): void;
}

const samplesIn = (ms: number): number => (ms * RECOGNITION_RATE) / 1000;

/** Audio kept before voice is noticed: as long as the detector needs to be sure, and a little more. */
const BEFORE = samplesIn(480);
const WINDOW = samplesIn(200);

/** Silence that every detector has heard when it takes a voice to be over. */
const LEAST_SILENCE_MS = 256;

const at = (samples: number): number => Math.round((samples * 1000) / RECOGNITION_RATE);

export class VadWindows {
  readonly #gate: LevelGate;
  /** Whose voice is heard now. */
  #whose: Whose | undefined;
  readonly #lull = new Lull();
  #lulls = false;
  #heard = 0;
  /** As it came, and what voice is listened for in. */
  readonly #frame = new Int16Array(DETECTOR_FRAME);
  readonly #watched = new Int16Array(DETECTOR_FRAME);
  #filled = 0;
  /** Before voice: what has just been heard. While it lasts: the window that fills. */
  #kept: Int16Array[] = [];
  #keptSamples = 0;

  constructor(
    private readonly detector: VoiceDetector,
    private readonly report: (report: Report) => void,
    agentListens: () => boolean,
  ) {
    this.#gate = new LevelGate(agentListens);
  }

  /** Any length, 16 kHz. `watched`: what voice is listened for in, of the same length. */
  push(samples: Int16Array, watched = samples): void {
    for (let from = 0; from < samples.length;) {
      const until = from + DETECTOR_FRAME - this.#filled;
      const part = samples.subarray(from, until);
      this.#frame.set(part, this.#filled);
      this.#watched.set(watched.subarray(from, until), this.#filled);
      this.#filled += part.length;
      from += part.length;
      if (this.#filled === DETECTOR_FRAME) this.#listen(this.#frame.slice(), this.#watched.slice());
    }
  }

  /** Whatever was being said is over. */
  stop(): void {
    this.#turn(undefined);
    this.detector.release();
  }

  #listen(frame: Int16Array, watched: Int16Array): void {
    this.#filled = 0;
    this.#heard += frame.length;
    this.#keep(frame);
    const whose = this.#gate.push(watched, this.detector.push(watched));
    if (whose) this.#turn(whose);
    if (this.#whose && this.#keptSamples >= WINDOW) this.#flush();
    if (whose === 'user') this.#note(this.#lull.push(watched));
    if (!whose) this.#turn(undefined);
    if (!whose) this.#forget();
  }

  /** What was said before a lull is there when it is told. */
  #note(lulls: boolean): void {
    if (lulls === this.#lulls) return;
    this.#lulls = lulls;
    if (lulls) this.#flush();
    this.report({ on: 'lull', active: lulls });
  }

  #keep(frame: Int16Array): void {
    this.#kept.push(frame);
    this.#keptSamples += frame.length;
  }

  #forget(): void {
    while (this.#keptSamples > BEFORE) this.#keptSamples -= this.#kept.shift()?.length ?? 0;
  }

  /** What was in the background and turns out to be the user was it from its beginning: it has no end in between. */
  #turn(whose: Whose | undefined): void {
    const before = this.#whose;
    if (whose === before) return;
    this.#whose = whose;
    const silentMs = this.#silentMs;
    this.#lull.reset();
    this.#lulls = false;
    if (before && !(before === 'background' && whose)) {
      this.#flush();
      this.report({ on: 'speech', active: false, silentMs, at: at(this.#heard) });
    }
    if (!whose) return;
    this.report({ on: 'speech', active: true, background: whose === 'background', at: at(this.#heard) });
    this.#flush();
  }

  /** How long the voice has been silent when it is taken to be over: the frame that tells is silent too. In noise nobody can tell. */
  get #silentMs(): number {
    return Math.max(LEAST_SILENCE_MS, at((this.#lull.frames + 1) * DETECTOR_FRAME));
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
