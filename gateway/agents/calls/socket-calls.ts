/**
 * Calls by WebSocket of this process: each begins with its socket and ends with it, as no client could come back to its place in
 * the audio (docs/contract/agent-realtime.md).
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { IDENTITIES, type PhoneMedia } from '../../../contracts/ports/calls/calls.js';
import type {
  SocketCall,
  SocketCallOptions,
  SocketCalls as SocketCallsPort,
  SocketLink,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { RunningSession } from '../../../contracts/ports/sessions/sessions.js';
import { carrying } from './carriers.js';
import { refusedFor } from './joining.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';
import { OpenSocketCall } from './socket-call.js';

export interface SocketCallsParts extends CallParts {
  readonly calls: PhoneMedia;
  /** Whether this process may take another call of any kind. */
  readonly hasRoom: () => boolean;
}

export class SocketCalls implements SocketCallsPort {
  readonly #registry: CallRegistry<OwnedCall>;
  #stopping = false;

  constructor(private readonly parts: SocketCallsParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.#registry.all.length;
  }

  checkRoom(): void {
    const retryAfter = LIMITS.http.drainRetrySeconds;
    if (this.#stopping) throw new ServiceError('draining', { retryAfter });
    if (this.parts.held.holds && this.parts.hasRoom()) return;
    throw new ServiceError('overloaded', {
      message: 'This node has no place for another call, try again later',
      retryAfter,
    });
  }

  async begin(sessionId: string, options: SocketCallOptions, link: SocketLink): Promise<SocketCall> {
    this.checkRoom();
    const session = await this.parts.runs.join(sessionId);
    if ('refused' in session) throw refusedFor(session.refused);
    return this.#open({ ...session, plan: options.revised(session.plan) }, options, link);
  }

  #open(session: RunningSession, { format, heard }: SocketCallOptions, link: SocketLink): SocketCall {
    const { record, plan } = session;
    const { calls, clock, runs } = this.parts;
    const { id: sessionId, workspaceId, agentName } = record;
    const user = { identity: IDENTITIES.user, name: '' };
    const agent = { identity: IDENTITIES.agent, name: agentName };
    const call = new OpenSocketCall(
      calls,
      { sessionId, workspaceId, user, agent, record: plan.recordAudio, format, heard },
      link,
      clock,
    );
    const owned = new OwnedCall(call, session, this.parts, carrying('socket', record, runs));
    call.ownedBy(owned);
    this.#registry.add(owned);
    return call;
  }

  /** Begins no more calls, and ends those left after `until`. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    return this.#registry.stop(until);
  }
}
