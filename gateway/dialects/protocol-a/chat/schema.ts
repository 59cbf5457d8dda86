/**
 * Schemas of chat completions (docs/contract/protocol-a.md 4): the request and the whole answer.
 * Null means absent, unknown fields are ignored; only the last user message is read.
 */
import { A_CHAT } from '../../../../contracts/options/protocol-a.js';
import { usedIn } from '../../../../contracts/options/reading.js';
import { type Static, type TSchema, Type } from '../../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export const ChatBody = Type.Object(usedIn(A_CHAT, 'body'));
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
