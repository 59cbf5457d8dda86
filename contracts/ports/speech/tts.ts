/** A synthesis backend. Rows of engines/registry.ts; every one passes test/fixtures/engine-conformance.ts. */
import type { Demand } from './demand.js';
import type { ForWhom } from '../parts.js';
import type { TraceContext } from '../trace.js';
import type { LanguageCode } from '../../speech/languages.js';
import type { SynthesisModel } from '../../speech/models.js';
import type { OutputFormat } from '../../audio.js';

export interface TtsCapabilities {
  readonly languages: readonly LanguageCode[];
  /** Accepts text in every script and language: a service whose languages are not configured. */
  readonly anyScript?: boolean;
  /** Hz of the PCM that it yields. */
  readonly sampleRate: number;
  /** Whether audio arrives before the whole text is spoken. */
  readonly streaming: boolean;
  readonly timing: 'none' | 'word';
  readonly cloning: boolean;
  /** Several voices in one text, by speaker tags: `<|speaker:0|>`. */
  readonly speakers: boolean;
  /** Whether it speaks faster or slower itself; otherwise time-stretching covers the range. */
  readonly speed: boolean;
  /** Its own range of speeds, if that is not all of 0.25–4. */
  readonly speedRange?: { readonly min: number; readonly max: number };
  /** Whether it knows style tags in the text; otherwise they are stripped, never read aloud. */
  readonly styleTags: boolean;
  /** Whether its loudness is left as it is unless a request asks for another: a service that somebody else runs. */
  readonly ownLoudness?: boolean;
  /** Formats of clients that `encoded` gives; absent: none. */
  readonly encodes?: readonly OutputFormat[];
}

export interface EngineVoice {
  /** The engine's own name of the voice. */
  readonly name: string;
  readonly title: string;
  readonly languages: readonly LanguageCode[];
}

export interface ReferenceAudio {
  readonly audio: Uint8Array;
  readonly text: string;
}

/** Sampling options of the client, for engines that sample their speech (docs/contract/native.md 1.2). */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly repetitionPenalty?: number;
  readonly minChunkLength?: number;
  readonly conditionOnPreviousChunks?: boolean;
  readonly earlyStopThreshold?: number;
  readonly maxNewTokens?: number;
  readonly features?: readonly string[];
}

/** `low`: start on the first clause; `balanced`: on the first sentence; `normal`: whole sentences (docs/contract/decisions.md). */
export type Latency = 'low' | 'balanced' | 'normal';

export interface TtsRequest {
  /** One clause or sentence; the pipeline cuts longer texts. */
  readonly text: string;
  /** Empty if `references` or `speakers` define the voice. */
  readonly voice: string;
  /** The voices of the speaker tags in order, for engines with `speakers`: names, or reference audio of each. */
  readonly speakers?: readonly string[] | readonly (readonly ReferenceAudio[])[];
  readonly language: LanguageCode;
  /** 1 is the voice's own pace. Only engines with `speed` get another value. */
  readonly speed: number;
  /** Whether word events are wanted; engines with `timing: 'word'` yield them only then. */
  readonly timing?: boolean;
  readonly sampling?: Sampling;
  /** The model that the client named, for engines that are services with models of their own. */
  readonly model?: SynthesisModel;
  /** Whether numbers and abbreviations are written out before they are spoken, as the client asked; absent: yes. */
  readonly normalize?: boolean;
  /** The client's value, for engines that are services of their own; the text has been cut by it already. */
  readonly latency?: Latency;
  readonly chunkLength?: number;
  /** The client's value; absent: the service decides. */
  readonly normalizeLoudness?: boolean;
  readonly references?: readonly ReferenceAudio[];
  readonly traceContext?: TraceContext;
  readonly whom?: ForWhom;
  /** For engines that work on one piece at a time; absent: unknown. */
  readonly demand?: Demand;
}

/** Times in seconds from the start of this request's audio. */
export interface TimedWord {
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

export type TtsEvent =
  | { readonly kind: 'audio'; readonly samples: Int16Array }
  | { readonly kind: 'word'; readonly word: TimedWord };

export interface TtsEngine {
  readonly name: string;
  readonly capabilities: TtsCapabilities;
  readonly voices: readonly EngineVoice[];
  /** The model with which its service speaks a request; absent: it has but one. */
  readonly modelFor?: (request: Pick<TtsRequest, 'model' | 'voice'>) => string;
  /** Asks a service for its voices, which `voices` has from then on; absent: they are known. Errors: those of `synthesize`. */
  learnVoices?(signal: AbortSignal): Promise<void>;
  /** Yields audio as it is spoken. Empty or unspeakable text yields no audio. Aborting stops the work. */
  synthesize(request: TtsRequest, signal: AbortSignal): AsyncIterable<TtsEvent>;
  /** The speech of a whole text in one of the formats that it encodes. Nothing comes before it is known to be that format. */
  encoded?(request: TtsRequest, output: OutputFormat, signal: AbortSignal): AsyncIterable<Uint8Array>;
}
