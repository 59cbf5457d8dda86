/**
 * The agent's speech in frames of 20 ms: one queue of utterances, in order, with the amount of each that has been sent.
 *
 * Invariants: each utterance is reported as ended exactly once, when its last frame was sent or it is cleared;
 * speech that is paused or cleared midway ends within the next frame, softly, and `resume` continues where a pause began, so that
 * nothing is lost; nothing is sent during silence, except for a short tail of silence that keeps the other side's loss concealment from guessing.
 */
import { PLAYOUT_RATE, samplesOf } from '../contracts/audio.js';

export const FRAME_MS = 20;
export const FRAME_SAMPLES = (PLAYOUT_RATE * FRAME_MS) / 1000;

/** Frames of silence after speech; frames between two reports. */
const TAIL_FRAMES = 5;
const REPORT_FRAMES = 5;

/**
 * Frames of the fade where speech is paused or cleared, and of that where it resumes; an interrupting user waits for the first. Its 20 ms
 * leave nothing of a click (ops/adr/0090-shorter-holds.md).
 */
const FADE_FRAMES = { out: 1, in: 2 };

/** Gain at a part (0 to 1) of the fade-in: half a cosine, flat at both ends, as a corner is heard as a click. */
const gainAt = (part: number): number => (1 - Math.cos(Math.PI * part)) / 2;

/** Fades samples from one part of the fade-in to another. */
const ramped = (samples: Int16Array, from: number, to: number): Int16Array =>
  samples.map((sample, at) => Math.round(sample * gainAt(from + ((to - from) * at) / samples.length)));

const SILENCE = new Int16Array(FRAME_SAMPLES);

export type OnPlayed = (utterance: number, ms: number, ended: boolean) => void;

interface Utterance {
  readonly number: number;
  readonly chunks: Int16Array[];
  /** Samples of the first chunk that have been sent. */
  offset: number;
  frames: number;
  finished: boolean;
}

export interface PlayoutFrame {
  readonly samples: Int16Array;
  /** Whether it is the first one after silence. */
  readonly begins: boolean;
  /** The utterance that it is of; undefined for silence, and for the soft end of speech that was stopped. */
  readonly utterance?: number;
}

export class Playout {
  #queue: Utterance[] = [];
  #paused = false;
  /** While paused: a faded copy of the speech that `resume` continues with. Otherwise the faded end of cleared speech. */
  #fading: Int16Array[] = [];
  /** Frames that are still to be faded in. */
  #rising = 0;
  #tail = 0;
  #silent = true;
  /** The utterance of the last frame that was taken from the queue. */
  #speaking = 0;

  constructor(private readonly played: OnPlayed) {}

  play(number: number, pcm: Uint8Array): void {
    const last = this.#queue.at(-1);
    const utterance = last?.number === number ? last : this.#begin(number);
    utterance.chunks.push(samplesOf(pcm));
  }

