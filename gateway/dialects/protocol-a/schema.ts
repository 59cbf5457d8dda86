/**
 * Schemas of protocol A's bodies (docs/contract/protocol-a.md 1). Null means absent, unknown fields are ignored; fields that
 * only some bases read are not checked here but by those bases.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const { min, max } = LIMITS.speed.protocolA;

export const RESPONSE_FORMATS = ['json', 'text', 'verbose_json', 'srt', 'vtt'] as const;
export type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export const Provider = Type.Object({
  options: optional(Type.Record(Type.String(), Type.Unknown(), { description: 'Native options by vendor' })),
});

export const VoiceParam = Type.Union([Type.String(), Type.Object({ id: Type.String() })], {
  description: 'Voice id; empty or `default` selects the default voice',
});
export type VoiceParam = Static<typeof VoiceParam>;

export const SpeechBody = Type.Object({
  model: Type.String(),
  input: Type.String({ description: 'What to say' }),
  voice: optional(VoiceParam),
  response_format: optional(Type.String({ description: 'mp3, wav, pcm, pcm16 or opus' })),
  sample_rate: optional(Type.Integer({ description: 'Hz' })),
  speed: optional(Type.Number({ minimum: min, maximum: max, default: 1 })),
  references: optional(Type.Unknown({ description: 'Reference audio `{audio, text}[]`, audio in base64' })),
  input_references: optional(
    Type.Unknown({ description: 'On the aggregator base: one audio and one text part' }),
  ),
  provider: optional(Provider),
});
export type SpeechBody = Static<typeof SpeechBody>;

/** One audio part and at most one text part. */
export const InputReferences = Type.Array(
  Type.Union([
    Type.Object({
      type: Type.Literal('input_audio'),
      input_audio: Type.Object({ data: Type.String(), format: optional(Type.String()) }),
    }),
    Type.Object({ type: Type.Literal('text'), text: Type.String() }),
  ]),
  { maxItems: 2 },
);
export type InputReferences = Static<typeof InputReferences>;

export const TranscriptionFields = Type.Object({
  model: Type.String(),
  language: optional(Type.String({ maxLength: 16, description: 'ISO 639-1 hint' })),
  response_format: optional(Type.Enum(RESPONSE_FORMATS, { default: 'json' })),
  timestamp_granularities: optional(Type.Array(Type.Enum(['word', 'segment']), { maxItems: 8 })),
  stream: optional(Type.Unknown({ description: 'true: server-sent events' })),
});
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const InputAudio = Type.Object({
  data: Type.String({ description: 'base64' }),
  format: optional(Type.String({ description: 'ignored: audio is recognised by its bytes' })),
});

export const TranscriptionBody = Type.Object({ ...TranscriptionFields.properties, input_audio: InputAudio });

export const TranscriptionForm = Type.Object({
  ...TranscriptionFields.properties,
  file: Type.String({ format: 'binary' }),
});

const Timed = { start: Type.Number(), end: Type.Number() };

export const TranscriptionResult = Type.Object({
  text: Type.String(),
  usage: Type.Object({ type: Type.Literal('duration'), seconds: Type.Number() }),
  x_groq: optional(
    Type.Object({ id: Type.String() }, { description: "On the inference provider's base: the request" }),
  ),
  task: optional(Type.Literal('transcribe')),
  language: optional(Type.String({ description: 'That of the request; empty if it had none' })),
  duration: optional(Type.Number({ description: 'seconds' })),
  segments: optional(
    Type.Array(
      Type.Object({
        id: Type.Integer(),
        seek: Type.Integer(),
        ...Timed,
        text: Type.String(),
        tokens: Type.Array(Type.Integer()),
        temperature: Type.Number(),
        avg_logprob: Type.Number(),
        compression_ratio: Type.Number(),
        no_speech_prob: Type.Number(),
      }),
    ),
  ),
  words: optional(Type.Array(Type.Object({ word: Type.String(), ...Timed }))),
});

export const ModelList = Type.Object({
  object: Type.Literal('list'),
  data: Type.Array(Type.Object({ id: Type.String() }, { additionalProperties: true })),
  links: Type.Object({ next: Type.Union([Type.String({ description: 'The next page' }), Type.Null()]) }),
  total_count: Type.Integer(),
});

const Named = { id: Type.String(), name: Type.String() };

export const VoiceList = Type.Object({
  voices: Type.Array(Type.Object({ ...Named, languages: Type.Array(Type.String()) })),
  total: Type.Integer(),
});

export const SpeakingModelList = Type.Object({
  models: Type.Array(Type.Object(Named)),
  total: Type.Integer(),
});

const { ttlSeconds } = LIMITS.clientSecret;

export const ClientSecretBody = Type.Object({
  session: optional(
    Type.Object(
      {},
      { additionalProperties: true, description: 'As in `session.update`; its `type` decides' },
    ),
  ),
  expires_after: optional(
    Type.Object({
      anchor: optional(Type.Enum(['created_at'])),
      seconds: optional(
        Type.Integer({ minimum: ttlSeconds.min, maximum: ttlSeconds.max, default: ttlSeconds.default }),
      ),
    }),
  ),
});

export const ClientSecret = Type.Object({
  value: Type.String({ description: 'Begins with `ek_`; good for one realtime socket at a time' }),
  expires_at: Type.Integer({ description: 'seconds since the epoch' }),
  session: Type.Object({}, { additionalProperties: true }),
});

export const ErrorBody = Type.Object({
  error: Type.Object({
    code: Type.Integer(),
    message: Type.String(),
    type: Type.String(),
    param: optional(Type.String()),
    metadata: optional(Type.Object({ provider_name: Type.String() })),
  }),
});
