/** Protocol A as one dialect: the same routes below each of its bases, its error shape for all of /compat. */
import type { Dialect, HttpRequest, Reply, Route, RouteDescription } from '../../server/port.js';
import { type Observation, traced } from '../../server/trace-requests.js';
import { type Base, basesOf, COMPATIBILITY_ROOT } from './bases.js';
import { completeChat } from './chat/routes.js';
import { issueClientSecret } from './client-secrets.js';
import { CHAT, CLIENT_SECRETS, MODELS, SPEECH, TRANSCRIPTIONS } from './descriptions.js';
import { errorReply } from './errors.js';
import { realtimeSockets } from './realtime/index.js';
import { listModels, type ProtocolAParts, speak, transcribe } from './routes.js';

type Row = readonly [
  method: 'GET' | 'POST',
  path: string,
  handler: (
    request: HttpRequest,
    base: Base,
    parts: ProtocolAParts,
    observation: Observation,
  ) => Promise<Reply>,
  description: RouteDescription,
];

const ROUTES: readonly Row[] = [
  ['POST', '/audio/speech', speak, SPEECH],
  ['POST', '/audio/transcriptions', transcribe, TRANSCRIPTIONS],
  ['POST', '/chat/completions', completeChat, CHAT],
  ['POST', '/realtime/client_secrets', issueClientSecret, CLIENT_SECRETS],
  ['GET', '/models', listModels, MODELS],
];

const routesOf = (base: Base, parts: ProtocolAParts): readonly Route[] =>
  ROUTES.map(([method, below, handler, description]) => {
    const path = base.path + below;
    return {
      method,
      path,
      handler: traced(path, parts, (request, observation) => handler(request, base, parts, observation)),
      description,
    };
  });

export const protocolADialect = (parts: ProtocolAParts): Dialect => ({
  name: 'protocol-a',
  prefixes: [COMPATIBILITY_ROOT],
  routes: basesOf(parts.vocabulary).flatMap((base) => routesOf(base, parts)),
  sockets: realtimeSockets(basesOf(parts.vocabulary), parts),
  errorReply: (error) => errorReply(error, parts.vocabulary),
});