  #begin(number: number): Utterance {
    const utterance = { number, chunks: [], offset: 0, frames: 0, finished: false };
    this.#queue.push(utterance);
    return utterance;
  }

  finish(number: number): void {
    const utterance = this.#queue.find((each) => each.number === number) ?? this.#begin(number);
    utterance.finished = true;
  }

  /** Whether speech is playing or queued. */
  get isBusy(): boolean {
    return this.#queue.length > 0;
  }

  pause(): void {
    if (!this.#paused && this.#isSounding) this.#fading = this.#fadedOut();
    this.#paused = true;
  }

  resume(): void {
    if (this.#paused && (this.#queue[0]?.frames ?? 0) > 0) this.#rising = FADE_FRAMES.in;
    this.#go();
  }

  #go(): void {
    this.#paused = false;
    this.#fading = [];
  }

  clear(): void {
    const cleared = this.#queue;
    const end = !this.#paused && this.#isSounding ? this.#fadedOut() : [];
    this.#queue = [];
    this.#rising = 0;
    this.#go();
    this.#fading = end;
    for (const { number, frames } of cleared) this.played(number, frames * FRAME_MS, true);
  }

  /** The frame to send now; undefined if there is none. Called every FRAME_MS. */
  next(): PlayoutFrame | undefined {
    const faded = this.#fading.shift();
    const samples = faded ?? (this.#paused ? undefined : this.#takeRising());
    if (samples) this.#tail = TAIL_FRAMES;
    else if (this.#tail-- <= 0) {
      this.#silent = true;
      return undefined;
    }
    const begins = this.#silent;
    this.#silent = false;
    return { samples: samples ?? SILENCE, begins, ...(samples && !faded && { utterance: this.#speaking }) };
  }

  /** Whether the last frame was speech, in the middle of an utterance. */
  get #isSounding(): boolean {
    return this.#tail === TAIL_FRAMES && (this.#queue[0]?.frames ?? 0) > 0;
  }

  /** A copy of the next samples of the current utterance, faded out, in frames padded with silence. They stay in the queue. */
  #fadedOut(): Int16Array[] {
    const length = FADE_FRAMES.out * FRAME_SAMPLES;
    const { chunks = [], offset = 0 } = this.#queue[0] ?? {};
    const ahead = new Int16Array(length);
    let filled = -offset;
    for (const chunk of chunks) {
      const part = chunk.subarray(Math.max(0, -filled), length - filled);
      ahead.set(part, Math.max(0, filled));
      filled += chunk.length;
      if (filled >= length) break;
    }
    const soft = ramped(ahead, 1 - this.#rising / FADE_FRAMES.in, 0);
    return Array.from({ length: Math.ceil(Math.min(filled, length) / FRAME_SAMPLES) }, (_, at) => {
      const frame = new Int16Array(FRAME_SAMPLES);
      frame.set(soft.subarray(at * FRAME_SAMPLES, (at + 1) * FRAME_SAMPLES));
      return frame;
    });
  }

  #takeRising(): Int16Array | undefined {
    const samples = this.#take();
    if (!samples || this.#rising === 0) return samples;
    const from = 1 - this.#rising-- / FADE_FRAMES.in;
    return ramped(samples, from, from + 1 / FADE_FRAMES.in);
  }

  #take(): Int16Array | undefined {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const samples = this.#frameOf(first);
      this.#speaking = first.number;
      if (samples) return samples;
      if (!first.finished) return undefined;
      this.#queue.shift();
      this.played(first.number, first.frames * FRAME_MS, true);
    }
    return undefined;
  }

  /** The last frame of a finished utterance is padded with silence; in an unfinished one less than a frame waits for more. */
  #frameOf(utterance: Utterance): Int16Array | undefined {
    const { chunks, finished } = utterance;
    const [first] = chunks;
    if (!first) return undefined;
    if (first.length - utterance.offset >= FRAME_SAMPLES) {
      const frame = first.subarray(utterance.offset, utterance.offset + FRAME_SAMPLES);
      return this.#advance(utterance, FRAME_SAMPLES, frame);
    }
    const waiting = chunks.reduce((sum, { length }) => sum + length, -utterance.offset);
    if (waiting < FRAME_SAMPLES && !finished) return undefined;
    const frame = new Int16Array(FRAME_SAMPLES);
    let filled = 0;
    for (const chunk of chunks) {
      const from = chunk === first ? utterance.offset : 0;
      const part = chunk.subarray(from, from + FRAME_SAMPLES - filled);
      frame.set(part, filled);
      filled += part.length;
    }
    return this.#advance(utterance, Math.min(waiting, FRAME_SAMPLES), frame);
  }

  #advance(utterance: Utterance, samples: number, frame: Int16Array): Int16Array {
    utterance.offset += samples;
    while (utterance.chunks[0] && utterance.offset >= utterance.chunks[0].length)
      utterance.offset -= utterance.chunks.shift()?.length ?? 0;
    utterance.frames += 1;
    // The first frame at once: it says when the answer began, and a call may end before the next report.
    if (utterance.frames === 1 || utterance.frames % REPORT_FRAMES === 0)
      this.played(utterance.number, utterance.frames * FRAME_MS, false);
    return frame;
  }
}
