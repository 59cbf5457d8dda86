/**
 * The socket of protocol B's realtime transcription (docs/contract/protocol-b.md 5). The upgrade always succeeds; a
 * client without permission or with invalid options gets an error frame, then the socket closes (rule 2).
 */
import { CLOSE } from '../../../../contracts/close-codes.js';
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { live } from '../../../../contracts/ports/accounts/identity.js';
import { hasOptionHeaders } from '../../../../contracts/schemas/option-sources.js';
import { WIRE_FRAME_BYTES } from '../../../server/adapters/adapter.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/tracing/trace-requests.js';
import { callerOrToken, socketKey } from '../auth.js';
import { baseOf, type ProtocolBParts } from '../parts.js';
import { faultOf, inputFault } from './errors.js';
import { hintOf, sessionOptions } from './options.js';
import { errorFrame } from './server-frames.js';
import { type SessionClient, type TranscriptionSessionParts, TranscriptionSession } from './session.js';

export type RealtimeTranscriptionParts = TranscriptionSessionParts & Pick<ProtocolBParts, 'keys' | 'tokens'>;

async function clientOf(
  request: HttpRequest,
  parts: RealtimeTranscriptionParts,
  observation: Observation,
): Promise<SessionClient> {
  const { headers, query, generationId } = request;
  const { headerPrefix } = parts.vocabulary;
  const key = socketKey(request, parts.vocabulary);
  const caller = await callerOrToken(request, 'realtime_scribe', parts, key);
  const options = sessionOptions(query, parts.vocabulary);
  parts.transcription.checkLanguage({ model: options.model, ...hintOf(options) });
  observation.model(options.model);
  const refused = hasOptionHeaders(headers, headerPrefix)
    ? inputFault(`${headerPrefix}* headers are for synthesis only`)
    : undefined;
  return { caller: live(caller), options, generationId, refused, observation };
}

/** Sends the error, then closes. */
function refuse(socket: Socket, error: ServiceError, observation: Observation): SocketEvents {
  const fault = faultOf(error);
  socket.send(errorFrame(fault));
  socket.close({ code: CLOSE[fault.close ?? 'internal'].code, reason: fault.message });
  return { message: () => undefined, closed: () => observation.failed(error) };
}

async function accept(
  request: HttpRequest,
  parts: RealtimeTranscriptionParts,
  observation: Observation,
): Promise<SocketAccept> {
  // Above the frame limit, so that a frame that exceeds it still gets an answer before the socket closes.
  const limits = { maxFrameBytes: WIRE_FRAME_BYTES };
  try {
    const client = await clientOf(request, parts, observation);
    return { ...limits, open: (socket) => new TranscriptionSession(socket, client, parts) };
  } catch (error) {
    const failure = toServiceError(error);
    const open = (socket: Socket): SocketEvents => refuse(socket, failure, observation);
    return { ...limits, unauthenticated: true, open };
  }
}

/** `GET {base}/v1/speech-to-text/realtime`. */
export const realtimeTranscriptionSocket = (parts: RealtimeTranscriptionParts): SocketRoute =>
  tracedSocket(
    { path: `${baseOf(parts.vocabulary)}/v1/speech-to-text/realtime`, permission: 'speech' },
    parts,
    (request, observation) => accept(request, parts, observation),
  );
