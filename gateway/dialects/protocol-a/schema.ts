/**
 * Schemas of protocol A's bodies (docs/contract/protocol-a.md 1). Null means absent, unknown fields are ignored; fields that
 * only some bases read are not checked here but by those bases.
 */
import { A_CLIENT_SECRET, A_SPEECH, A_TRANSCRIPTION } from '../../../contracts/options/protocol-a.js';
import { usedIn } from '../../../contracts/options/reading.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export const SpeechBody = Type.Object(usedIn(A_SPEECH, 'body'));
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

const { file, ...fields } = usedIn(A_TRANSCRIPTION, 'form');

export const TranscriptionFields = Type.Object(fields);
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const TranscriptionBody = Type.Object(usedIn(A_TRANSCRIPTION, 'body'));

export const TranscriptionForm = Type.Object({ ...fields, file });

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

export const ClientSecretBody = Type.Object(usedIn(A_CLIENT_SECRET, 'body'));

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
