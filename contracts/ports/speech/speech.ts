/**
 * The speech ports, through which dialects synthesise and transcribe: encoded bytes in and out, never a backend.
 * `engines/` implements both ports.
 */
import type { OutputFormat } from '../../audio.js';
import type { LanguageCode } from '../../speech/languages.js';
import type { SynthesisModel, TranscriptionModel } from '../../speech/models.js';
import type { Caller } from '../accounts/identity.js';
import type { StoredFile } from './codec.js';
import type { RequestTrace } from '../trace.js';
import type { SpeechContext } from './stt.js';
import type { Latency, ReferenceAudio, Sampling, TimedWord } from './tts.js';

/** Which engine did a piece of work. */
export interface WorkedBy {
  readonly engine: string;
  /** Of its service; absent: it has but one. */
  readonly model?: string;
}

/** An engine that failed somebody on the line. */
export interface EngineFailure {
  readonly engine: string;
  /** Code of the error (contracts/errors.ts). */
  readonly code: string;
  /** The engine that is asked instead; undefined if there is none. */
  readonly next: string | undefined;
}

/** What is done about engines that fail somebody on the line. */
export interface StandIn {
  /** Called for each engine that fails. */
  failed(failure: EngineFailure): void;
}

/** A synthesis request without its text. */
export interface SpeechOptions {
  readonly model: SynthesisModel;
  /** A voice library id; empty selects the default voice. */
  readonly voice: string;
  /** Ids of several voices, in the order of the text's speaker tags; `voice` is then empty. */
  readonly speakers?: readonly string[];
  /** The language of the whole text. */
  readonly language?: LanguageCode;
  /**
   * The language of text that does not indicate another: a named voice speaks the whole text in it, the default voice
   * speaks sentences of other languages in their own.
   */
  readonly likelyLanguage?: LanguageCode;
  readonly references: readonly ReferenceAudio[];
  readonly output: OutputFormat;
  readonly latency: Latency;
  /** 0.25–4 */
  readonly speed: number;
  /** dB */
  readonly volume: number;
  /** Absent: speech of the gateway's own engines is brought to one loudness, that of remote ones is left as it is. */
  readonly normalizeLoudness?: boolean;
  /** Longest piece of text for an engine, in characters. */
  readonly chunkLength: number;
  /** Whether numbers and abbreviations are written out; absent: yes, if the gateway does so. */
  readonly normalize?: boolean;
  readonly sampling: Sampling;
  /** Text that still arrives: a finished sentence is spoken when nothing follows it for this long, in ms; absent: never. */
  readonly sentenceMs?: number;
  /** Somebody waits on the line: engines that fail or say nothing are replaced (contracts/limits/online-times.ts). Absent: never. */
  readonly standIn?: StandIn;
  /** Whether short pieces that were said before are kept as sound, for whoever says them next in this workspace; absent: no. */
  readonly keepsRepeated?: boolean;
  readonly trace?: RequestTrace;
}

/** The requested voice, before there is a text. */
export type VoiceWish = Pick<SpeechOptions, 'model' | 'voice' | 'language'>;

export interface SynthesisRequest extends SpeechOptions {
  readonly text: string;
}

/** A part of an arriving text: more text, or a flush, after which all text so far is spoken. */
export type TextPart = { readonly kind: 'text'; readonly text: string } | { readonly kind: 'flush' };

/**
 * A request whose text still arrives. Complete pieces are spoken according to `latency`; a flush or the end completes
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
  /** Whether that is all of it. A voice that failed leaves an incomplete piece; the next one may begin with the same text. */
  readonly complete: boolean;
  /** Words known so far; times from the piece's own start. Undefined if the engine has no timing. */
  readonly words: readonly TimedWord[] | undefined;
  /** The engine that speaks it; absent: none does. */
  readonly by?: WorkedBy;
}

export interface TimedAudio {
  /** Encoded audio; empty if only timing is new. */
  readonly audio: Uint8Array;
  readonly piece: SpokenPiece;
  /** End of this chunk within the whole audio, in seconds; exact to a frame of the codec. */
  readonly end: number;
}

/** What a voice can do, by its engine; nothing if the text decides which one speaks. */
export interface CheckedVoice {
  /** Whether it follows style tags in the text; others leave them out. */
  readonly styleTags: boolean;
}

