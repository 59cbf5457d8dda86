/**
 * The native synthesis fields that every API shares (native-and-platform.md 1.2): their schema, and what they
 * mean to the speech port. Text, format and sample rate are not among them: each dialect has its own.
 * How other APIs reach them (spec rule 4) is in option-sources.ts.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { MP3_BITRATES } from '../audio.js';
import { ServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import type { Latency, SynthesisRequest } from '../ports/speech.js';
import type { ReferenceAudio, Sampling } from '../ports/tts.js';

const native = LIMITS.native;

const within = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Number({ minimum: bounds.min, maximum: bounds.max, ...extra });

const wholeWithin = (bounds: { min: number; max: number }, extra: object = {}) =>
  Type.Integer({ minimum: bounds.min, maximum: bounds.max, ...extra });

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

/** bit/s, the older kbit/s values that clients still send, and -1000 for automatic. */
export const OPUS_BITRATES = [-1000, 24_000, 32_000, 48_000, 64_000, 24, 32, 48, 64] as const;

export const Prosody = Type.Object({
  speed: optional(within(native.speed, { default: 1 })),
  volume: optional(within(native.volumeDb, { default: 0, description: 'dB' })),
  normalize_loudness: optional(Type.Boolean({ default: true })),
});

export const NativeOptions = Type.Object({
  reference_id: optional(
    Type.Union([
      Type.String({
        maxLength: native.referenceIdLength.max,
        pattern: '^[A-Za-z0-9_-]*$',
        description: 'Voice id; empty or `default` selects the default voice.',
      }),
      Type.Array(Type.String(), { description: 'Several voices; needs an engine with speakers.' }),
    ]),
  ),
  references: optional(Type.Unknown({ description: 'Reference audio `{audio, text}[]`.' })),
  prosody: optional(Prosody),
  temperature: optional(within(native.temperature)),
  top_p: optional(within(native.topP)),
  repetition_penalty: optional(within(native.repetitionPenalty)),
  chunk_length: optional(wholeWithin(native.chunkLength, { default: 300 })),
  min_chunk_length: optional(wholeWithin(native.minChunkLength, { default: 50 })),
  condition_on_previous_chunks: optional(Type.Boolean({ default: true })),
  early_stop_threshold: optional(within(native.earlyStopThreshold)),
  max_new_tokens: optional(wholeWithin(native.maxNewTokens)),
  normalize: optional(Type.Boolean({ default: true })),
  mp3_bitrate: optional(Type.Enum(MP3_BITRATES, { default: 128, description: 'kbit/s' })),
  opus_bitrate: optional(Type.Enum(OPUS_BITRATES, { default: -1000, description: 'bit/s' })),
  latency: optional(Type.Enum(['low', 'normal', 'balanced'], { default: 'normal' })),
  features: optional(Type.Array(Type.String(), { maxItems: native.features })),
});
export type NativeOptions = Static<typeof NativeOptions>;

function voiceOf(referenceId: NativeOptions['reference_id']): string {
  if (Array.isArray(referenceId)) throw new ServiceError('speakers_unavailable', { param: 'reference_id' });
  return referenceId ?? '';
}

/** The native API's own words. */
export const invalidReferences = (): ServiceError =>
  new ServiceError('invalid_request', {
    message: 'Reference Audio is not valid, please check your reference audio',
    param: 'references',
  });

const isReference = (value: unknown): value is ReferenceAudio => {
  const { audio, text } = (value ?? {}) as Partial<ReferenceAudio>;
  return audio instanceof Uint8Array && audio.length > 0 && typeof text === 'string';
};

function referencesOf(value: unknown): readonly ReferenceAudio[] {
  if (value === undefined) return [];
  const list: unknown[] | undefined = Array.isArray(value) ? value.flat(1) : undefined;
  if (list?.every(isReference)) return list;
  throw invalidReferences();
}

function samplingOf(options: NativeOptions): Sampling {
  return {
    ...(options.temperature === undefined ? {} : { temperature: options.temperature }),
    ...(options.top_p === undefined ? {} : { topP: options.top_p }),
    ...(options.repetition_penalty === undefined ? {} : { repetitionPenalty: options.repetition_penalty }),
  };
}

/** What the options say of a request; the rest of it is the dialect's. */
export type NativeSynthesis = Pick<
  SynthesisRequest,
  'voice' | 'references' | 'latency' | 'speed' | 'volume' | 'normalizeLoudness' | 'chunkLength' | 'sampling'
>;

interface Defaults {
  readonly latency: Latency;
  readonly speed?: number;
  /** The voice that the dialect's own field names. Reference audio goes before it: clients send one always. */
  voice?(): string;
}

/** Reference audio must be bytes. Errors: `invalid_request`, `speakers_unavailable`, and those of `defaults.voice`. */
export function toNativeSynthesis(options: NativeOptions, defaults: Defaults): NativeSynthesis {
  const references = referencesOf(options.references);
  const isNamed = options.reference_id !== undefined || references.length > 0;
  return {
    voice: isNamed ? voiceOf(options.reference_id) : (defaults.voice?.() ?? ''),
    references,
    latency: options.latency ?? defaults.latency,
    speed: options.prosody?.speed ?? defaults.speed ?? 1,
    volume: options.prosody?.volume ?? 0,
    normalizeLoudness: options.prosody?.normalize_loudness ?? true,
    chunkLength: options.chunk_length ?? 300,
    sampling: samplingOf(options),
  };
}
