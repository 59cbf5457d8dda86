/**
 * The native speech API on the wire (docs/contract/native.md). Optional fields may be
 * null, which means absent: clients encode `undefined` as MessagePack nil. Unknown fields are ignored.
 */
import { NATIVE_SPEECH, NATIVE_TRANSCRIPTION } from '../../../contracts/options/native.js';
import { usedIn } from '../../../contracts/options/reading.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export const TtsBody = Type.Object(usedIn(NATIVE_SPEECH, 'body'));
export type TtsBody = Static<typeof TtsBody>;

export const AsrFields = Type.Object(usedIn(NATIVE_TRANSCRIPTION, 'body'));
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
  language_code: optional(
    Type.String({
      description: 'ISO 639-1: that of the request, else the detected one, if the engine reports it',
    }),
  ),
  language: optional(Type.String({ description: 'Its name in English' })),
});

const TimedSegment = Type.Object({
  text: Type.String({ description: 'A word, or a character of Chinese or Japanese; no punctuation' }),
  start: Type.Number({ description: 'seconds from the start of the chunk' }),
  end: Type.Number({ description: 'seconds from the start of the chunk' }),
});

/** The data of one event of the stream with timestamps. */
export const TimedChunk = Type.Object({
  audio_base64: Type.String({ description: 'May be empty; joined in order they are the whole audio' }),
  content: Type.String({ description: 'The text of the chunk `chunk_seq`' }),
  alignment: Type.Union(
    [
      Type.Object({
        segments: Type.Array(TimedSegment),
        audio_duration: Type.Number({ description: 'seconds' }),
      }),
      Type.Null(),
    ],
    { description: 'Timing of the chunk so far; replaces the one sent before. Null: no timing' },
  ),
  chunk_seq: Type.Integer({ minimum: 0 }),
  chunk_audio_offset_sec: Type.Number({
    minimum: 0,
    description: 'Where the chunk begins in the whole audio',
  }),
});

export const ErrorBody = Type.Object({ status: Type.Integer(), message: Type.String() });
