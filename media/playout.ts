/**
 * The agent's speech, cut into frames of 20 ms: one queue of utterances, in order, with how much of each has left.
 *
 * Invariants: each utterance is reported as ended exactly once, when its last frame has left or it is cleared;
 * frames leave only between `resume` and `pause`; nothing is sent while nothing is said, but for a short tail of
 * silence, so that the other side's loss concealment does not guess.
 */
import { PLAYOUT_RATE, samplesOf } from '../contracts/audio.js';

export const FRAME_MS = 20;
export const FRAME_SAMPLES = (PLAYOUT_RATE * FRAME_MS) / 1000;

/** Frames of silence behind speech; frames between two reports. */
const TAIL_FRAMES = 5;
const REPORT_FRAMES = 5;

const SILENCE = new Int16Array(FRAME_SAMPLES);

export type Played = (utterance: number, ms: number, ended: boolean) => void;

interface Utterance {
  readonly number: number;
  readonly chunks: Int16Array[];
  /** Samples of the first chunk that have left. */
  offset: number;
  frames: number;
  finished: boolean;
}

export interface Frame {
  readonly samples: Int16Array;
  /** The first one after silence. */
  readonly begins: boolean;
}

export class Playout {
  #queue: Utterance[] = [];
  #paused = false;
  #tail = 0;
  #silent = true;

  constructor(private readonly played: Played) {}

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

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
  }

  clear(): void {
    const cleared = this.#queue;
    this.#queue = [];
    this.#paused = false;
    for (const { number, frames } of cleared) this.played(number, frames * FRAME_MS, true);
  }

  /** The frame to send now; undefined where nothing is sent. Called every FRAME_MS. */
  next(): Frame | undefined {
    const samples = this.#paused ? undefined : this.#take();
    if (samples) this.#tail = TAIL_FRAMES;
    else if (this.#tail-- <= 0) {
      this.#silent = true;
      return undefined;
    }
    const begins = this.#silent;
    this.#silent = false;
    return { samples: samples ?? SILENCE, begins };
  }

  #take(): Int16Array | undefined {
    for (let first = this.#queue[0]; first; first = this.#queue[0]) {
      const samples = this.#frameOf(first);
      if (samples) return samples;
      if (!first.finished) return undefined;
      this.#queue.shift();
      this.played(first.number, first.frames * FRAME_MS, true);
    }
    return undefined;
  }

  /** The last frame of a finished utterance is filled up with silence; of another, less than a frame waits. */
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
    if (utterance.frames % REPORT_FRAMES === 0)
      this.played(utterance.number, utterance.frames * FRAME_MS, false);
    return frame;
  }
}
