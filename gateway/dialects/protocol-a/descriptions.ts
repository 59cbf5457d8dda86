/** What /openapi.json says of protocol A's REST routes. */
import Type from 'typebox';
import { AUDIO_CONTENT } from '../../server/openapi-audio.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi-errors.js';
import type { RouteDescription } from '../../server/port.js';
import { ChatBody, ChatCompletion } from './chat/schema.js';
import {
  ClientSecret,
  ClientSecretBody,
  ErrorBody,
  ModelList,
  SpeechBody,
  TranscriptionBody,
  TranscriptionForm,
  TranscriptionResult,
} from './schema.js';

const FAILURES = failuresAs(ErrorBody)(...SPEECH_FAILURES);
const TAGS = ['protocol A'];

export const SPEECH: RouteDescription = {
  summary: 'Speak text (protocol A)',
  description: 'Audio is sent while it is synthesised. Native options also come as headers, which win.',
  tags: TAGS,
  requestBody: { 'application/json': SpeechBody },
  responses: {
    200: { description: 'Audio', content: AUDIO_CONTENT },
    ...FAILURES,
  },
};

export const TRANSCRIPTIONS: RouteDescription = {
  summary: 'Transcribe audio (protocol A)',
  description: 'wav, mp3, m4a, ogg, webm or flac; recognised by its bytes.',
  tags: TAGS,
  requestBody: { 'multipart/form-data': TranscriptionForm, 'application/json': TranscriptionBody },
  responses: {
    200: {
      description: 'The transcript in the form that was asked for',
      content: {
        'application/json': TranscriptionResult,
        'text/plain': Type.String(),
        'application/x-subrip': Type.String(),
        'text/vtt': Type.String(),
        'text/event-stream': Type.String(),
      },
    },
    ...FAILURES,
  },
};

export const CHAT: RouteDescription = {
  summary: 'Speak text or transcribe audio as a chat completion (protocol A)',
  description:
    'With the audio modality the last user message is spoken; with input_audio in it, transcribed. This is no language model.',
  tags: TAGS,
  requestBody: { 'application/json': ChatBody },
  responses: {
    200: {
      description: 'The completion, or its chunks where `stream` is set',
      content: { 'application/json': ChatCompletion, 'text/event-stream': Type.String() },
    },
    ...FAILURES,
  },
};

export const CLIENT_SECRETS: RouteDescription = {
  summary: 'Issue a short-lived key for a browser (protocol A, realtime)',
  tags: TAGS,
  requestBody: { 'application/json': ClientSecretBody },
  responses: {
    200: { description: 'The key, and the session it opens', content: { 'application/json': ClientSecret } },
    ...FAILURES,
  },
};

export const MODELS: RouteDescription = {
  summary: 'List the models (protocol A)',
  tags: TAGS,
  auth: false,
  parameters: [
    {
      name: 'output_modalities',
      in: 'query',
      description: '`speech` or `text`',
      schema: Type.String(),
    },
  ],
  responses: { 200: { description: 'The models', content: { 'application/json': ModelList } } },
};
