/** The agent's audio as the caller received it, packet by packet. */
import { Decoder } from '@evan/opus';
import { FRAME_MS } from './timing.js';
import { RATE } from './utterance.js';

export interface Frame {
  readonly at: number;
  readonly isAudible: boolean;
  /** 16-bit mono at RATE. */
  readonly pcm: Uint8Array;
}

/** RMS of 16-bit samples; less is silence. */
const AUDIBLE_RMS = 150;
/** A frame that comes so much later than the one before it was not there when it was to be played. */
const LATE_MS = 60;
/** Nothing for so long is a pause. */
const PAUSE_MS = 400;

function levelOf(pcm: Uint8Array): number {
  const samples = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  let energy = 0;
  for (let at = 0; at + 1 < pcm.byteLength; at += 2) energy += samples.getInt16(at, true) ** 2;
  return Math.sqrt((energy * 2) / Math.max(2, pcm.byteLength));
}

export class Heard {
  readonly #decoder = new Decoder({ channels: 1, sample_rate: RATE });
  readonly #frames: Frame[] = [];
  #sequence: number | undefined;
  /** Frames so far; of them those that came late; those that never came. */
  total = 0;
  late = 0;
  lost = 0;

  /** An RTP packet of the agent's voice, with its header of 12 bytes. */
  take(bytes: Buffer): void {
    const at = performance.now();
    this.total += 1;
    this.#count(bytes.readUInt16BE(2));
    const gap = at - (this.#frames.at(-1)?.at ?? at);
    if (gap > LATE_MS && gap < PAUSE_MS) this.late += 1;
    const pcm = Buffer.from(this.#decoder.decode(bytes.subarray(12)));
    this.#frames.push({ at, pcm, isAudible: levelOf(pcm) > AUDIBLE_RMS });
  }

  #count(sequence: number): void {
    const expected = this.#sequence === undefined ? sequence : (this.#sequence + 1) & 0xffff;
    const missing = (sequence - expected) & 0xffff;
    // One that comes behind its successors is no loss of 65,000.
    if (missing < 1000) this.lost += missing;
    this.#sequence = sequence;
  }

  /** When the agent was first heard at or behind `from`. */
  firstFrom(from: number): number | undefined {
    return this.#frames.find(({ at, isAudible }) => isAudible && at >= from)?.at;
  }

  /** When it was last heard. */
  get last(): number {
    return this.#frames.findLast(({ isAudible }) => isAudible)?.at ?? 0;
  }

  /** Milliseconds of its voice between two instants. */
  audibleBetween(from: number, to: number): number {
    return this.#frames.filter(({ at, isAudible }) => isAudible && at >= from && at < to).length * FRAME_MS;
  }

  /** When it fell silent for at least `ms` behind `from`; undefined where it has not by `now`. */
  silenceBehind(from: number, ms: number, now: number): number | undefined {
    let last = from;
    for (const { at, isAudible } of this.#frames) {
      if (!isAudible || at < from) continue;
      if (at - last >= ms) return last;
      last = at;
    }
    return now - last >= ms ? last : undefined;
  }

  /** Frames received since the last `forget()`. */
  get frames(): readonly Frame[] {
    return this.#frames;
  }

  /** Drops all frames but the last. */
  forget(): void {
    this.#frames.splice(0, this.#frames.length - 1);
  }
}
