/** Protocol B as one dialect: its routes and sockets below one base, its error shape for everything there. */
import type { Dialect, HttpRequest, Reply, Route, RouteDescription, SocketRoute } from '../../server/port.js';
import { type Observation, traced } from '../../server/trace-requests.js';
import {
  MODELS,
  SPEECH,
  SPEECH_STREAM,
  SUBSCRIPTION,
  TIMED_SPEECH,
  TIMED_STREAM,
  TOKEN,
  TRANSCRIPTION,
  USER,
  VOICE_BY_ID,
  VOICE_SEARCH,
  VOICES,
} from './descriptions.js';
import { errorReply, requestIds } from './errors.js';
import { listModels } from './models.js';
import { baseOf, type ProtocolBParts } from './parts.js';
import { realtimeTranscriptionSocket } from './realtime/index.js';
import { speechSockets } from './sockets/index.js';
import { speak, speakTimed, streamTimed } from './speech.js';
import { issueToken } from './tokens.js';
import { transcribe } from './transcription.js';
import { readSubscription, readUser } from './user.js';
import { listVoices, readVoice, searchVoices } from './voices.js';

type Row = readonly [
  method: 'GET' | 'POST',
  path: string,
  handler: (request: HttpRequest, parts: ProtocolBParts, observation: Observation) => Promise<Reply>,
  description: RouteDescription,
];

const SPEAK = '/v1/text-to-speech/{voice_id?}';

const ROUTES: readonly Row[] = [
  ['POST', SPEAK, speak, SPEECH],
  ['POST', `${SPEAK}/stream`, speak, SPEECH_STREAM],
  ['POST', `${SPEAK}/with-timestamps`, speakTimed, TIMED_SPEECH],
  ['POST', `${SPEAK}/stream/with-timestamps`, streamTimed, TIMED_STREAM],
  ['POST', '/v1/speech-to-text', transcribe, TRANSCRIPTION],
  ['GET', '/v1/voices', listVoices, VOICES],
  ['GET', '/v2/voices', searchVoices, VOICE_SEARCH],
  ['GET', '/v1/voices/{voice_id}', readVoice, VOICE_BY_ID],
  ['GET', '/v1/models', listModels, MODELS],
  ['GET', '/v1/user', readUser, USER],
  ['GET', '/v1/user/subscription', readSubscription, SUBSCRIPTION],
  ['POST', '/v1/single-use-token/{type}', issueToken, TOKEN],
];

function routeOf([method, below, handler, description]: Row, parts: ProtocolBParts): Route {
  const path = baseOf(parts.vocabulary) + below;
  return {
    method,
    path,
    handler: traced(path, parts, (request, observation) => handler(request, parts, observation)),
    description,
  };
}

/** A 101 names its request like any other reply. */
const named = ({ path, upgrade }: SocketRoute): SocketRoute => ({
  path,
  async upgrade(request) {
    const decision = await upgrade(request);
    return 'refuse' in decision ? decision : { ...decision, headers: requestIds(request.generationId) };
  },
});

export const protocolBDialect = (parts: ProtocolBParts): Dialect => ({
  name: 'protocol-b',
  prefixes: [baseOf(parts.vocabulary)],
  routes: ROUTES.map((row) => routeOf(row, parts)),
  sockets: [...speechSockets(parts), realtimeTranscriptionSocket(parts)].map(named),
  errorReply: (error, { generationId }) => errorReply(error, generationId),
});
