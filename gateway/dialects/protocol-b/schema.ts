/**
 * Protocol B's bodies (docs/contract/protocol-b.md 1). Null means absent; unknown fields are ignored; fields without
 * effect are not validated.
 */
import { B_SPEECH, B_TRANSCRIPTION, B_VOICES } from '../../../contracts/options/protocol-b.js';
import { usedIn } from '../../../contracts/options/reading.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);
const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

export const VoiceSettingsResult = Type.Object({
  stability: Type.Number(),
  similarity_boost: Type.Number(),
  style: Type.Number(),
  use_speaker_boost: Type.Boolean(),
  speed: Type.Number(),
});

export const SpeechBody = Type.Object(usedIn(B_SPEECH, 'body'));
export type SpeechBody = Static<typeof SpeechBody>;

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

const { file, ...fields } = usedIn(B_TRANSCRIPTION, 'form');

export const TranscriptionFields = Type.Object(fields);
export type TranscriptionFields = Static<typeof TranscriptionFields>;

export const TranscriptionForm = Type.Object({ file, ...fields });

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

/** The query of `/v2/voices`; lists are repeated parameters. */
export const VoiceQuery = Type.Object(usedIn(B_VOICES, 'query'));
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
