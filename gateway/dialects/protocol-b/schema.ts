/**
 * Protocol B's bodies (docs/contract/protocol-b.md 1). Null means absent; unknown fields are ignored; fields without
 * effect are not validated.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);
const { min, max } = LIMITS.speed.protocolB;

export const VoiceSettings = Type.Object({
  stability: optional(
    Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The lower, the livelier: temperature is 1 - stability',
    }),
  ),
  speed: optional(Type.Number({ minimum: min, maximum: max, default: 1 })),
});
export type VoiceSettings = Static<typeof VoiceSettings>;

export const VoiceSettingsResult = Type.Object({
  stability: Type.Number(),
  similarity_boost: Type.Number(),
  style: Type.Number(),
  use_speaker_boost: Type.Boolean(),
  speed: Type.Number(),
});

export const TEXT_NORMALIZATIONS = ['auto', 'on', 'off'] as const;

export const SpeechBody = Type.Object({
  text: Type.String({ description: 'What to say' }),
  model_id: optional(Type.String()),
  language_code: optional(Type.String({ maxLength: 35, description: 'ISO 639; else the script decides' })),
  apply_text_normalization: optional(Type.Unknown({ description: 'Whether numbers are written out' })),
  voice_settings: optional(Type.Unknown({ description: '`stability` and `speed`; the others are ignored' })),
});
export type SpeechBody = Static<typeof SpeechBody>;

/** `SpeechBody` as `/openapi.json` shows it. */
export const SpeechBodyDescription = Type.Object({
  ...SpeechBody.properties,
  apply_text_normalization: optional(
    Type.Enum(TEXT_NORMALIZATIONS, { default: 'auto', description: 'Whether numbers are written out' }),
  ),
  voice_settings: optional(nullable(VoiceSettings)),
});

export const Alignment = Type.Object({
  characters: Type.Array(Type.String()),
  character_start_times_seconds: Type.Array(Type.Number()),
  character_end_times_seconds: Type.Array(Type.Number()),
});

export const TimedSpeech = Type.Object({
  audio_base64: Type.String(),
  alignment: nullable(Alignment),
  normalized_alignment: nullable(Alignment),
});

export const GRANULARITIES = ['none', 'word'] as const;
export const FILE_FORMATS = ['other', 'pcm_s16le_16'] as const;

export const TranscriptionFields = Type.Object({
  model_id: Type.String(),
  language_code: optional(Type.String({ maxLength: 35, description: 'ISO 639; repeated in the answer' })),
  timestamps_granularity: optional(Type.Enum(GRANULARITIES, { default: 'word' })),
  file_format: optional(
    Type.Enum(FILE_FORMATS, { default: 'other', description: '`pcm_s16le_16`: raw samples at 16 kHz, mono' }),
  ),
});
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const TranscriptionForm = Type.Object({
  file: Type.String({ format: 'binary' }),
  ...TranscriptionFields.properties,
});

export const TranscriptionResult = Type.Object({
  language_code: Type.String({ description: 'That of the request; empty if it had none' }),
  language_probability: Type.Literal(1),
  text: Type.String(),
  words: Type.Array(
    Type.Object({
      text: Type.String(),
      type: Type.Enum(['word', 'spacing']),
      start: Type.Number({ description: 'seconds' }),
      end: Type.Number(),
      speaker_id: Type.Null(),
      logprob: Type.Literal(0),
    }),
  ),
  transcription_id: Type.String(),
  audio_duration_secs: Type.Number(),
});

export const VoiceBody = Type.Object(
  {
    voice_id: Type.String(),
    name: Type.String(),
    category: Type.Enum(['premade', 'cloned']),
    labels: Type.Record(Type.String(), Type.String()),
    description: nullable(Type.String()),
    created_at_unix: Type.Integer(),
  },
  { additionalProperties: true },
);

export const VoiceList = Type.Object({ voices: Type.Array(VoiceBody) });

export const VoicePage = Type.Object({
  voices: Type.Array(VoiceBody),
  has_more: Type.Boolean(),
  total_count: Type.Integer(),
  next_page_token: nullable(Type.String()),
});

const { min: least, max: most, default: usual } = LIMITS.voice.pageSize;

/** The query of `/v2/voices`; lists are repeated parameters. Other filters of the protocol are ignored. */
export const VoiceQuery = Type.Object({
  next_page_token: optional(Type.String({ maxLength: 2048 })),
  page_size: optional(Type.Integer({ minimum: least, maximum: most, default: usual })),
  search: optional(Type.String({ maxLength: 256, description: 'In name, description, labels and category' })),
  sort: optional(Type.Enum(['created_at_unix', 'name'])),
  sort_direction: optional(Type.Enum(['asc', 'desc'])),
  voice_type: optional(
    Type.Enum(['personal', 'community', 'default', 'workspace', 'non-default', 'non-community', 'saved']),
  ),
  category: optional(Type.String({ maxLength: 64 })),
  gender: optional(Type.String({ maxLength: 64 })),
  age: optional(Type.String({ maxLength: 64 })),
  accent: optional(Type.String({ maxLength: 64 })),
  language: optional(Type.Array(Type.String({ maxLength: 35 }), { maxItems: 100 })),
  use_cases: optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100 })),
  voice_ids: optional(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100 })),
});
export type VoiceQuery = Static<typeof VoiceQuery>;

export const ModelList = Type.Array(
  Type.Object(
    { model_id: Type.String(), name: Type.String(), can_do_text_to_speech: Type.Boolean() },
    { additionalProperties: true },
  ),
);

export const Subscription = Type.Object(
  { tier: Type.String(), character_count: Type.Integer(), character_limit: Type.Integer() },
  { additionalProperties: true },
);

export const User = Type.Object(
  { user_id: Type.String(), subscription: Subscription },
  { additionalProperties: true },
);

export const Token = Type.Object({ token: Type.String() });

export const ErrorBody = Type.Object({
  detail: Type.Object({
    type: Type.String(),
    code: Type.String(),
    status: Type.String({ description: 'The same as `code`' }),
    message: Type.String(),
    request_id: Type.String(),
    param: optional(Type.String()),
  }),
});