export interface Speech {
  /**
   * Determines voice and engine, admits the job, then yields encoded audio as it is synthesised.
   * The first `next()` may fail with `voice_not_found`, `voice_language`, `language_unavailable`,
   * `cloning_unavailable`, `speakers_unavailable`, `nothing_to_say`, `concurrency_exceeded`, `quota_exceeded`,
   * `engine_*`; later ones with `engine_*`, and with `voice_language` or `language_unavailable` if text arrives
   * that the voice does not read. Leaving the loop, or an abort, cancels all its work.
   */
  synthesize(
    request: SynthesisRequest | StreamingSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;

  /**
   * The same audio, each chunk with the piece that is heard at its beginning. Pieces come in order, each at
   * least once, and complete the last time. Errors as those of `synthesize`.
   */
  synthesizeTimed(
    request: SynthesisRequest | StreamingSynthesisRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<TimedAudio>;

  /** Checks that the caller may synthesise at all, before there is any text. Errors: `quota_exceeded`. */
  checkQuota(caller: Caller): Promise<void>;

  /**
   * Checks that the model has the voice and it speaks the language, before there is any text: refuses whatever
   * `synthesize` would. Without a language it only checks that the voice exists. Errors: `voice_not_found`,
   * `voice_language`, `language_unavailable`, `cloning_unavailable`, `overloaded`.
   */
  checkVoice(wish: VoiceWish, caller: Pick<Caller, 'workspaceId'>): Promise<CheckedVoice>;
}

/** Headerless PCM (contracts/audio.ts) as collected, in consecutive chunks. */
export interface RawAudio {
  readonly chunks: readonly Uint8Array[];
  /** Hz, 8,000 to 48,000 */
  readonly sampleRate: number;
}

/** The same in a file on disk. */
export interface RawAudioFile {
  readonly file: StoredFile;
  /** Hz, as above. */
  readonly sampleRate: number;
}

export interface TranscriptionRequest {
  /** An uploaded file, any of the containers that `decode-once` takes (sniffed, never trusted), or raw audio. */
  readonly audio: Uint8Array | StoredFile | RawAudio | RawAudioFile;
  readonly model: TranscriptionModel;
  readonly language?: string;
  /**
   * Languages that it may be in, where these are several: a recogniser that hears them all is told none, and tells which it was. Without
   * such a recogniser `language` counts.
   */
  readonly languages?: readonly string[];
  /** Whether the time of each word is wanted. */
  readonly words?: boolean;
  /**
   * The audio is not complete yet and its transcript only a partial one: it takes no slot, does not count as usage, and
   * fails at once (`engine_busy`) if the engine has other work; of a live caller, if it has other live work.
   */
  readonly interim?: boolean;
  /** The audio may not be complete, though it is likely: it counts as usage when `count` is called. */
  readonly uncounted?: boolean;
  /** Words that may be said: they take the place of what was heard nearly the same. */
  readonly terms?: readonly string[];
  /** What else the engine is told, if it can be; words of it take no other word's place. */
  readonly context?: SpeechContext | undefined;
  /** Whether noise is removed first, if the gateway can; raw audio only. */
  readonly reducesNoise?: boolean;
  /** Somebody waits on the line, as for speech; of interim transcripts only the time is bounded. Raw audio only. */
  readonly standIn?: StandIn;
  readonly trace?: RequestTrace;
}

/** Audio that is transcribed while it arrives. */
export interface ListeningRequest extends Pick<
  TranscriptionRequest,
  'model' | 'language' | 'languages' | 'terms' | 'context' | 'uncounted' | 'trace'
> {
  /** At `sampleRate` Hz. */
  readonly audio: AsyncIterable<Int16Array>;
  readonly sampleRate: number;
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
  /** The language of most of it, if the engine reports it. */
  readonly language?: LanguageCode;
  readonly segments: readonly TranscriptSegment[];
  /** Present if words were requested. */
  readonly words?: readonly TimedWord[];
  /** The engine that heard it; absent: none did. */
  readonly by?: WorkedBy;
}

/** All that is known of audio which arrives. */
export interface HeardSoFar extends Transcript {
  /** Whether that is the transcript of all of it. */
  readonly final: boolean;
}

export interface Transcription {
  /**
   * Calls `heard` with each segment as soon as it is known. Errors: `audio_unreadable`, `audio_too_long`,
   * `language_unavailable`, `concurrency_exceeded`, `quota_exceeded`, `engine_*`.
   */
  transcribe(
    request: TranscriptionRequest,
    caller: Caller,
    signal: AbortSignal,
    heard?: (segment: TranscriptSegment) => void,
  ): Promise<Transcript>;

  /**
   * Transcribes audio while it arrives: what is known so far, and at its end once with `final`. Undefined if the recogniser of the model and
   * language hears whole audio only; absent: so do all. It takes no slot, as partial transcripts do not. Who gets an error transcribes all
   * of the audio; nothing else was tried. Errors: `quota_exceeded`, `engine_*`.
   */
  listen?(
    request: ListeningRequest,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<HeardSoFar> | undefined;

  /** Checks that the model transcribes the language, before there is any audio. Errors: `language_unavailable`. */
  checkLanguage(wish: Pick<TranscriptionRequest, 'model' | 'language'>): void;

  /** Whether the gateway can remove noise from audio. */
  readonly reducesNoise: boolean;

  /** Counts `seconds` as usage: the audio of an `uncounted` request proved to be complete. */
  countUsage(caller: Caller, seconds: number): void;
}
