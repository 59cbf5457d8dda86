/**
 * The partial transcript of audio that is not committed yet, by guesses. A guess covers only the tail whose words may still change,
 * as a rule the last segment, so that the work stays linear in the audio.
 *
 * Invariants: positions are bytes from the start of the uncommitted audio and lie between two samples; settled
 * text does not change before `reset`.
 */
import type { TakenAudio } from '../../../../actors/realtime-audio.js';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import type { RawAudio, TranscriptSegment } from '../../../../contracts/ports/speech.js';

/** So much new audio is worth another guess. */
const STEP_SECONDS = 0.7;
/** Silence behind a segment that is over, and what is kept of silence, where a word may have begun. */
const SILENCE_SECONDS = 1;
/** More uncommitted audio is settled whatever goes on in it. The embedded engine cuts speech after 15 s by itself. */
const LONGEST_SECONDS = 20;

export class PartialTranscript {
  #settled = '';
  /** Where the unsettled audio begins, and the end of the audio that the last guess covered. */
  #from = 0;
  #until = 0;

  /** `sampleRate` in Hz. */
  constructor(private readonly sampleRate: number) {}

  /** Whether enough is new of `bytes` of uncommitted audio. */
  isDue(bytes: number): boolean {
    return bytes - this.#until >= STEP_SECONDS * this.#bytesPerSecond;
  }

  /** The unsettled end of all uncommitted audio, for a guess. */
  take({ chunks, bytes }: Pick<TakenAudio, 'chunks' | 'bytes'>): RawAudio {
    this.#until = bytes;
    return { chunks: lastBytes(chunks, bytes - this.#from), sampleRate: this.sampleRate };
  }

  /** The partial transcript of all uncommitted audio, as far as the last guess came; `segments` are its tail's. */
  add(segments: readonly TranscriptSegment[]): string {
    const text = joined(this.#settled, segments);
    this.#settle(segments, (this.#until - this.#from) / this.#bytesPerSecond);
    return text;
  }

  /** The audio was committed. */
  reset(): void {
    this.#settled = '';
    this.#from = 0;
    this.#until = 0;
  }

  get #bytesPerSecond(): number {
    return this.sampleRate * BYTES_PER_SAMPLE;
  }

  /** Settles the segments that are over; the rest begins with the one that goes on. */
  #settle(segments: readonly TranscriptSegment[], seconds: number): void {
    const last = segments.at(-1);
    const goesOn = last !== undefined && last.end > seconds - SILENCE_SECONDS && seconds <= LONGEST_SECONDS;
    this.#settled = joined(this.#settled, goesOn ? segments.slice(0, -1) : segments);
    const from = goesOn ? last.start : Math.max(last?.end ?? 0, seconds - SILENCE_SECONDS);
    this.#from += Math.floor(from * this.sampleRate) * BYTES_PER_SAMPLE;
  }
}

const joined = (settled: string, segments: readonly TranscriptSegment[]): string =>
  [settled, ...segments.map(({ text }) => text)].filter((text) => text !== '').join(' ');

/** The last `count` bytes, without a copy; looks at no chunk before them. */
function lastBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  const last: Uint8Array[] = [];
  let left = count;
  for (let index = chunks.length - 1; index >= 0 && left > 0; index--) {
    const chunk = chunks[index]!;
    last.push(chunk.byteLength > left ? chunk.subarray(chunk.byteLength - left) : chunk);
    left -= chunk.byteLength;
  }
  return last.reverse();
}
