/** The native speech API as one dialect: its routes, what /openapi.json says of them, its error shape. */
import Type from 'typebox';
import type { Dialect, HttpRequest, Reply, Route, RouteDescription } from '../../server/port.js';
import { nativeError } from '../../server/native-error.js';
import { AUDIO_CONTENT, BYTES } from '../../server/openapi-audio.js';
import { failuresAs, SPEECH_FAILURES } from '../../server/openapi-errors.js';
import { type Observation, traced } from '../../server/trace-requests.js';
import { liveSocket } from './live.js';
import { asr, type NativeParts, tts, ttsWithTimestamps } from './routes.js';
import { AsrFields, AsrResult, ErrorBody, TimedChunk, TtsBody } from './schema.js';

const FAILURES = failuresAs(ErrorBody)(...SPEECH_FAILURES);

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
      200: { description: 'Audio', content: AUDIO_CONTENT },
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
      'multipart/form-data': Type.Object({ audio: BYTES, ...AsrFields.properties }),
      'application/msgpack': Type.Object({ audio: BYTES, ...AsrFields.properties }),
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
