/**
 * Voice activity, of the user or in the background, and the audio around it in windows. Time is counted in samples, so
 * gaps of the network must be filled before.
 *
 * VAD may listen to other audio than the windows contain: on a line that returns the agent's voice, to audio with that
 * echo removed. Removing it from the windows too would leave holes in a soft caller's words.
 */
import { bytesOf, RECOGNITION_RATE } from '../contracts/audio.js';
import { DETECTOR_FRAME } from './detector-frame.js';
import { LevelGate, type VoiceOwner } from './level-gate.js';
import { ShortPause } from './short-pause.js';
import type { Report } from './wire.js';

/** Tells voice from silence, frame by frame; keeps its own state. */
export interface VoiceDetector {
  /** DETECTOR_FRAME samples at 16 kHz. */
  push(frame: Int16Array): boolean;
}

const samplesIn = (ms: number): number => (ms * RECOGNITION_RATE) / 1000;

/** Audio kept from before voice is noticed: a little more than the detector needs to be sure. */
const BEFORE = samplesIn(480);
const WINDOW = samplesIn(200);

/** Frames of nothing, a second, after which a detector learns nothing by another one: most of what silent calls cost is spared. */
const SETTLED = 32;
/** A thousandth of full scale, -60 dB: a peak that holds no word for a recogniser either. */
const NOTHING = 33;

/** Silence that every detector has heard when it reports the end of a voice. */
const LEAST_SILENCE_MS = 256;

/** Whether no sample is louder. */
function isWithin(frame: Int16Array, peak: number): boolean {
  for (let at = 0; at < frame.length; at++) if (Math.abs(frame[at]!) > peak) return false;
  return true;
}

const at = (samples: number): number => Math.round((samples * 1000) / RECOGNITION_RATE);

export class VadWindows {
  readonly #gate: LevelGate;
  /** Owner of the present voice. */
  #whose: VoiceOwner | undefined;
  readonly #pause = new ShortPause();
  #isPausing = false;
  #heard = 0;
  /** Frames of nothing since the last sound. */
  #nothing = 0;
  /** What the detector said last. */
  #wasVoiced = false;
  /** The frame for the windows, which keep it, and the one for VAD. */
  #frame = new Int16Array(DETECTOR_FRAME);
  readonly #watched = new Int16Array(DETECTOR_FRAME);
  #filled = 0;
  /** Before voice: the latest audio. During voice: the window being filled. */
  #kept: Int16Array[] = [];
  #keptSamples = 0;

  constructor(
    private readonly detector: VoiceDetector,
    private readonly report: (report: Report) => void,
    agentListens: () => boolean,
  ) {
    this.#gate = new LevelGate(agentListens);
  }

  /** Takes audio of any length, 16 kHz. `watched`: the audio for VAD, of the same length. */
  push(samples: Int16Array, watched = samples): void {
    for (let from = 0; from < samples.length;) {
      const until = Math.min(samples.length, from + DETECTOR_FRAME - this.#filled);
      this.#frame.set(samples.subarray(from, until), this.#filled);
      this.#watched.set(watched.subarray(from, until), this.#filled);
      this.#filled += until - from;
      from = until;
      if (this.#filled === DETECTOR_FRAME) this.#listen(this.#frame, this.#watched);
    }
  }

  get isVoiced(): boolean {
    return this.#whose !== undefined;
  }

  /** Ends the present voice. */
  stop(): void {
    this.#turn(undefined);
  }

  #listen(frame: Int16Array, watched: Int16Array): void {
    this.#filled = 0;
    this.#frame = new Int16Array(DETECTOR_FRAME);
    this.#heard += frame.length;
    this.#keep(frame);
    this.#nothing = isWithin(watched, NOTHING) ? this.#nothing + 1 : 0;
    const silenced = this.#nothing > 0 && isWithin(watched, 0) && !isWithin(frame, 0);
    const whose = this.#gate.push(watched, this.#isVoiced(watched), silenced);
    if (whose) this.#turn(whose);
    if (this.#whose && this.#keptSamples >= WINDOW) this.#flush();
    if (whose === 'user') this.#note(this.#pause.push(watched));
    if (!whose) this.#turn(undefined);
    if (!whose) this.#forget();
  }

  /** A voice that goes on is heard to its end, however long nothing comes. */
  #isVoiced(watched: Int16Array): boolean {
    if (this.#nothing > SETTLED && !this.#wasVoiced) return false;
    return (this.#wasVoiced = this.detector.push(watched));
  }

  /** Reports a change of the short pause; flushes the audio before it first. */
  #note(isPausing: boolean): void {
    if (isPausing === this.#isPausing) return;
    this.#isPausing = isPausing;
    if (isPausing) this.#flush();
    this.report({ on: 'shortPause', active: isPausing });
  }

  #keep(frame: Int16Array): void {
    this.#kept.push(frame);
    this.#keptSamples += frame.length;
  }

  #forget(): void {
    while (this.#keptSamples > BEFORE) this.#keptSamples -= this.#kept.shift()?.length ?? 0;
  }

  /** Changes the owner of the voice. Background that turns out to be the user was the user from its beginning, so no end is reported. */
  #turn(whose: VoiceOwner | undefined): void {
    const before = this.#whose;
    if (whose === before) return;
    this.#whose = whose;
    const silentMs = this.#silentMs;
    this.#pause.reset();
    this.#isPausing = false;
    if (before && !(before === 'background' && whose)) {
      this.#flush();
      this.report({ on: 'speech', active: false, silentMs, at: at(this.#heard) });
    }
    if (!whose) return;
    this.report({ on: 'speech', active: true, background: whose === 'background', at: at(this.#heard) });
    this.#flush();
  }

  /** Silence at the end of the voice, counting the frame that ends it. In noise only its least is known. */
  get #silentMs(): number {
    const frames = Math.max(this.#pause.frames + 1, this.#gate.silent);
    return Math.max(LEAST_SILENCE_MS, at(frames * DETECTOR_FRAME));
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
