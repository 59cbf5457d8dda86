/** The realtime sockets of protocol A, one below each of its bases (docs/contract/protocol-a.md 5). */
import { LIMITS } from '../../../../contracts/limits.js';
import type { RedeemedSecret } from '../../../../contracts/ports/accounts/client-secrets.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/tracing/trace-requests.js';
import { agentIn, agentNamed, returningTo } from '../agent-door.js';
import type { Base } from '../bases.js';
import type { ProtocolAParts } from '../parts.js';
import { ItemAudioCache } from './item-audio-cache.js';
import { callerOf, clientOf, type RealtimeCaller, redeemed, SUBPROTOCOL } from './handshake.js';
import { refusing } from './refusing.js';
import { toldOf } from './faults.js';
import { RealtimeSession } from './session.js';
import type { Settings } from './settings.js';
import type { RealtimeClient } from './state.js';

const SWITCHING_PROTOCOLS = 101;

type Open = (socket: Socket) => SocketEvents;

/** The model for the log: the one that fits the session's kind. */
const modelOf = ({ kind, model, transcription }: Settings): string =>
  kind === 'realtime' ? model.id : (transcription?.id ?? '');

interface Shared {
  readonly parts: ProtocolAParts;
  readonly audioCache: ItemAudioCache;
}

/** Keeps no more of the request than the session needs: many sockets stay open for long. */
const serving =
  (client: RealtimeClient, { parts, audioCache }: Shared, ended: (status: number) => void): Open =>
  (socket) =>
    new RealtimeSession(socket, client, parts, audioCache, () => ended(SWITCHING_PROTOCOLS));

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
  // A client that leaves before its socket is open causes no close event.
  if (secret) request.signal.addEventListener('abort', () => ended(SWITCHING_PROTOCOLS), { once: true });
  if (request.isAborted) ended(SWITCHING_PROTOCOLS);
  try {
    const client = clientOf(request, caller, shared.parts, observation);
    observation.model(modelOf(client.settings));
    return serving(client, shared, ended);
  } catch (error) {
    observation.refused(error, toldOf(error).code);
    return refusing(error, request.generationId, ended);
  }
}

/** The agent that the handshake or its secret names; below bases that know none, an agent's id is the name of no model. */
const agentOf = (request: HttpRequest, secret: RedeemedSecret | undefined, base: Base): string | undefined =>
  base.agents ? (agentNamed(request) ?? agentIn(secret?.session['model'])) : undefined;

async function upgrade(
  request: HttpRequest,
  shared: Shared,
  base: Base,
  observation: Observation,
): Promise<SocketAccept> {
  const { agents } = shared.parts;
  const callId = base.agents ? request.query.get('call_id') : null;
  if (agents && callId !== null) return agents.watch(request, callId, observation);
  const secret = await redeemed(request, shared.parts);
  const agentId = agentOf(request, secret, base);
  const sessionId = base.agents ? returningTo(request) : undefined;
  if (agents && sessionId !== undefined) return agents.comeBack(request, sessionId, secret, observation);
  if (agents && agentId !== undefined) return agents.accept(request, agentId, secret, observation);
  const caller = await callerOf(request, secret, shared.parts);
  return {
    protocol: SUBPROTOCOL,
    headers: { 'x-request-id': request.generationId },
    maxFrameBytes: LIMITS.socket.frameBytes,
    open: opening(request, caller, shared, observation),
  };
}

/** Those who watch a call of an agent, or come back to one, do so while calls last. */
const isOfCall =
  ({ agents }: Base) =>
  ({ query }: Pick<HttpRequest, 'query'>): boolean =>
    agents && (query.has('call_id') || returningTo({ query }) !== undefined);

/** One socket below each base; all share one cache for the audio of items. */
export function realtimeSockets(bases: readonly Base[], parts: ProtocolAParts): readonly SocketRoute[] {
  const shared = { parts, audioCache: new ItemAudioCache() };
  return bases.map((base) =>
    tracedSocket(
      { path: `${base.path}/realtime`, permission: 'speech', whileDraining: isOfCall(base) },
      parts,
      (request, observation) => upgrade(request, shared, base, observation),
    ),
  );
}
