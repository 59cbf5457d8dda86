/**
 * A transcription backend, and voice activity. Audio is mono PCM (contracts/audio.ts) of 16 kHz; an engine with `ownRateSamples` gets short
 * audio as it is.
 */
import type { Demand } from './demand.js';
import type { ForWhom } from '../parts.js';
import type { TraceContext } from '../trace.js';
import type { LanguageCode } from '../../speech/languages.js';

export interface SttCapabilities {
  /** `any`: the engine accepts every language. */
  readonly languages: readonly LanguageCode[] | 'any';
  /** Of an engine of several languages that takes speech for another one unless it is told. */
  readonly wantsLanguage?: boolean | undefined;
  /** Longest piece of one call, in seconds; longer audio is cut by voice activity. */
  readonly maxPieceSeconds: number;
  /** Audio of so many samples at most is one piece at its own rate, whatever is in it; absent: the engine takes 16 kHz only. */
  readonly ownRateSamples?: number;
  readonly words: boolean;
}

/** What is expected of speech, for engines that can be told before they hear: it makes likelier what fits. */
export interface SpeechContext {
  /** Words and names that may be said. */
  readonly terms: readonly string[];
  /** What the speaker has been told or asked just before. */
  readonly before?: string | undefined;
}

export interface SttWord {
  readonly text: string;
  /** Seconds from the start of the audio given. */
  readonly start: number;
  readonly end: number;
}

export interface SttPiece {
  readonly text: string;
  /** The detected language, if the engine reports it. */
  readonly language?: LanguageCode;
  /** Present if the engine has `words`. */
  readonly words?: readonly SttWord[];
}

export interface SttEngine {
  readonly name: string;
  readonly capabilities: SttCapabilities;
  /** Transcribes one piece of at most `maxPieceSeconds`. Silence gives an empty text. */
  transcribe(
    samples: Int16Array,
    options: {
      /** Hz of the samples; absent: 16,000. */
      readonly sampleRate?: number;
      readonly language?: string;
      readonly context?: SpeechContext;
      readonly traceContext?: TraceContext;
      readonly whom?: ForWhom;
      /** For engines that work on one piece at a time; absent: unknown. */
      readonly demand?: Demand;
    },
    signal: AbortSignal,
  ): Promise<SttPiece>;
}

/** Speech found in audio, in samples from the start of the stream. */
export interface SpeechSpan {
  readonly start: number;
  readonly samples: Int16Array;
}

export interface VoiceActivity {
  /** Cuts a stream into spans of speech, none longer than `maxSpanSeconds`, as they end. */
  spans(
    audio: AsyncIterable<Int16Array>,
    options: { readonly maxSpanSeconds: number },
    signal: AbortSignal,
  ): AsyncIterable<SpeechSpan>;
}
