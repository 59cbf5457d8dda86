/** The realtime sockets of protocol A, one below each of its bases (protocol-a.md section 5). */
import { LIMITS } from '../../../../contracts/limits.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/trace-requests.js';
import type { Base } from '../bases.js';
import type { ProtocolAParts } from '../routes.js';
import { AudioShelf } from './audio-shelf.js';
import { callerOf, clientOf, type RealtimeCaller, SUBPROTOCOL } from './handshake.js';
import { ServerEvents } from './server-events.js';
import { RealtimeSession, toldOf } from './session.js';
import type { Settings } from './settings.js';
import type { RealtimeClient } from './state.js';

const SWITCHING_PROTOCOLS = 101;
const BAD_REQUEST = 400;

type Open = (socket: Socket) => SocketEvents;

/** Clients show nothing of a refused upgrade: the error comes in band, then 1008. */
const refusing =
  (error: unknown, generationId: string, ended: (status: number) => void): Open =>
  (socket) => {
    new ServerEvents(socket, generationId).error(toldOf(error), null);
    socket.close('policy');
    return { message: () => undefined, closed: () => ended(BAD_REQUEST) };
  };

/** What the log names: that of the session's own kind. */
const modelOf = ({ kind, model, transcription }: Settings): string =>
  kind === 'realtime' ? model.id : (transcription?.id ?? '');

interface Shared {
  readonly parts: ProtocolAParts;
  readonly shelf: AudioShelf;
}

/** What is kept of the request is what this closes over: sockets stay open for long, in great numbers. */
const serving =
  (client: RealtimeClient, { parts, shelf }: Shared, ended: (status: number) => void): Open =>
  (socket) =>
    new RealtimeSession(socket, client, parts, shelf, () => ended(SWITCHING_PROTOCOLS));

function opening(
  request: HttpRequest,
  caller: RealtimeCaller,
  shared: Shared,
  observation: Observation,
): Open {
  const { secret } = caller;
  const ended = (status: number): void => {
    observation.end(status);
    secret?.release();
  };
  // A client that leaves before its socket is open never closes it.
  if (secret) request.signal.addEventListener('abort', () => ended(SWITCHING_PROTOCOLS), { once: true });
  if (request.signal.aborted) ended(SWITCHING_PROTOCOLS);
  try {
    const client = clientOf(request, caller, shared.parts, observation);
    observation.model(modelOf(client.settings));
    return serving(client, shared, ended);
  } catch (error) {
    toldOf(error);
    return refusing(error, request.generationId, ended);
  }
}

async function upgrade(
  request: HttpRequest,
  shared: Shared,
  observation: Observation,
): Promise<SocketAccept> {
  const caller = await callerOf(request, shared.parts);
  return {
    protocol: SUBPROTOCOL,
    maxFrameBytes: LIMITS.socket.frameBytes,
    open: opening(request, caller, shared, observation),
  };
}

/** One socket below each base; the audio of their items stands on one shelf. */
export function realtimeSockets(bases: readonly Base[], parts: ProtocolAParts): readonly SocketRoute[] {
  const shared = { parts, shelf: new AudioShelf() };
  return bases.map(({ path }) =>
    tracedSocket(`${path}/realtime`, parts, (request, observation) => upgrade(request, shared, observation)),
  );
}
