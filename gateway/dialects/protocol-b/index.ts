/** Protocol B as one dialect: routes and sockets below one base path, with this protocol's error shape. */
import { withOptionHeaders } from '../../server/openapi/openapi-options.js';
import type { Dialect, SocketRoute } from '../../server/port.js';
import { tagged, tracedRoutes } from '../../server/routes.js';
import { conversationSocket } from './agents/index.js';
import { CONVERSATION_ROWS } from './agents/rows.js';
import { errorReply, requestIds } from './errors.js';
import { MODEL_ROWS } from './models.js';
import { baseOf, type ProtocolBParts } from './parts.js';
import { realtimeTranscriptionSocket } from './realtime/index.js';
import { speechSockets } from './sockets/index.js';
import { SPEECH_ROWS } from './speech.js';
import { TOKEN_ROWS } from './tokens.js';
import { TRANSCRIPTION_ROWS } from './transcription.js';
import { USER_ROWS } from './user.js';
import { VOICE_ROWS } from './voices.js';

const ROWS = tagged('protocol B', [
  ...SPEECH_ROWS,
  ...TRANSCRIPTION_ROWS,
  ...VOICE_ROWS,
  ...MODEL_ROWS,
  ...USER_ROWS,
  ...TOKEN_ROWS,
  ...CONVERSATION_ROWS,
]);

/** Adds the request's id to the 101, as to any other reply. */
const named = ({ upgrade, ...route }: SocketRoute): SocketRoute => ({
  ...route,
  async upgrade(request) {
    const decision = await upgrade(request);
    return 'refuse' in decision ? decision : { ...decision, headers: requestIds(request.generationId) };
  },
});

export const protocolBDialect = (parts: ProtocolBParts): Dialect => ({
  name: 'protocol-b',
  prefixes: [baseOf(parts.vocabulary)],
  routes: tracedRoutes(withOptionHeaders(ROWS, parts), parts, baseOf(parts.vocabulary)),
  keyHeader: parts.vocabulary.protocolBKeyHeader,
  sockets: [...speechSockets(parts), realtimeTranscriptionSocket(parts), conversationSocket(parts)].map(
    named,
  ),
  errorReply: (error, { generationId }) => errorReply(error, generationId),
});
