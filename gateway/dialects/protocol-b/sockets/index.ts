/**
 * Protocol B's speech sockets, `stream-input` and `multi-stream-input` (docs/contract/protocol-b.md 3). Errors of a
 * handshake, except our own failures, are reported in band: the upgrade succeeds, then one error frame and the close.
 */
import { ServiceError } from '../../../../contracts/errors.js';
import { WIRE_FRAME_BYTES } from '../../../server/adapters/adapter.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/tracing/trace-requests.js';
import { baseOf, type ProtocolBParts } from '../parts.js';
import { closeSocket, type SpeechHandshake } from './connection.js';
import { faultOf } from './faults.js';
import { callerOfHandshake } from './identity.js';
import { MultiStreamInputSession } from './multi-stream-input.js';
import { ContextFrames } from './server-frames.js';
import { socketSettings } from './settings.js';
import { StreamInputSession } from './stream-input.js';

const FAILED = 500;

async function handshakeOf(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<SpeechHandshake> {
  const { generationId, permission } = request;
  const caller = await callerOfHandshake(request, parts);
  const settings = socketSettings(request, parts.vocabulary);
  observation.model(settings.model);
  return { settings, caller, permission, generationId, observation };
}

/** Sends the error, then closes. */
function turnAway(socket: Socket, error: ServiceError, observation: Observation): SocketEvents {
  const fault = faultOf(error);
  socket.send(new ContextFrames(undefined).fault(fault));
  closeSocket(socket, fault);
  return { message: () => undefined, closed: () => observation.failed(error) };
}

type Session = new (
  socket: Socket,
  handshake: SpeechHandshake,
  parts: ProtocolBParts,
) => { readonly connection: SocketEvents };

/** Sessions by the last part of the socket's path. */
const SESSIONS: Readonly<Record<string, Session>> = {
  'stream-input': StreamInputSession,
  'multi-stream-input': MultiStreamInputSession,
};

async function accept(
  request: HttpRequest,
  Session: Session,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<SocketAccept> {
  // Above the frame limit, so that a frame that exceeds it still gets an answer before the socket closes.
  const maxFrameBytes = WIRE_FRAME_BYTES;
  try {
    const handshake = await handshakeOf(request, parts, observation);
    const unauthenticated = handshake.caller === undefined;
    const open = (socket: Socket): SocketEvents => new Session(socket, handshake, parts).connection;
    return { maxFrameBytes, unauthenticated, open };
  } catch (error) {
    if (!(error instanceof ServiceError) || error.status >= FAILED) throw error;
    const open = (socket: Socket): SocketEvents => turnAway(socket, error, observation);
    return { maxFrameBytes, unauthenticated: true, open };
  }
}

export const speechSockets = (parts: ProtocolBParts): readonly SocketRoute[] =>
  Object.entries(SESSIONS).map(([name, Session]) => {
    const path = `${baseOf(parts.vocabulary)}/v1/text-to-speech/{voice_id?}/${name}`;
    return tracedSocket({ path, permission: 'speech' }, parts, (request, observation) =>
      accept(request, Session, parts, observation),
    );
  });
