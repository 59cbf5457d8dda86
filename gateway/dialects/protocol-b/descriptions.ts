/** What /openapi.json says of protocol B's REST routes. */
import Type, { type TSchema } from 'typebox';
import { SINGLE_USE_TOKEN_KINDS } from '../../../contracts/ports/single-use-tokens.js';
import { AUDIO_CONTENT } from '../../server/openapi-audio.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi-errors.js';
import type { RouteDescription } from '../../server/port.js';
import {
  ErrorBody,
  ModelList,
  SpeechBodyDescription,
  Subscription,
  TimedSpeech,
  Token,
  TranscriptionForm,
  TranscriptionResult,
  User,
  Voice,
  VoiceList,
  VoicePage,
  VoiceQuery,
} from './schema.js';

const failures = failuresAs(ErrorBody, { 404: 'No such voice' });
const FAILURES = failures(...SPEECH_FAILURES);
const TAGS = ['protocol B'];

type Parameters = NonNullable<RouteDescription['parameters']>;

const VOICE: Parameters[number] = {
  name: 'voice_id',
  in: 'path',
  required: true,
  description: 'Empty or `default` selects the default voice',
  schema: Type.String(),
};

const OUTPUT: Parameters[number] = {
  name: 'output_format',
  in: 'query',
  description: '`mp3_44100_128`, `pcm_16000`, `wav_24000`, `opus_48000_64` …; MP3 bitrates snap up to a tier',
  schema: Type.String({ default: 'mp3_44100_128' }),
};

const speaking = (
  summary: string,
  description: string,
  content: Readonly<Record<string, TSchema>>,
): RouteDescription => ({
  summary,
  description,
  tags: TAGS,
  parameters: [VOICE, OUTPUT],
  requestBody: { 'application/json': SpeechBodyDescription },
  responses: { 200: { description: 'What was spoken', content }, ...FAILURES },
});

const SENT = 'Audio is sent while it is synthesised. Native options come as headers, which win.';
const TIMED = 'Alignments are null where the engine has no timing. Reference audio is refused.';

export const SPEECH = speaking('Speak text (protocol B)', SENT, AUDIO_CONTENT);
export const SPEECH_STREAM = speaking('Speak text, streamed (protocol B)', SENT, AUDIO_CONTENT);
export const TIMED_SPEECH = speaking('Speak text, with the times of its characters (protocol B)', TIMED, {
  'application/json': TimedSpeech,
});
export const TIMED_STREAM = speaking(
  'Speak text, with the times of its characters, streamed (protocol B)',
  `A JSON object a line; times count from the start of the stream. ${TIMED}`,
  { 'application/json': TimedSpeech },
);

export const TRANSCRIPTION: RouteDescription = {
  summary: 'Transcribe audio (protocol B)',
  description: 'wav, mp3, m4a, ogg, webm or flac, recognised by its bytes, or raw samples by `file_format`.',
  tags: TAGS,
  requestBody: { 'multipart/form-data': TranscriptionForm },
  responses: {
    200: { description: 'The transcript', content: { 'application/json': TranscriptionResult } },
    ...FAILURES,
  },
};

const reading = (
  summary: string,
  schema: TSchema,
  statuses: readonly number[],
  parameters: Parameters = [],
): RouteDescription => ({
  summary,
  tags: TAGS,
  parameters,
  responses: {
    200: { description: 'Found', content: { 'application/json': schema } },
    ...failures(...statuses),
  },
});

const queryParameters: Parameters = Object.entries(VoiceQuery.properties).map(([name, schema]) => ({
  name,
  in: 'query',
  schema,
}));

export const VOICES = reading('List voices (protocol B)', VoiceList, [401]);
export const VOICE_SEARCH = reading('Search voices (protocol B)', VoicePage, [400, 401], queryParameters);
export const VOICE_BY_ID = reading('Read a voice (protocol B)', Voice, [401, 404], [VOICE]);
export const MODELS = reading('List the models (protocol B)', ModelList, [401]);
export const USER = reading('Who the key belongs to (protocol B)', User, [401]);
export const SUBSCRIPTION = reading('What may still be spoken (protocol B)', Subscription, [401]);

export const TOKEN: RouteDescription = {
  summary: 'Make a single-use token (protocol B)',
  description: 'For a browser, in place of the key: one connection or one upload, within 15 minutes.',
  tags: TAGS,
  parameters: [{ name: 'type', in: 'path', required: true, schema: Type.Enum(SINGLE_USE_TOKEN_KINDS) }],
  responses: {
    200: { description: 'The token', content: { 'application/json': Token } },
    ...failures(400, 401, 429),
  },
};
