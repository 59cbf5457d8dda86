/** What /openapi.json says of protocol A's REST routes. */
import Type from 'typebox';
import type { RouteDescription } from '../../server/port.js';
import {
  ErrorBody,
  ModelList,
  SpeechBody,
  TranscriptionBody,
  TranscriptionForm,
  TranscriptionResult,
} from './schema.js';

const failures = (statuses: Readonly<Record<number, string>>): RouteDescription['responses'] =>
  Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [
      status,
      { description, content: { 'application/json': ErrorBody } },
    ]),
  );

const FAILURES = failures({
  400: 'The request is not valid, or asks for an option that is refused; the message says why',
  401: 'No key, or a wrong one',
  402: 'Quota used up',
  413: 'Body or audio too large',
  415: 'Content type not supported',
  429: 'Concurrency limit reached; see Retry-After',
  502: 'The speech engine failed',
  503: 'High load; see Retry-After',
});

const Bytes = Type.String({ format: 'binary' });
const TAGS = ['protocol A'];

export const SPEECH: RouteDescription = {
  summary: 'Speak text (protocol A)',
  description: 'Audio is sent while it is synthesised. Native options also come as headers, which win.',
  tags: TAGS,
  requestBody: { 'application/json': SpeechBody },
  responses: {
    200: {
      description: 'Audio',
      content: { 'audio/mpeg': Bytes, 'audio/wav': Bytes, 'audio/pcm': Bytes, 'audio/ogg': Bytes },
    },
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
