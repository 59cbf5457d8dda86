/**
 * The partial transcript of uncommitted audio, made by interim transcriptions. One covers only the tail whose words
 * may still change, normally the last segment, so that the work stays linear in the audio.
 *
 * Invariants: positions are bytes from the start of the uncommitted audio, at sample boundaries; settled text does
 * not change before `reset`.
 */
import type { TakenAudio } from '../../../../actors/incoming-audio.js';
import { BYTES_PER_SAMPLE } from '../../../../contracts/audio.js';
import { joinedTexts } from '../../../../contracts/text/joined-texts.js';
import type { RawAudio, TranscriptSegment } from '../../../../contracts/ports/speech/speech.js';

/** New audio after which another interim transcription is due. */
const STEP_SECONDS = 0.7;
/** Silence that ends a segment; also how much trailing silence is kept, since a word may have begun in it. */
const SILENCE_SECONDS = 1;
/** Longest unsettled audio; more is settled even in the middle of speech. The embedded engine itself cuts speech after 15 s. */
const LONGEST_SECONDS = 20;

export class PartialTranscript {
  #settled = '';
  /** Start of the unsettled audio, and end of the audio that the last interim transcription covered. */
  #from = 0;
  #until = 0;

  /** `sampleRate` in Hz. */
  constructor(private readonly sampleRate: number) {}

  /** Whether an interim transcription is due; `bytes`: length of all uncommitted audio. */
  isDue(bytes: number): boolean {
    return bytes - this.#until >= STEP_SECONDS * this.#bytesPerSecond;
  }

  /** The unsettled tail of all uncommitted audio, for an interim transcription. */
  take({ chunks, bytes }: Pick<TakenAudio, 'chunks' | 'bytes'>): RawAudio {
    this.#until = bytes;
    return { chunks: lastBytes(chunks, bytes - this.#from), sampleRate: this.sampleRate };
  }

  /** The partial transcript up to the end of the last interim transcription. `segments`: those of the tail that it covered. */
  add(segments: readonly TranscriptSegment[]): string {
    const text = joined(this.#settled, segments);
    this.#settle(segments, (this.#until - this.#from) / this.#bytesPerSecond);
    return text;
  }

  /** Starts again from nothing, after the audio was committed. */
  reset(): void {
    this.#settled = '';
    this.#from = 0;
    this.#until = 0;
  }

  /** Leaves the first `bytes` out of all interim transcriptions until `reset`. */
  skip(bytes: number): void {
    this.#from = bytes - (bytes % BYTES_PER_SAMPLE);
    this.#until = this.#from;
  }

  get #bytesPerSecond(): number {
    return this.sampleRate * BYTES_PER_SAMPLE;
  }

  /** Settles the segments that have ended; the unsettled audio begins with the one that has not. */
  #settle(segments: readonly TranscriptSegment[], seconds: number): void {
    const last = segments.at(-1);
    const goesOn = last !== undefined && last.end > seconds - SILENCE_SECONDS && seconds <= LONGEST_SECONDS;
    this.#settled = joined(this.#settled, goesOn ? segments.slice(0, -1) : segments);
    const from = goesOn ? last.start : Math.max(last?.end ?? 0, seconds - SILENCE_SECONDS);
    this.#from += Math.floor(from * this.sampleRate) * BYTES_PER_SAMPLE;
  }
}

const joined = (settled: string, segments: readonly TranscriptSegment[]): string =>
  joinedTexts([settled, ...segments.map(({ text }) => text)]);

/** The last `count` bytes, without a copy and without visiting earlier chunks. */
export function lastBytes(chunks: readonly Uint8Array[], count: number): Uint8Array[] {
  const last: Uint8Array[] = [];
  let left = count;
  for (let index = chunks.length - 1; index >= 0 && left > 0; index--) {
    const chunk = chunks[index]!;
    last.push(chunk.byteLength > left ? chunk.subarray(chunk.byteLength - left) : chunk);
    left -= chunk.byteLength;
  }
  return last.reverse();
}
