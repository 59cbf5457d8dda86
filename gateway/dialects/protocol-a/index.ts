/** Protocol A as one dialect: the same routes below each of its bases, and its error shape for all of its paths. */
import { withOptionHeaders } from '../../server/openapi/openapi-options.js';
import type { Dialect, Route } from '../../server/port.js';
import { tagged, tracedRoutes } from '../../server/routes.js';
import { AUDIO_LIST_ROWS } from './audio-lists.js';
import { type Base, basesOf, PREFIXES } from './bases.js';
import { CHAT_ROWS } from './chat/index.js';
import { CLIENT_SECRET_ROWS } from './client-secrets.js';
import { errorReply } from './errors.js';
import { MODEL_ROWS } from './models.js';
import type { ProtocolAParts } from './parts.js';
import { REALTIME_CALL_ROWS } from './realtime-calls.js';
import { realtimeSockets } from './realtime/index.js';
import type { ProtocolARow } from './rows.js';
import { speechRows } from './speech.js';
import { TRANSCRIPTION_ROWS } from './transcription.js';

const rowsOf = (base: Base): readonly ProtocolARow[] => [
  ...speechRows(base),
  ...TRANSCRIPTION_ROWS,
  ...CHAT_ROWS,
  ...CLIENT_SECRET_ROWS,
  ...MODEL_ROWS,
  ...(base.agents ? REALTIME_CALL_ROWS : []),
  ...(base.audioLists ? AUDIO_LIST_ROWS : []),
];

const routesOf = (base: Base, parts: ProtocolAParts): readonly Route[] =>
  tracedRoutes(withOptionHeaders(tagged('protocol A', rowsOf(base)), parts), { ...parts, base }, base.path);

export function protocolADialect(parts: ProtocolAParts): Dialect {
  const bases = basesOf(parts.vocabulary, parts.pcmRates);
  return {
    name: 'protocol-a',
    prefixes: PREFIXES,
    routes: bases.flatMap((base) => routesOf(base, parts)),
    sockets: realtimeSockets(bases, parts),
    requestIdHeader: 'x-request-id',
    errorReply: (error) => errorReply(error, parts.vocabulary),
  };
}
