/**
 * The native speech API on the wire (docs/contract/native.md). Optional fields may be
 * null, which means absent: clients encode `undefined` as MessagePack nil. Unknown fields are ignored.
 */
import { NativeOptions } from '../../../contracts/schemas/native-options.js';
import { type Static, type TSchema, Type } from '../../../contracts/schemas/type.js';

const optional = <S extends TSchema>(schema: S) => Type.Optional(schema);

export const TtsBody = Type.Object({
  text: Type.String({ description: 'What to say. Empty text gives empty audio.' }),
  ...NativeOptions.properties,
  references: optional(
    Type.Unknown({ description: 'Reference audio `{audio, text}[]`; MessagePack bodies only.' }),
  ),
  format: optional(Type.Enum(['wav', 'pcm', 'mp3', 'opus'], { default: 'mp3' })),
  sample_rate: optional(Type.Integer({ description: 'Hz; 44100 by default, 48000 for opus.' })),
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
