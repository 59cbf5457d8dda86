/**
 * Calls by WebSocket of this process: each begins with its socket, and outlasts one that breaks off for a while, so that its client can
 * come back (docs/contract/agent-realtime.md). A session whose process has died is taken over by the one that its client reaches.
 */
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  IDENTITIES,
  type PhoneMedia,
  type SignalConnect,
  type SignalEnd,
  type SignalLink,
} from '../../../contracts/ports/calls/calls.js';
import type {
  ChannelEvents,
  ConnectionOffer,
  OfferedLine,
  OfferedMedia,
} from '../../../contracts/ports/calls/offered-calls.js';
import {
  type EventsOf,
  FURTHER_CONNECTIONS,
  type FurtherConnection,
  type OfferedSession,
  type SocketCall,
  type SocketCallOptions,
  type SocketCalls as SocketCallsPort,
  type SocketLink,
  type WayToCall,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { RunningSession } from '../../../contracts/ports/sessions/sessions.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import { carrying } from './carriers.js';
import { refusedFor } from './joining.js';
import type { NodeRelay } from './node-relay.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';
import { OpenSocketCall } from './socket-call.js';

export interface SocketCallsParts extends CallParts {
  readonly calls: PhoneMedia;
  readonly offers: OfferedMedia;
  /** Whether this process may take another call of any kind. */
  readonly hasRoom: () => boolean;
  readonly nodeId: string;
  /** The way to a call of another process, on this machine or another one. */
  readonly relay: () => Pick<NodeRelay, 'toOwner'>;
  /** Whether there are other processes. */
  readonly hasPeers: () => boolean;
}

/** In the query of a relayed connection: which door it is for. */
const DOOR = 'realtime';

interface Door extends EventsOf {
  enter(as: FurtherConnection, link: SignalLink): SignalEnd | undefined;
}

/** Neither side has a name here: nothing shows it. */
const SIDES = {
  user: { identity: IDENTITIES.user, name: '' },
  agent: { identity: IDENTITIES.agent, name: '' },
} as const;

export class SocketCalls implements SocketCallsPort {
  readonly #registry: CallRegistry<OwnedCall>;
  /** Lines whose call has not begun. */
  readonly #lines = new Map<OfferedLine, OfferedSession>();
  /** Of sessions whose events are here. */
  readonly #doors = new Map<string, Door>();
  #stopping = false;

  constructor(private readonly parts: SocketCallsParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Calls that have not ended, and those that are about to begin. */
  get size(): number {
    return this.#registry.all.length + this.#lines.size;
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

  offered(session: OfferedSession, offer: ConnectionOffer, channel: ChannelEvents): OfferedLine {
    this.checkRoom();
    const options = { ...session, ...SIDES, offer };
    const line = this.parts.offers.openLine(options, {
      share: channel.share,
      opened: () => channel.opened(),
      event: (text) => channel.event(text),
      closed: () => {
        this.#lines.delete(line);
        channel.closed();
      },
    });
    this.#lines.set(line, session);
    return line;
  }

  leave(sessionId: string, workspaceId: string): boolean {
    for (const [line, session] of this.#lines) {
      if (session.sessionId !== sessionId || session.workspaceId !== workspaceId) continue;
      line.end();
      return true;
    }
    return false;
  }

  async begin(sessionId: string, options: SocketCallOptions, link: SocketLink): Promise<SocketCall> {
    // Its line has its place already.
    if (options.line) this.#lines.delete(options.line);
    this.checkRoom();
    const session = options.resumed ?? (await this.#joined(sessionId));
    return this.#open({ ...session, plan: options.revised(session.plan) }, options, link);
  }

  async #joined(sessionId: string): Promise<RunningSession> {
    const session = await this.parts.runs.join(sessionId);
    if ('refused' in session) throw refusedFor(session.refused);
    return session;
  }

  #open(session: RunningSession, { format, heard, line }: SocketCallOptions, link: SocketLink): SocketCall {
    const { record, plan, part } = session;
    const { calls, clock, runs } = this.parts;
    const { id: sessionId, workspaceId } = record;
    const call = new OpenSocketCall(
      (options, own) => line?.begin(own) ?? calls.openPhoneCall(options, own),
      {
        sessionId,
        workspaceId,
        ...SIDES,
        record: plan.recordAudio,
        format,
        heard,
        isPaced: true,
        ...(part !== undefined && { part }),
      },
      link,
      clock,
    );
    const owned = new OwnedCall(call, session, this.parts, carrying('socket', record, runs));
    call.ownedBy(owned);
    this.#registry.add(owned);
    return call;
  }

  get hasPeers(): boolean {
    return this.parts.hasPeers();
  }

  admit({ id, workspaceId, agentId }: EventsOf, enter: Door['enter']): () => void {
    this.#doors.set(id, { id, workspaceId, agentId, enter });
    return () => void this.#doors.delete(id);
  }

  /** Whether the events of that session are here. */
  owns(sessionId: string): boolean {
    return this.#doors.has(sessionId);
  }

  async wayTo(session: EventsOf, as: FurtherConnection): Promise<WayToCall | undefined> {
    const { id, workspaceId: of, agentId } = session;
    const { runs, relay, nodeId } = this.parts;
    if (this.owns(id)) return (link) => this.#door(session)?.enter(as, link);
    const owner = await runs.owner(id);
    if (!owner?.alive) return undefined;
    // A call of another kind, or one that is ending.
    if (owner.nodeId === nodeId) return () => undefined;
    const query = new URLSearchParams({ [DOOR]: as, of, ...(agentId !== undefined && { agent: agentId }) });
    return relay().toOwner(owner, { sessionId: id, use: 'rejoin', how: { version: 1, query, from: '' } });
  }

  /** A connection that another process has led here. Undefined if it is for another kind of call, or its session has gone. */
  connect(id: string, { query }: Pick<SignalConnect, 'query'>, link: SignalLink): SignalEnd | undefined {
    const as = FURTHER_CONNECTIONS.find((each) => each === query.get(DOOR));
    const [workspaceId, agentId] = [query.get('of') ?? '', query.get('agent') ?? undefined];
    return as && this.#door({ id, workspaceId, agentId })?.enter(as, link);
  }

  #door({ id, workspaceId, agentId }: EventsOf): Door | undefined {
    const door = this.#doors.get(id);
    const isTheirs = door?.workspaceId === workspaceId && (agentId === undefined || door.agentId === agentId);
    return isTheirs ? door : undefined;
  }

  async takeOver(sessionId: string): Promise<RunningSession | undefined> {
    this.checkRoom();
    const taken = await this.parts.runs.takeOver(sessionId);
    return 'record' in taken ? withAgentInCharge(taken, this.parts.agents) : undefined;
  }

  giveUp(sessionId: string): Promise<void> {
    return this.parts.runs.release(sessionId);
  }

  /** Begins no more calls, and ends those left after `until`. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    for (const line of this.#lines.keys()) line.end();
    return this.#registry.stop(until);
  }
}
