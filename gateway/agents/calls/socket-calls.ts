/**
 * Calls by WebSocket of this process: each begins with its socket and ends with it, as no client could come back to its place in
 * the audio (docs/contract/agent-realtime.md).
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
import type {
  EventsOf,
  FurtherConnection,
  OfferedSession,
  SocketCall,
  SocketCallOptions,
  SocketCalls as SocketCallsPort,
  SocketLink,
  WayToCall,
} from '../../../contracts/ports/calls/socket-calls.js';
import type { RunningSession } from '../../../contracts/ports/sessions/sessions.js';
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

interface Door {
  readonly workspaceId: string;
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
    const session = await this.parts.runs.join(sessionId);
    if ('refused' in session) throw refusedFor(session.refused);
    return this.#open({ ...session, plan: options.revised(session.plan) }, options, link);
  }

  #open(session: RunningSession, { format, heard, line }: SocketCallOptions, link: SocketLink): SocketCall {
    const { record, plan } = session;
    const { calls, clock, runs } = this.parts;
    const { id: sessionId, workspaceId } = record;
    const call = new OpenSocketCall(
      (options, own) => line?.begin(own) ?? calls.openPhoneCall(options, own),
      { sessionId, workspaceId, ...SIDES, record: plan.recordAudio, format, heard },
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

  admit({ id, workspaceId }: EventsOf, enter: Door['enter']): () => void {
    this.#doors.set(id, { workspaceId, enter });
    return () => void this.#doors.delete(id);
  }

  /** Whether the events of that session are here. */
  owns(sessionId: string): boolean {
    return this.#doors.has(sessionId);
  }

  async wayTo({ id, workspaceId }: EventsOf, as: FurtherConnection): Promise<WayToCall | undefined> {
    const { runs, relay, nodeId } = this.parts;
    if (this.owns(id)) return (link) => this.#door(id, workspaceId)?.enter(as, link);
    const owner = await runs.owner(id);
    if (!owner?.alive || owner.nodeId === nodeId) return undefined;
    const how = {
      version: 1,
      query: new URLSearchParams({ [DOOR]: as, of: workspaceId }),
      from: '',
    } as const;
    return relay().toOwner(owner, { sessionId: id, use: 'rejoin', how });
  }

  /** A connection that another process has led here. Undefined if it is for another kind of call, or its session has gone. */
  connect(id: string, { query }: Pick<SignalConnect, 'query'>, link: SignalLink): SignalEnd | undefined {
    const as = query.get(DOOR);
    return as === 'watch' ? this.#door(id, query.get('of'))?.enter(as, link) : undefined;
  }

  #door(id: string, workspaceId: string | null): Door | undefined {
    const door = this.#doors.get(id);
    return door?.workspaceId === workspaceId ? door : undefined;
  }

  /** Begins no more calls, and ends those left after `until`. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    for (const line of this.#lines.keys()) line.end();
    return this.#registry.stop(until);
  }
}
