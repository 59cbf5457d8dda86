/** An agent by WebRTC: the client's offer is answered, and its data channel is the socket of a session (docs/contract/agent-realtime.md 7). */
import { ServiceError } from '../../../contracts/errors.js';
import { invalid } from '../../../contracts/schemas/valid.js';
import { isId } from '../../../contracts/ids.js';
import type { OfferedLine } from '../../../contracts/ports/calls/offered-calls.js';
import { authenticate } from '../../server/auth.js';
import type { HttpRequest, Socket, SocketEvents } from '../../server/port.js';
import type { AgentDoor } from '../protocol-a/agent-door.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import { suffixOf } from '../protocol-a/realtime/state.js';
import { clientOf, ready, type Ready } from './admission.js';
import { Channel } from './channel.js';
import type { AgentRealtimeParts } from './parts.js';
import { AgentSession } from './session.js';
import { sessionFields } from './settings.js';
import { WaitingOffers } from './waiting-offers.js';

/** As an answer to a request. */
const told = (error: unknown): unknown =>
  error instanceof Fault ? invalid(error.message, error.param ?? 'session') : error;

/** Answers the offer; the line goes if its client does, before it has the answer. */
async function answered(request: HttpRequest, line: OfferedLine): Promise<string> {
  const leave = (): void => line.end();
  request.signal.addEventListener('abort', leave, { once: true });
  try {
    return await line.answer;
  } finally {
    request.signal.removeEventListener('abort', leave);
  }
}

/** `came`: its data channel is open. `released`: it is over. Errors: `overloaded` without a place. */
function openLine(
  request: HttpRequest,
  sdp: string,
  { session, settings, calls }: Ready,
  parts: AgentRealtimeParts,
  { came, released }: { readonly came: () => void; readonly released: () => void },
): OfferedLine {
  const from = request.fromPrivateNetwork ? request.clientAddress : '';
  const suffix = suffixOf(request.generationId);
  const { id: sessionId, workspaceId, config } = session;
  calls.checkRoom();
  // Others may watch the session before its channel is open.
  const host = new AgentSession({ session, settings, suffix, byRtp: true }, { ...parts, calls });
  const left = (): void => {
    host.abandoned();
    released();
  };
  const open = (socket: Socket): SocketEvents => {
    came();
    return host.enter(socket, () => undefined);
  };
  const channel = new Channel(workspaceId, parts, open, left);
  const offered = { sessionId, workspaceId, record: config.conversation.record_audio };
  const line = calls.offered(offered, { sdp, from }, channel.events);
  host.line = line;
  channel.attach(line);
  return line;
}

export const offered = (parts: AgentRealtimeParts): AgentDoor['offered'] => {
  const waiting = new WaitingOffers();
  return async (request, { agentId, sdp, session: wished }, secret) => {
    let release = (): void => secret?.release();
    try {
      const client = await clientOf(request, secret, parts);
      const fields = wished === undefined ? undefined : sessionFields(wished);
      const made = await ready(agentId, client, secret, parts, fields);
      const { keyId } = client;
      request.authenticated({ workspaceId: made.session.workspaceId, ...(keyId !== undefined && { keyId }) });
      const came = waiting.enter(made.session.workspaceId);
      const released = (): void => {
        came();
        secret?.release();
      };
      release = released;
      const line = openLine(request, sdp, made, parts, { came, released });
      // From now on the secret is in use as long as the line is there.
      release = () => line.end();
      return { callId: made.session.id, sdp: await answered(request, line) };
    } catch (error) {
      release();
      throw told(error);
    }
  };
};

const notFound = (): ServiceError => new ServiceError('not_found', { message: 'Call not found' });

export const hangUp =
  (parts: AgentRealtimeParts): AgentDoor['hangUp'] =>
  async (request) => {
    const { workspaceId } = await authenticate(request, parts.keys);
    const { call_id: id = '' } = request.params;
    if (!isId(id)) throw notFound();
    if (parts.calls?.leave(id, workspaceId)) return;
    if (!(await parts.sessions.end(id, workspaceId))) throw notFound();
  };
