/**
 * Protocol B's speech sockets, `stream-input` and `multi-stream-input` (protocol-b.md section 3). Whatever is wrong
 * with a handshake but our own failures is told in band: the upgrade succeeds, one error frame, then the close.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import { WIRE_FRAME_BYTES } from '../../../server/adapter.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/trace-requests.js';
import { baseOf, type ProtocolBParts } from '../parts.js';
import { faultOf } from './faults.js';
import { callerOfHandshake } from './identity.js';
import { type Manner, MULTIPLE, SINGLE } from './manners.js';
import { ContextFrames } from './server-frames.js';
import { closeSocket, type Handshake, SpeechSession } from './session.js';
import { socketSettings } from './settings.js';

const FAILED = 500;

async function handshakeOf(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<Handshake> {
  const { generationId } = request;
  const caller = await callerOfHandshake(request, parts);
  const settings = socketSettings(request, parts.vocabulary);
  observation.model(settings.model);
  return { settings, caller, generationId, observation };
}

/** Says why, and closes. */
function turnAway(socket: Socket, error: ServiceError, observation: Observation): SocketEvents {
  const fault = faultOf(error);
  socket.send(new ContextFrames(undefined).fault(fault));
  closeSocket(socket, fault);
  return { message: () => undefined, closed: () => observation.end(error.status) };
}

async function accept(
  request: HttpRequest,
  manner: Manner,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<SocketAccept> {
  // Above the limit, so that a frame over it is answered before the socket closes.
  const maxFrameBytes = WIRE_FRAME_BYTES;
  try {
    const handshake = await handshakeOf(request, parts, observation);
    return { maxFrameBytes, open: (socket) => new SpeechSession(socket, handshake, manner, parts) };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= FAILED) throw error;
    return { maxFrameBytes, open: (socket) => turnAway(socket, error, observation) };
  }
}

function route(manner: Manner, parts: ProtocolBParts): SocketRoute {
  const path = `${baseOf(parts.vocabulary)}/v1/text-to-speech/{voice_id?}/${manner.path}`;
  return tracedSocket(path, parts, (request, observation) => accept(request, manner, parts, observation));
}

export const speechSockets = (parts: ProtocolBParts): readonly SocketRoute[] =>
  [SINGLE, MULTIPLE].map((manner) => route(manner, parts));
