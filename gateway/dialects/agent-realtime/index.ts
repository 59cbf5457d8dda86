/**
 * An agent as the model of `/v1/realtime`: a call of the agent platform over one WebSocket (docs/contract/agent-realtime.md). Protocol A
 * owns the address, and passes on what names an agent.
 */
import {
  CLIENT_SECRET_PREFIX,
  type RedeemedSecret,
} from '../../../contracts/ports/accounts/client-secrets.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { carriedHere, type SocketCalls } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketClient, SocketSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { authenticateKey, permitted } from '../../server/auth.js';
import { networkOf } from '../../server/client-address.js';
import type { HttpRequest, SocketAccept } from '../../server/port.js';
import type { AgentDoor } from '../protocol-a/agent-door.js';
import { Fault, toldOf } from '../protocol-a/realtime/faults.js';
import { keyOf, SUBPROTOCOL } from '../protocol-a/realtime/handshake.js';
import { refusing } from '../protocol-a/realtime/refusing.js';
import { suffixOf } from '../protocol-a/realtime/state.js';
import type { AgentRealtimeParts } from './parts.js';
import { AgentSession } from './session.js';
import {
  type AgentSettings,
  changed,
  DEFAULT_SETTINGS,
  sessionFields,
  showAgentSession,
  wantedOf,
} from './settings.js';

const SWITCHING_PROTOCOLS = 101;
const UNAUTHORIZED = 401;

/** Who calls: the workspace of a key, or of the key that issued a secret, or a client without one. Errors: those of `authenticateKey`. */
async function clientOf(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  { keys }: AgentRealtimeParts,
): Promise<SocketClient & Partial<Pick<Caller, 'keyId'>>> {
  if (secret) return permitted(secret.caller, 'sessions');
  const key = keyOf(request);
  if (key === undefined) return { address: networkOf(request.clientAddress), headers: request.headers };
  if (key.startsWith(CLIENT_SECRET_PREFIX)) throw new ServiceError('invalid_key');
  return authenticateKey(key, keys, 'sessions');
}

/** The settings that a client wishes before its call begins. Errors: `Fault`, those of `settle`. */
async function settled(fields: PlainObject, session: SocketSession): Promise<AgentSettings> {
  const settings = changed(DEFAULT_SETTINGS, fields);
  const { overrides } = await session.settle(wantedOf(fields));
  return { ...settings, overrides };
}

interface Ready {
  readonly session: SocketSession;
  readonly settings: AgentSettings;
  readonly calls: SocketCalls;
}

/** What a client of OpenAI's asks for with these: a call that goes on, which is none of ours. */
const ELSEWHERE = ['session_id', 'call_id'] as const;

/** Errors: `unsupported_option`. */
function refuseReturn({ query }: Pick<HttpRequest, 'query'>): void {
  const param = ELSEWHERE.find((name) => query.has(name));
  if (param === undefined) return;
  const message = 'A call by this socket ends with it: nobody joins one that goes on';
  throw new ServiceError('unsupported_option', { message, param });
}

/** All checks, in the order of sessions. Errors: those of creating a session, `Fault`. */
async function ready(
  agentId: string,
  client: SocketClient,
  secret: RedeemedSecret | undefined,
  parts: AgentRealtimeParts,
): Promise<Ready> {
  if (secret && secret.session['model'] !== agentId)
    throw new ServiceError('forbidden', { message: 'This client secret is for another model' });
  const session = await parts.sessions.find(agentId, client);
  const settings = secret ? await settled(secret.session, session) : DEFAULT_SETTINGS;
  const calls = carriedHere(parts.calls);
  calls.checkRoom();
  return { session, settings, calls };
}

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
});
