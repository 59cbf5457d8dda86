/**
 * The speech ports, by which dialects synthesise and transcribe: encoded bytes in and out, never a backend.
 * `engines/` implements both ports.
 */
import type { OutputFormat } from '../audio.js';
import type { LanguageCode } from '../languages.js';
import type { SynthesisModel, TranscriptionModel } from '../models.js';
import type { Caller } from './identity.js';
import type { RequestTrace } from './trace.js';
import type { Latency, ReferenceAudio, Sampling, TimedWord } from './tts.js';

/** A synthesis request without its text. */
export interface SpeechOptions {
  readonly model: SynthesisModel;
  /** A voice library id; empty selects the default voice. */
  readonly voice: string;
  /** Ids of several voices, of the text's speaker tags in order; `voice` is empty then. */
  readonly speakers?: readonly string[];
  /** The language of all of the text. */
  readonly language?: LanguageCode;
  /**
   * The language of what tells no other: a named voice speaks all of the text in it, the default voice speaks sentences
   * of other languages as what they are.
   */
  readonly likelyLanguage?: LanguageCode;
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
  /** Whether numbers and abbreviations are written out; absent: yes, where the gateway does so. */
  readonly normalize?: boolean;
  readonly sampling: Sampling;
  readonly trace?: RequestTrace;
}

/** The voice that a client wishes, before there is a text. */
export type VoiceWish = Pick<SpeechOptions, 'model' | 'voice' | 'language'>;

export interface SynthesisRequest extends SpeechOptions {
  readonly text: string;
}

/** A part of a text that arrives: more text, or a flush, which has all text so far spoken. */
export type TextPart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'flush' };

/**
 * A request whose text still arrives. Complete pieces are spoken as `latency` says, a flush and the end complete
 * the rest. The slot is held from the first `next()` to the end.
 */
export interface StreamingSynthesisRequest extends SpeechOptions {
  readonly text: AsyncIterable<TextPart>;
}

/** A piece of the text, as far as it has been synthesised. Times in seconds. */
export interface SpokenPiece {
  readonly index: number;
  /** The piece's text, and its offset in the request's text (UTF-16 units). */
  readonly text: string;
  readonly at: number;
  /** Start of its audio within the whole audio. */
  readonly offset: number;
  /** Seconds of its audio so far. */
  readonly duration: number;
  readonly complete: boolean;
  /** Words known so far; times from the piece's own start. Undefined if the engine has no timing. */
  readonly words: readonly TimedWord[] | undefined;
}

export interface TimedAudio {
  /** Encoded audio; empty where only timing is new. */
  readonly audio: Uint8Array;
  readonly piece: SpokenPiece;
  /** End of this chunk within the whole audio, in seconds; exact to a frame of the codec. */
  readonly end: number;
}

export interface Speech {
  /**
   * Settles voice, engine and admission, then yields encoded audio as it is synthesised.
   * The first `next()` may fail with `voice_not_found`, `voice_language`, `language_unavailable`,
   * `cloning_unavailable`, `speakers_unavailable`, `nothing_to_say`, `concurrency_exceeded`, `quota_exceeded`,
   * `engine_*`; later ones with `engine_*`, and with `voice_language` or `language_unavailable` where text arrives
   * that the voice does not read. Leaving the loop, or an abort, cancels all work behind it.
   */
  synthesize(
    request: SynthesisRequest | StreamingSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;

  /**
   * The same audio, each chunk with the piece that is heard as it begins. Pieces come in order, each of them at
   * least once, and for the last time complete. Errors as those of `synthesize`.
   */
  synthesizeTimed(
    request: SynthesisRequest | StreamingSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<TimedAudio>;

  /** Whether the caller may speak at all, before there is anything to say. Errors: `quota_exceeded`. */
  checkQuota(caller: Caller): Promise<void>;

  /**
   * Whether the model has the voice and it speaks the language, before there is anything to say: refuses what
   * `synthesize` would. Without a language only whether there is such a voice. Errors: `voice_not_found`,
   * `voice_language`, `language_unavailable`, `cloning_unavailable`, `overloaded`.
   */
  checkVoice(wish: VoiceWish, caller: Pick<Caller, 'workspaceId'>): Promise<void>;
}

/** Headerless PCM (contracts/audio.ts), as it was collected: the chunks follow one another. */
export interface RawAudio {
  readonly chunks: readonly Uint8Array[];
  /** Hz, 8,000 to 48,000 */
  readonly sampleRate: number;
}

export interface TranscriptionRequest {
  /** An uploaded file, any of the containers that `decode-once` takes (sniffed, never trusted), or raw audio. */
  readonly audio: Uint8Array | RawAudio;
  readonly model: TranscriptionModel;
  readonly language?: string;
  /** Whether the time of each word is wanted. */
  readonly words?: boolean;
  /**
   * The audio is not complete yet and its transcript only a guess: it takes no slot, counts as no usage, and
   * fails at once (`engine_busy`) where the engine has other work.
   */
  readonly interim?: boolean;
  /** The audio may not be complete, though it is likely: it counts as usage when `count` is called. */
  readonly uncounted?: boolean;
  /** Whether noise is taken out first, where the gateway can; of raw audio alone. */
  readonly reducesNoise?: boolean;
  readonly trace?: RequestTrace;
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
  /** The language that was heard in most of it, where the engine tells. */
  readonly language?: LanguageCode;
  readonly segments: readonly TranscriptSegment[];
  /** Present where words were asked for. */
  readonly words?: readonly TimedWord[];
}

export interface Transcription {
  /**
   * `heard` is told each segment as soon as it is known. Errors: `audio_unreadable`, `audio_too_long`,
   * `language_unavailable`, `concurrency_exceeded`, `quota_exceeded`, `engine_*`.
   */
  transcribe(
    request: TranscriptionRequest,
    caller: Caller,
    signal: AbortSignal,
    heard?: (segment: TranscriptSegment) => void,
  ): Promise<Transcript>;

  /** Whether the model hears the language, before there is any audio. Errors: `language_unavailable`. */
  checkLanguage(wish: Pick<TranscriptionRequest, 'model' | 'language'>): void;

  /** Whether the gateway can take noise out of audio. */
  readonly reducesNoise: boolean;

  /** The audio of a request that was `uncounted` has been complete: so many seconds of it are usage. */
  count(caller: Caller, seconds: number): void;
}
