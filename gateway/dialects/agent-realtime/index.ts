/**
 * An agent as the model of `/v1/realtime`: a call of the agent platform over one WebSocket (docs/contract/agent-realtime.md). Protocol A
 * owns the address, and passes on what names an agent, or a call of one.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { RedeemedSecret } from '../../../contracts/ports/accounts/client-secrets.js';
import { carriedHere } from '../../../contracts/ports/calls/socket-calls.js';
import type { HttpRequest, SocketAccept } from '../../server/port.js';
import type { Observation } from '../../server/tracing/trace-requests.js';
import type { AgentDoor } from '../protocol-a/agent-door.js';
import { Fault, toldOf } from '../protocol-a/realtime/faults.js';
import { SUBPROTOCOL } from '../protocol-a/realtime/handshake.js';
import { refusing } from '../protocol-a/realtime/refusing.js';
import { suffixOf } from '../protocol-a/realtime/state.js';
import { clientOf, ready, settled } from './admission.js';
import { LedSocket } from './linked.js';
import { hangUp, offered } from './offers.js';
import type { AgentRealtimeParts } from './parts.js';
import { AgentSession } from './session.js';
import { sessionFields, showAgentSession } from './settings.js';
import { returned } from './returning.js';
import { wayToCall } from './watching.js';

const SWITCHING_PROTOCOLS = 101;
const UNAUTHORIZED = 401;

type Accepted = Omit<SocketAccept, 'open'>;
/** Ends the observation of the request, and releases its secret. Idempotent. */
type Ended = (status: number) => void;

const isWrongKey = (error: unknown): boolean =>
  error instanceof ServiceError && error.status === UNAUTHORIZED;

/**
 * The socket that `open` answers. A wrong key refuses the upgrade; what else is wrong is told in band. Errors: those of a wrong key, and
 * what no client is told.
 */
async function accepted(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  observation: Observation,
  open: (common: Accepted, ended: Ended) => Promise<SocketAccept>,
): Promise<SocketAccept> {
  const { generationId } = request;
  const ended: Ended = (status) => {
    observation.end(status);
    secret?.release();
  };
  const common = {
    protocol: SUBPROTOCOL,
    headers: { 'x-request-id': generationId },
    maxFrameBytes: LIMITS.socket.frameBytes,
  };
  if (secret) request.signal.addEventListener('abort', () => ended(SWITCHING_PROTOCOLS), { once: true });
  try {
    // A call ends by its own longest duration.
    return { ...(await open(common, ended)), connectionMs: null };
  } catch (error) {
    const isKnown = error instanceof Fault || error instanceof ServiceError;
    if (isWrongKey(error) || !isKnown) {
      secret?.release();
      throw error;
    }
    observation.refused(error, toldOf(error).code);
    return { ...common, open: refusing(error, generationId, ended) };
  }
}

const accept =
  (parts: AgentRealtimeParts): AgentDoor['accept'] =>
  (request, agentId, secret, observation) => {
    observation.model(agentId);
    return accepted(request, secret, observation, async (common, ended) => {
      const client = await clientOf(request, secret, parts);
      const { session, settings, calls } = await ready(agentId, client, secret, parts);
      request.facts.workspaceId = session.workspaceId;
      if (client.keyId !== undefined) request.facts.keyId = client.keyId;
      const suffix = suffixOf(request.generationId);
      return {
        ...common,
        // Strangers send no whole recordings.
        ...('address' in client && { maxFrameBytes: LIMITS.socket.rtcFrameBytes }),
        open(socket) {
          socket.chargeTo(session.workspaceId);
          const host = new AgentSession({ session, settings, suffix, byRtp: false }, { ...parts, calls });
          return host.enter(socket, () => ended(SWITCHING_PROTOCOLS));
        },
      };
    });
  };

const watch =
  (parts: AgentRealtimeParts): AgentDoor['watch'] =>
  (request, callId, observation) =>
    accepted(request, undefined, observation, async (common, ended) => {
      const { way, caller } = await wayToCall(request, callId, parts);
      request.facts.workspaceId = caller.workspaceId;
      request.facts.keyId = caller.keyId;
      return {
        ...common,
        // Other processes may have the call.
        maxFrameBytes: LIMITS.socket.rtcFrameBytes,
        open(socket) {
          socket.chargeTo(caller.workspaceId);
          return new LedSocket(socket, suffixOf(request.generationId), way, () => ended(SWITCHING_PROTOCOLS));
        },
      };
    });

/** A client whose socket broke off: led to its session, or given what a process that has died has left of it. */
const comeBack =
  (parts: AgentRealtimeParts): AgentDoor['comeBack'] =>
  (request, sessionId, secret, observation) =>
    accepted(request, secret, observation, async (common, ended) => {
      const { caller, way, goesOn } = await returned(request, sessionId, secret, parts);
      request.facts.workspaceId = caller.workspaceId;
      request.facts.keyId = caller.keyId;
      const suffix = suffixOf(request.generationId);
      const over = (): void => ended(SWITCHING_PROTOCOLS);
      return {
        ...common,
        maxFrameBytes: LIMITS.socket.rtcFrameBytes,
        open(socket) {
          socket.chargeTo(caller.workspaceId);
          if (way) return new LedSocket(socket, suffix, way, over);
          return goesOn(suffix).enter(socket, over);
        },
      };
    });

const secretSession =
  (parts: AgentRealtimeParts): AgentDoor['secretSession'] =>
  async (agentId, value, { workspaceId }) => {
    const fields = sessionFields(value);
    carriedHere(parts.calls);
    const session = await parts.sessions.find(agentId, { workspaceId });
    const settings = await settled(fields, session);
    return {
      kept: { ...fields, type: 'realtime', model: agentId },
      show: (expiresAt) =>
        showAgentSession(settings, session, expiresAt, `${parts.vocabulary.vendor}/transcribe-1`),
    };
  };

export const agentDoor = (parts: AgentRealtimeParts): AgentDoor => ({
  accept: accept(parts),
  watch: watch(parts),
  comeBack: comeBack(parts),
  secretSession: secretSession(parts),
  offered: offered(parts),
  hangUp: hangUp(parts),
});
