/**
 * Protocol B's realtime transcription as a socket (protocol-b.md section 5). The upgrade always succeeds: who may
 * not, or asks for what there is not, is told so in the socket's own words, and then it closes (spec rule 2).
 */
import { type ServiceError, toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { hasOptionHeaders } from '../../../../contracts/schemas/option-sources.js';
import { WIRE_FRAME_BYTES } from '../../../server/adapter.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/trace-requests.js';
import { callerOrToken } from '../auth.js';
import { baseOf, type ProtocolBParts } from '../parts.js';
import { faultOf, inputFault } from './errors.js';
import { sessionOptions } from './options.js';
import { errorFrame } from './server-frames.js';
import { type SessionClient, type SessionParts, TranscriptionSession } from './session.js';

export type RealtimeTranscriptionParts = SessionParts & Pick<ProtocolBParts, 'keys' | 'tokens'>;

/** The session ends itself and says why; this is for one that did not. */
const BACKSTOP_MS = LIMITS.socket.connectionMs + 60_000;

async function clientOf(
  request: HttpRequest,
  parts: RealtimeTranscriptionParts,
  observation: Observation,
): Promise<SessionClient> {
  const { headers, query, generationId } = request;
  const { headerPrefix } = parts.vocabulary;
  const caller = await callerOrToken(request, 'realtime_scribe', parts);
  const options = sessionOptions(query, parts.vocabulary);
  observation.model(options.model);
  const refused = hasOptionHeaders(headers, headerPrefix)
    ? inputFault(`${headerPrefix}* headers are for synthesis only`)
    : undefined;
  return { caller, options, generationId, refused, observation };
}

/** Says why, and closes. */
function refuse(socket: Socket, error: ServiceError, observation: Observation): SocketEvents {
  const fault = faultOf(error);
  socket.send(errorFrame(fault));
  socket.close(fault.close ?? 'internal');
  return { message: () => undefined, closed: () => observation.end(error.status) };
}

async function accept(
  request: HttpRequest,
  parts: RealtimeTranscriptionParts,
  observation: Observation,
): Promise<SocketAccept> {
  // Above the limit, so that a frame over it is answered before the socket closes.
  const limits = { maxFrameBytes: WIRE_FRAME_BYTES, connectionMs: BACKSTOP_MS };
  try {
    const client = await clientOf(request, parts, observation);
    return { ...limits, open: (socket) => new TranscriptionSession(socket, client, parts) };
  } catch (error) {
    const failure = toServiceError(error);
    return { ...limits, open: (socket) => refuse(socket, failure, observation) };
  }
}

/** `GET {base}/v1/speech-to-text/realtime`. */
export const realtimeTranscriptionSocket = (parts: RealtimeTranscriptionParts): SocketRoute =>
  tracedSocket(`${baseOf(parts.vocabulary)}/v1/speech-to-text/realtime`, parts, (request, observation) =>
    accept(request, parts, observation),
  );
