/**
 * Conversations with agents by protocol B's wire (docs/contract/agent-elevenlabs.md): calls of the agent platform over one WebSocket. The
 * one place below the compatibility bases that knows agents.
 */
import { CLOSE } from '../../../../contracts/close-codes.js';
import { toServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import { carriedHere } from '../../../../contracts/ports/calls/socket-calls.js';
import type { SocketClient } from '../../../../contracts/ports/sessions/socket-sessions.js';
import { authenticateKey } from '../../../server/auth.js';
import { networkOf } from '../../../server/client-address.js';
import type { HttpRequest, Socket, SocketAccept, SocketEvents, SocketRoute } from '../../../server/port.js';
import { type Observation, tracedSocket } from '../../../server/tracing/trace-requests.js';
import { redeem, socketKey } from '../auth.js';
import { baseOf, type ProtocolBParts } from '../parts.js';
import { CONVERSATION } from './rows.js';
import { faultOf } from './faults.js';
import { errorFrame } from './server-frames.js';
import { Conversation } from './session.js';

const SUBPROTOCOL = 'convai';
const KEY_PROTOCOL = 'bearer.';
const SWITCHING_PROTOCOLS = 101;
const FAILED = 500;

/** The key among the offered subprotocols: browsers cannot set headers. */
function offeredKey({ headers }: Pick<HttpRequest, 'headers'>): string | undefined {
  const offered = headers.get('sec-websocket-protocol')?.split(/, */) ?? [];
  return offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}

type Client = SocketClient & Partial<Pick<Caller, 'keyId'>>;

/** Who calls: the key of a signed address, a key, or a client without one. Errors: those of `authenticateKey`. */
async function clientOf(request: HttpRequest, agentId: string, parts: ProtocolBParts): Promise<Client> {
  const { query, headers, clientAddress, permission } = request;
  const signature = query.get('conversation_signature');
  if (signature) return redeem(signature, `conversation:${agentId}`, { permission }, parts);
  const key = socketKey(request, parts.vocabulary) ?? offeredKey(request);
  if (key !== undefined) return authenticateKey(key, parts.keys, permission);
  return { address: networkOf(clientAddress), headers };
}

/** Sends the error, then closes. */
function turnAway(socket: Socket, error: unknown, observation: Observation): SocketEvents {
  const fault = faultOf(error);
  socket.send(errorFrame(fault));
  socket.close({ code: CLOSE.policy.code, reason: fault.message });
  return { message: () => undefined, closed: () => observation.failed(error) };
}

async function opened(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<SocketAccept> {
  const agentId = request.query.get('agent_id') ?? '';
  observation.model(agentId);
  const client = await clientOf(request, agentId, parts);
  const session = await parts.conversations.sessions.find(agentId, client);
  const calls = carriedHere(parts.conversations.calls);
  calls.checkRoom();
  const { workspaceId } = session;
  observation.caller({ workspaceId, keyId: client.keyId ?? 'public' });
  const own = { ...parts, calls };
  // Strangers send no whole recordings.
  const { frameBytes, rtcFrameBytes } = LIMITS.socket;
  return {
    protocol: SUBPROTOCOL,
    maxFrameBytes: 'address' in client ? rtcFrameBytes : frameBytes,
    // A call ends by its own longest duration.
    connectionMs: null,
    open: (socket) => new Conversation(socket, session, own, () => observation.end(SWITCHING_PROTOCOLS)),
  };
}

async function accept(
  request: HttpRequest,
  parts: ProtocolBParts,
  observation: Observation,
): Promise<SocketAccept> {
  try {
    return await opened(request, parts, observation);
  } catch (error) {
    const failure = toServiceError(error);
    if (failure.status === FAILED) throw error;
    observation.refused(failure);
    return {
      protocol: SUBPROTOCOL,
      maxFrameBytes: LIMITS.socket.rtcFrameBytes,
      unauthenticated: true,
      open: (socket) => turnAway(socket, failure, observation),
    };
  }
}

/** `GET {base}/v1/convai/conversation`. */
export const conversationSocket = (parts: ProtocolBParts): SocketRoute =>
  tracedSocket(
    { path: `${baseOf(parts.vocabulary)}${CONVERSATION}`, permission: 'sessions' },
    parts,
    (request, observation) => accept(request, parts, observation),
  );
