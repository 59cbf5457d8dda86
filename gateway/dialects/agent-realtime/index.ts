/**
 * An agent as the model of `/v1/realtime`: a call of the agent platform over one WebSocket (docs/contract/agent-realtime.md). Protocol A
 * owns the address, and passes on what names an agent.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { carriedHere } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketAccept } from '../../server/port.js';
import type { AgentDoor } from '../protocol-a/agent-door.js';
import { Fault, toldOf } from '../protocol-a/realtime/faults.js';
import { SUBPROTOCOL } from '../protocol-a/realtime/handshake.js';
import { refusing } from '../protocol-a/realtime/refusing.js';
import { suffixOf } from '../protocol-a/realtime/state.js';
import { clientOf, ready, refuseReturn, settled } from './admission.js';
import { hangUp, offered } from './offers.js';
import type { AgentRealtimeParts } from './parts.js';
import { AgentSession } from './session.js';
import { sessionFields, showAgentSession } from './settings.js';

const SWITCHING_PROTOCOLS = 101;
const UNAUTHORIZED = 401;

const isWrongKey = (error: unknown): boolean =>
  error instanceof ServiceError && error.status === UNAUTHORIZED;

const accept =
  (parts: AgentRealtimeParts): AgentDoor['accept'] =>
  async (request, agentId, secret, observation): Promise<SocketAccept> => {
    const { generationId } = request;
    const ended = (status: number): void => {
      observation.end(status);
      secret?.release();
    };
    const accepted = {
      protocol: SUBPROTOCOL,
      headers: { 'x-request-id': generationId },
      maxFrameBytes: LIMITS.socket.frameBytes,
    };
    observation.model(agentId);
    if (secret) request.signal.addEventListener('abort', () => ended(SWITCHING_PROTOCOLS), { once: true });
    try {
      const client = await clientOf(request, secret, parts);
      refuseReturn(request);
      const { session, settings, calls } = await ready(agentId, client, secret, parts);
      request.facts.workspaceId = session.workspaceId;
      if (client.keyId !== undefined) request.facts.keyId = client.keyId;
      const own = { ...parts, calls };
      const suffix = suffixOf(generationId);
      return {
        ...accepted,
        // Strangers send no whole recordings.
        ...('address' in client && { maxFrameBytes: LIMITS.socket.rtcFrameBytes }),
        // A call ends by its own longest duration.
        connectionMs: null,
        open: (socket) =>
          new AgentSession(socket, { session, settings, suffix }, own, () => ended(SWITCHING_PROTOCOLS)),
      };
    } catch (error) {
      if (isWrongKey(error)) {
        secret?.release();
        throw error;
      }
      const told = error instanceof Fault || error instanceof ServiceError ? toldOf(error) : undefined;
      if (!told) {
        secret?.release();
        throw error;
      }
      observation.refused(error, told.code);
      return { ...accepted, open: refusing(error, generationId, ended) };
    }
  };

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
  secretSession: secretSession(parts),
  offered: offered(parts),
  hangUp: hangUp(parts),
});
