/**
 * Agents as models of the plain base's realtime (docs/contract/agent-realtime.md): what protocol A passes on of the address that it owns.
 */
import type { RedeemedSecret, SecretSession } from '../../../contracts/ports/accounts/client-secrets.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { HttpRequest, SocketAccept } from '../../server/port.js';
import type { Observation } from '../../server/tracing/trace-requests.js';

export interface AgentDoor {
  /** The socket of an agent. Errors: those of a wrong key; everything else is told in band. */
  accept(
    request: HttpRequest,
    agentId: string,
    secret: RedeemedSecret | undefined,
    observation: Observation,
  ): Promise<SocketAccept>;
  /** Somebody who watches a call of an agent, and steers it. Errors: those of a wrong key; everything else is told in band. */
  watch(request: HttpRequest, callId: string, observation: Observation): Promise<SocketAccept>;
  /** A client that comes back to its session by another socket. Errors: those of a wrong key; everything else is told in band. */
  comeBack(
    request: HttpRequest,
    sessionId: string,
    secret: RedeemedSecret | undefined,
    observation: Observation,
  ): Promise<SocketAccept>;
  /** The session that a client secret opens: as it is kept, and as it is shown. Errors: `Fault`, those of creating a session. */
  secretSession(
    agentId: string,
    session: unknown,
    caller: Pick<Caller, 'workspaceId'>,
  ): Promise<{ readonly kept: SecretSession; show(expiresAt: number): object }>;
  /** Answers the offer of a client that comes by WebRTC. Errors: those of creating a session, `invalid_request`, `conflict`, `overloaded`. */
  offered(
    request: HttpRequest,
    offer: RealtimeOffer,
    secret: RedeemedSecret | undefined,
  ): Promise<{ readonly callId: string; readonly sdp: string }>;
  /** Ends the call that the path names. Errors: those of `authenticate`, `not_found`. */
  hangUp(request: HttpRequest): Promise<void>;
}

export interface RealtimeOffer {
  readonly agentId: string;
  readonly sdp: string;
  /** The session that the client wishes, if it has sent one. */
  readonly session: PlainObject | undefined;
}

const AGENT = /^agent_[\w-]{1,120}$/;

/** The id, if that is an agent's. */
export const agentIn = (model: unknown): string | undefined =>
  typeof model === 'string' && AGENT.test(model) ? model : undefined;

/** The agent that a handshake names. */
export const agentNamed = ({ query }: Pick<HttpRequest, 'query'>): string | undefined =>
  query.get('agent_id') ?? agentIn(query.get('model'));

/** The session of an agent that a client comes back to. Models that speak know none. */
export const returningTo = ({ query }: Pick<HttpRequest, 'query'>): string | undefined =>
  agentNamed({ query }) !== undefined || !query.has('model')
    ? (query.get('session_id') ?? undefined)
    : undefined;
