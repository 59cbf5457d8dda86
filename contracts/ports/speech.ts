/**
 * What dialects see of speech: encoded bytes in and out, never a backend.
 * `engines/` implements both ports.
 */
import type { OutputFormat } from '../audio.js';
import type { Language } from '../languages.js';
import type { SynthesisModel, TranscriptionModel } from '../models.js';
import type { Caller } from './identity.js';
import type { ReferenceAudio, Sampling, TimedWord } from './tts.js';

/** `low`: start on the first clause; `balanced`: on the first sentence; `normal`: whole sentences (decisions.md). */
export type Latency = 'low' | 'balanced' | 'normal';

export interface SynthesisRequest {
  readonly text: string;
  readonly model: SynthesisModel;
  /** A voice library id; empty selects the default voice. */
  readonly voice: string;
  readonly language?: Language;
  readonly references: readonly ReferenceAudio[];
  readonly output: OutputFormat;
  readonly latency: Latency;
  /** 0.25–4 */
  readonly speed: number;
  /** dB */
  readonly volume: number;
  readonly normalizeLoudness: boolean;
  /** Longest text, in characters, that goes to an engine in one piece. */
  readonly chunkLength: number;
  readonly sampling: Sampling;
}

/** One piece of the text, as far as it has been spoken. Times in seconds. */
export interface SpokenPiece {
  readonly index: number;
  /** The piece's text, and where it begins in the request's text (UTF-16 units). */
  readonly text: string;
  readonly at: number;
  /** Where its audio begins in the whole audio. */
  readonly offset: number;
  /** Of its audio so far. */
  readonly duration: number;
  readonly complete: boolean;
  /** Known so far; times from the piece's own start. Undefined where the engine has no timing. */
  readonly words: readonly TimedWord[] | undefined;
}

export interface TimedAudio {
  /** Encoded audio; empty where only timing is new. */
  readonly audio: Uint8Array;
  readonly piece: SpokenPiece;
}

export interface Speech {
  /**
   * Settles voice, engine and admission, then yields encoded audio as it is synthesised.
   * The first `next()` may fail with `voice_not_found`, `voice_language`, `cloning_unavailable`,
   * `concurrency_exceeded`, `quota_exceeded`, `engine_*`; later ones with `engine_*`.
   * Leaving the loop, or an abort, cancels all work behind it.
   */
  synthesize(request: SynthesisRequest, caller: Caller, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

export interface TranscriptionRequest {
  /** The uploaded file, any of the containers that `decode-once` takes; sniffed, never trusted. */
  readonly audio: Uint8Array;
  readonly model: TranscriptionModel;
  readonly language?: string;
  /** Whether the time of each word is wanted. */
  readonly words?: boolean;
}

/** Times in seconds from the start of the audio. */
export interface TranscriptSegment {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export interface Transcript {
  readonly text: string;
  /** Seconds of decoded audio. */
  readonly duration: number;
  readonly segments: readonly TranscriptSegment[];
  /** Present where words were asked for. */
  readonly words?: readonly TimedWord[];
}

export interface Transcription {
  /** Errors: `audio_unreadable`, `audio_too_long`, `language_unavailable`, `concurrency_exceeded`, `engine_*`. */
  transcribe(request: TranscriptionRequest, caller: Caller, signal: AbortSignal): Promise<Transcript>;
}
