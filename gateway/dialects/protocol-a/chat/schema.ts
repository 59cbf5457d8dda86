/**
 * Schemas of chat completions (docs/contract/protocol-a.md 4): the request and the whole answer.
 * Null means absent, unknown fields are ignored; only the last user message is read.
 */
import { type Static, type TSchema, Type } from '../../../../contracts/schemas/type.js';
import { Provider, VoiceParam } from '../schema.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

const Message = Type.Object({
  role: Type.String(),
  content: optional(Type.Unknown({ description: 'Text, or parts of type `text` and `input_audio`' })),
});

export const ChatBody = Type.Object({
  model: Type.String(),
  messages: Type.Array(Message, {
    minItems: 1,
    description: 'The text of the last user message is spoken, or its one input_audio part transcribed',
  }),
  modalities: optional(Type.Array(Type.String(), { description: '`audio` among them to have text spoken' })),
  audio: optional(
    Type.Object({
      voice: optional(VoiceParam),
      format: optional(Type.String({ description: 'mp3, wav, pcm, pcm16 or opus' })),
    }),
  ),
  stream: optional(Type.Unknown({ description: 'true: server-sent events' })),
  stream_options: optional(Type.Object({ include_usage: optional(Type.Unknown()) })),
  n: optional(Type.Unknown({ description: '1' })),
  provider: optional(Provider),
});
export type ChatBody = Static<typeof ChatBody>;

export const ChatUsage = Type.Object({
  prompt_tokens: Type.Integer(),
  completion_tokens: Type.Integer(),
  total_tokens: Type.Integer(),
  prompt_tokens_details: Type.Object({ cached_tokens: Type.Literal(0), audio_tokens: Type.Integer() }),
  completion_tokens_details: Type.Object({ reasoning_tokens: Type.Literal(0), audio_tokens: Type.Integer() }),
});
export type ChatUsage = Static<typeof ChatUsage>;

const Nothing = Type.Null();

export const ChatCompletion = Type.Object({
  id: Type.String(),
  object: Type.Literal('chat.completion'),
  created: Type.Integer({ description: 'seconds since the epoch' }),
  model: Type.String(),
  choices: Type.Array(
    Type.Object({
      index: Type.Integer(),
      message: Type.Object({
        role: Type.Literal('assistant'),
        content: Type.Union([Type.String({ description: 'the transcript of audio input' }), Nothing]),
        refusal: Nothing,
        audio: optional(
          Type.Object({
            id: Type.String(),
            expires_at: Type.Integer(),
            data: Type.String({ description: 'base64' }),
            transcript: Type.String(),
          }),
        ),
      }),
      logprobs: Nothing,
      finish_reason: Type.Literal('stop'),
    }),
  ),
  usage: ChatUsage,
  system_fingerprint: Nothing,
});
