/**
 * The native speech API on the wire (native-and-platform.md sections 1 and 4). Optional fields may be
 * null, which means absent: clients encode `undefined` as MessagePack nil. Unknown fields are ignored.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { MP3_BITRATES } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';

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

export const TtsBody = Type.Object({
  text: Type.String({ description: 'What to say. Empty text gives empty audio.' }),
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
  references: optional(
    Type.Unknown({ description: 'Reference audio `{audio, text}[]`; MessagePack bodies only.' }),
  ),
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
  format: optional(Type.Enum(['wav', 'pcm', 'mp3', 'opus'], { default: 'mp3' })),
  sample_rate: optional(Type.Integer({ description: 'Hz; 44100 by default, 48000 for opus.' })),
  mp3_bitrate: optional(Type.Enum(MP3_BITRATES, { default: 128, description: 'kbit/s' })),
  opus_bitrate: optional(Type.Enum(OPUS_BITRATES, { default: -1000, description: 'bit/s' })),
  latency: optional(Type.Enum(['low', 'normal', 'balanced'], { default: 'normal' })),
  features: optional(Type.Array(Type.String(), { maxItems: native.features })),
});
export type TtsBody = Static<typeof TtsBody>;

export const AsrFields = Type.Object({
  language: optional(Type.String({ maxLength: 16, description: 'ISO 639-1 hint' })),
  ignore_timestamps: optional(Type.Boolean({ default: true })),
});
export type AsrFields = Static<typeof AsrFields>;

export const AsrResult = Type.Object({
  text: Type.String(),
  duration: Type.Number({ description: 'seconds' }),
  segments: Type.Array(
    Type.Object({
      text: Type.String(),
      start: Type.Number({ description: 'seconds' }),
      end: Type.Number({ description: 'seconds' }),
    }),
  ),
  language_code: optional(Type.String()),
  language: optional(Type.String()),
});

export const ErrorBody = Type.Object({ status: Type.Integer(), message: Type.String() });
