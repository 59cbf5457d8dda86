/** The native speech API as one dialect: its routes, what /openapi.json says of them, its error shape. */
import Type, { type TSchema } from 'typebox';
import type { Dialect, RouteDescription } from '../../server/port.js';
import { nativeError } from './errors.js';
import { asr, type NativeParts, tts } from './routes.js';
import { AsrFields, AsrResult, ErrorBody, TtsBody } from './schema.js';

const Bytes = Type.String({ format: 'binary' });

const failures = (statuses: Readonly<Record<number, string>>): RouteDescription['responses'] =>
  Object.fromEntries(
    Object.entries(statuses).map(([status, description]) => [
      status,
      { description, content: { 'application/json': ErrorBody } },
    ]),
  );

const FAILURES = failures({
  400: 'The request is not valid; the message says why',
  401: 'No key, or a wrong one',
  402: 'Quota used up',
  413: 'Body or audio too large',
  415: 'Content type not supported',
  429: 'Concurrency limit reached; see Retry-After',
  502: 'The speech engine failed',
  503: 'High load; see Retry-After',
});

const audio = (types: readonly string[]): Record<string, TSchema> =>
  Object.fromEntries(types.map((type) => [type, Bytes]));

const DESCRIPTIONS = {
  tts: {
    summary: 'Speak text',
    description: 'Audio is sent while it is synthesised. Null members count as absent, unknown ones are ignored.',
    tags: ['speech'],
    auth: true,
    parameters: [
      { name: 'model', in: 'header', schema: Type.String(), description: 'Falls back to the default where unknown' },
    ],
    requestBody: { 'application/json': TtsBody, 'application/msgpack': TtsBody },
    responses: {
      200: { description: 'Audio', content: audio(['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/ogg']) },
      ...FAILURES,
    },
  },
  asr: {
    summary: 'Transcribe audio',
    description: 'wav, mp3, m4a, ogg, webm or flac; recognised by its bytes.',
    tags: ['speech'],
    auth: true,
    requestBody: {
      'multipart/form-data': Type.Object({ audio: Bytes, ...AsrFields.properties }),
      'application/msgpack': Type.Object({ audio: Bytes, ...AsrFields.properties }),
    },
    responses: {
      200: { description: 'The words', content: { 'application/json': AsrResult } },
      ...FAILURES,
    },
  },
} as const satisfies Record<string, RouteDescription>;

export const nativeDialect = (parts: NativeParts): Dialect => ({
  name: 'native',
  prefixes: ['/v1'],
  routes: [
    { method: 'POST', path: '/v1/tts', handler: (request) => tts(request, parts), description: DESCRIPTIONS.tts },
    { method: 'POST', path: '/v1/asr', handler: (request) => asr(request, parts), description: DESCRIPTIONS.asr },
  ],
  errorReply: nativeError,
});
