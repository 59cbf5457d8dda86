/** The native speech API as one dialect: its routes, what /openapi.json says of them, its error shape. */
import Type, { type TSchema } from 'typebox';
import type { Dialect, HttpRequest, Reply, Route, RouteDescription } from '../../server/port.js';
import { nativeError } from './errors.js';
import { type Observation, traced } from '../../server/trace-requests.js';
import { liveSocket } from './live.js';
import { asr, type NativeParts, tts, ttsWithTimestamps } from './routes.js';
import { AsrFields, AsrResult, ErrorBody, TimedChunk, TtsBody } from './schema.js';

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

const TRACEPARENT = {
  name: 'traceparent',
  in: 'header',
  schema: Type.String(),
  description: 'W3C trace context; a new trace starts where it is absent or invalid',
} as const;

const SPEAKING = {
  tags: ['speech'],
  auth: true,
  parameters: [
    {
      name: 'model',
      in: 'header',
      schema: Type.String(),
      description: 'Falls back to the default where unknown',
    },
    TRACEPARENT,
  ],
  requestBody: { 'application/json': TtsBody, 'application/msgpack': TtsBody },
} as const;

const DESCRIPTIONS = {
  tts: {
    summary: 'Speak text',
    description:
      'Audio is sent while it is synthesised. Null members count as absent, unknown ones are ignored.',
    ...SPEAKING,
    responses: {
      200: { description: 'Audio', content: audio(['audio/mpeg', 'audio/wav', 'audio/pcm', 'audio/ogg']) },
      ...FAILURES,
    },
  },
  ttsWithTimestamps: {
    summary: 'Speak text, with the times of its words',
    description:
      'Server-sent events, each with one chunk of audio. A failure in the middle is an event named `error` ' +
      'with `{status, message}`, and then the connection breaks.',
    ...SPEAKING,
    responses: {
      200: {
        description: 'Events, each with this as its data',
        content: { 'text/event-stream': TimedChunk },
      },
      ...FAILURES,
    },
  },
  asr: {
    summary: 'Transcribe audio',
    description: 'wav, mp3, m4a, ogg, webm or flac; recognised by its bytes.',
    tags: ['speech'],
    auth: true,
    parameters: [TRACEPARENT],
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

type NativeHandler = (request: HttpRequest, parts: NativeParts, observation: Observation) => Promise<Reply>;

interface Row {
  readonly path: string;
  readonly handler: NativeHandler;
  readonly description: RouteDescription;
}

const ROUTES: readonly Row[] = [
  { path: '/v1/tts', handler: tts, description: DESCRIPTIONS.tts },
  {
    path: '/v1/tts/stream/with-timestamp',
    handler: ttsWithTimestamps,
    description: DESCRIPTIONS.ttsWithTimestamps,
  },
  { path: '/v1/asr', handler: asr, description: DESCRIPTIONS.asr },
];

const routeOf = ({ path, handler, description }: Row, parts: NativeParts): Route => ({
  method: 'POST',
  path,
  handler: traced(path, parts, (request, observation) => handler(request, parts, observation)),
  description,
});

export const nativeDialect = (parts: NativeParts): Dialect => ({
  name: 'native',
  prefixes: ['/v1'],
  routes: ROUTES.map((row) => routeOf(row, parts)),
  sockets: [liveSocket(parts)],
  errorReply: nativeError,
});
