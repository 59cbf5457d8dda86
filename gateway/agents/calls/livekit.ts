/**
 * Calls of livekit mode (docs/contract/decisions.md 22). The agent must be in the room when the user comes, so a session's call begins before
 * its token is given out: the cluster is asked for an agent, and gives the job to one of the installation's processes, by
 * their load (ops/adr/0041-agents-of-livekit.md). The user's arrival spends the token.
 */
import { tooManyCalls } from '../../../contracts/admission/call-places.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError, whyOf } from '../../../contracts/errors.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import {
  type AgentWork,
  IDENTITIES,
  type OfferedJob,
  type RoomCall,
  type RoomCalls,
  type RoomEntry,
} from '../../../contracts/ports/calls/calls.js';
import { type NodeLoad, type Nodes, stateOf } from '../../../contracts/ports/calls/nodes.js';
import type { RunningSession, SessionRecord } from '../../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../../contracts/time/repeat.js';
import { pause } from '../conversations/record.js';
import { parseArguments } from '../conversations/tools/arguments.js';
import { encodeEvent, TOPICS } from '../conversations/client/events.js';
import { Keypad } from '../conversations/client/keypad.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import type { PhoneLine } from '../conversations/tools/tool.js';
import type { ClosedBy } from '../conversations/closing.js';
import { type Carrier, carrying } from './carriers.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';
import { FirstConnection } from './first-connection.js';

/** Calls that come in by telephone, in rooms of the cluster's SIP service. */
export interface Telephones {
  /** The session of the call in that room; undefined if it was rejected. */
  answer(room: string, numberId: string): Promise<RunningSession | undefined>;
  /** Connects the caller of that session to somebody else. */
  transfer(called: SessionRecord): NonNullable<PhoneLine['transfer']>;
}

export interface LivekitParts extends CallParts {
  readonly telephones: Telephones;
  readonly calls: RoomCalls;
  readonly nodeId: string;
  readonly nodes: Nodes;
  /** Most calls of this process at once. */
  readonly places: number;
  /** The load of the machine with so many calls of this process. */
  readonly loadOf: (calls: number) => NodeLoad;
}

/** The share of all places that may wait for visitors without a key, who may never come. */
const PUBLIC_SHARE = 0.25;
const AGAIN_SECONDS = 5;
/** Interval between two checks whether an agent has come. */
const LOOK_MS = 100;

const noRoom = (): ServiceError => new ServiceError('engine_busy', { retryAfter: AGAIN_SECONDS });

/** Data about a session by which a process decides whether it has room for it. */
const metadataOf = ({ agentName, source }: SessionRecord): string =>
  JSON.stringify({ agent: agentName, source });

/**
 * Makes the session active; false if it has ended meanwhile. Errors: `concurrency_exceeded` for a visitor who comes when the
 * workspace has as many calls as it may.
 */
async function activate({ id, status }: SessionRecord, { runs }: CallParts): Promise<boolean> {
  if (status === 'active') return runs.isOwner(id);
  const joined = await runs.join(id);
  const why = 'refused' in joined ? joined.refused : undefined;
  if (why === 'full') throw tooManyCalls();
  // One that was taken over may be joined already.
  const refused = why !== undefined && !(await runs.isOwner(id));
  return !refused && runs.activate(id);
}

/** Places kept for jobs that have not arrived yet. */
class ReservedPlaces {
  readonly #jobs = new Map<string, () => void>();

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#jobs.size;
  }

  add(job: string): void {
    this.#jobs.set(
      job,
      this.clock.after(CALL_TIMES.roomJoinMs, () => this.#jobs.delete(job)),
    );
  }

  remove(job: string): void {
    this.#jobs.get(job)?.();
    this.#jobs.delete(job);
  }
}

/** Decides whether a call's room, and so its session, stays when this process leaves it. */
class RoomConnection extends FirstConnection {
  /** This process leaves the call to another one: it was taken for dead, or stops before the user has come. */
  isLeft = false;
  /** Whether the server answered when it was last asked for a user whose media is lost. */
  reachable = true;

  stays(broke: boolean): boolean {
    return this.isLeft || (broke && this.isSettled);
  }
}

type HandOverRequest = (asked: Promise<string | undefined>) => Promise<string | undefined>;

/** Somebody else to whom the other side is asked to go; it then leaves as if it hung up. */
class HandOver {
  /** Whether it was asked, and goes. */
  done: Promise<boolean> = Promise.resolve(false);

  /** Resolves to the reason of a refusal. */
  async ask(asked: Promise<string | undefined>, gone: () => void): Promise<string | undefined> {
    this.done = asked.then((refusal) => refusal === undefined).catch(() => false);
    const refusal = await asked;
    if (refusal === undefined) gone();
    return refusal;
  }
}

/** Causes for which another process goes on in the room. */
const LEFT: ReadonlySet<ClosedBy> = new Set(['lost', 'unclaimed']);

const roomCarrier = (
  record: SessionRecord,
  parts: LivekitParts,
  connection: RoomConnection,
  handOver: HandOver,
  line: PhoneLine,
): Carrier => ({
  ...carrying('livekit', record, parts.runs),
  line,
  isSettled: () => connection.isSettled,
  activate: () => activate(record, parts),
  connected: () => connection.connected(),
  closing(cause) {
    connection.isLeft ||= LEFT.has(cause);
  },
  async release() {
    await parts.runs.release(record.id);
    // Nobody looks for a session without a conversation: the cluster is asked for another agent.
    if (connection.isLeft) await parts.calls.dispatchAgent(record.id, metadataOf(record), record.expiresAt);
  },
  async endedFor(reason) {
    if (reason !== 'hangup') return reason;
    if (await handOver.done) return 'transferred';
    // A user who is gone together with the server has not hung up.
    return connection.reachable ? reason : 'transport_lost';
  },
});

export class LivekitCalls implements AgentWork {
  readonly #registry: CallRegistry<OwnedCall>;
  readonly #stopLooking: () => void;
  readonly #reserved: ReservedPlaces;
  #stopping = false;

  constructor(private readonly parts: LivekitParts) {
    this.#registry = new CallRegistry(parts);
    this.#reserved = new ReservedPlaces(parts.clock);
    this.#stopLooking = repeat(
      parts.clock,
      CALL_TIMES.heartbeatMs,
      () => this.#goOnWithLost(),
      (error) => parts.log.warn(whyOf(error), 'could not look for calls whose process has died'),
    );
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.#registry.all.length;
  }

  /** Places that calls have, or are promised. */
  get #taken(): number {
    return this.size + this.#reserved.size;
  }

  figures() {
    const { places, loadOf } = this.parts;
    const calls = this.#taken;
    return { calls, places, draining: this.#stopping, ...loadOf(calls) };
  }

  /**
   * Resolves when an agent of any process waits in the session's room. Errors: `engine_busy` if no process has room;
   * `transport_failed`.
   */
  async prepare({ record }: RunningSession): Promise<void> {
    const { calls } = this.parts;
    if (!(await this.#isRoomSomewhere())) throw noRoom();
    await calls.dispatchAgent(record.id, metadataOf(record), record.expiresAt);
    await this.#agentOf(record.id).catch(async (error: unknown) => {
      await calls.removeRoom(record.id).catch(() => undefined);
      throw error;
    });
  }

  async #isRoomSomewhere(): Promise<boolean> {
    if (this.#hasRoom) return true;
    const nodes = await this.parts.nodes.list();
    return nodes.some((node) => node.id !== this.parts.nodeId && stateOf(node) === 'up');
  }

  /** Waits until the process that took the job holds the session, which it does once its agent is there. */
  async #agentOf(id: string): Promise<void> {
    const { runs, clock } = this.parts;
    const end = clock.monotonic() + CALL_TIMES.roomJoinMs;
    while (!(await runs.owner(id))) {
      if (await runs.hasEnded(id)) throw new ServiceError('transport_failed');
      if (clock.monotonic() >= end) throw noRoom();
      await pause(clock, LOOK_MS);
    }
  }

  get #hasRoom(): boolean {
    return !this.#stopping && this.parts.held.holds && this.#taken < this.parts.places;
  }

  offered({ id, metadata }: OfferedJob) {
    const wanted = parseArguments(metadata);
    if (!this.#hasRoom || !isPlainObject(wanted)) return undefined;
    const { agent, source, number } = wanted;
    if (typeof agent !== 'string' && typeof number !== 'string') return undefined;
    if (source === 'public' && !this.#hasRoomForPublic) return undefined;
    this.#reserved.add(id);
    return { identity: IDENTITIES.agent, name: typeof agent === 'string' ? agent : '' };
  }

  async assigned(job: OfferedJob, entry: RoomEntry): Promise<void> {
    const { runs } = this.parts;
    const session = await this.#sessionOf(job).finally(() => this.#reserved.remove(job.id));
    if (!session) return;
    const call = await this.#begin(session, entry).catch(async (error: unknown) => {
      await runs.end(session.record.id, 'error');
      throw error;
    });
    await call.over;
  }

  /** The session made for the room, or a new one for the caller of a number. */
  async #sessionOf({ room, metadata }: OfferedJob): Promise<RunningSession | undefined> {
    const wanted = parseArguments(metadata);
    const number = isPlainObject(wanted) ? wanted['number'] : undefined;
    if (typeof number !== 'string') return this.parts.runs.unowned(room);
    return this.parts.telephones.answer(room, number);
  }

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async #begin(session: RunningSession, entry?: RoomEntry): Promise<OwnedCall> {
    const { calls, clock } = this.parts;
    const { record, plan, part } = session;
    const phone = record.source === 'phone';
    const options = {
      sessionId: record.id,
      workspaceId: record.workspaceId,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      record: plan.recordAudio,
      part,
      phone,
      ...(record.room !== null && { room: record.room }),
    };
    const joinBy = new Date(Math.max(record.expiresAt.getTime(), clock.now() + CALL_TIMES.connectMs));
    const connection = new RoomConnection(clock);
    const tell = (event: object): void => call.told(TOPICS.fromClient, encodeEvent(event));
    const keypad = new Keypad(
      clock,
      (digits) => tell({ type: 'user.dtmf', digits }),
      () => tell({ type: 'user.activity' }),
    );
    const call = calls.openRoomCall(options, joinBy, {
      ...(entry && { entry }),
      stays: (broke) => connection.stays(broke),
      key: (key) => keypad.press(key),
      cut: () => owned.closedBy('line'),
      reachable: (is) => (connection.reachable = is),
    });
    const handOver = new HandOver();
    const asking: HandOverRequest = (asked) => handOver.ask(asked, () => owned.closedBy('transferred'));
    const line = phone ? this.#line(call, record, asking) : {};
    const carrier = roomCarrier(record, this.parts, connection, handOver, line);
    const owned: OwnedCall = new OwnedCall(call, session, this.parts, carrier);
    this.#registry.add(owned);
    void owned.over.finally(() => keypad.close());
    await call.ready;
    await this.#lease(owned);
    return owned;
  }

  #line(call: RoomCall, called: SessionRecord, handOver: HandOverRequest): PhoneLine {
    const transfer = this.parts.telephones.transfer(called);
    return {
      press: (keys) => call.press(keys),
      transfer: { ...transfer, begin: (wanted) => handOver(transfer.begin(wanted)) },
    };
  }

  /** Looks for calls whose process has died: their users wait in their rooms and connect to no process themselves. */
  async #goOnWithLost(): Promise<void> {
    const { runs } = this.parts;
    if (!this.#hasRoom) return;
    for (const id of await runs.lost())
      if (this.#hasRoom && !this.#registry.find(id)) await this.#takeOver(id);
  }

  async #takeOver(id: string): Promise<void> {
    const { runs, agents, log } = this.parts;
    const taken = await runs.takeOver(id);
    if (!('record' in taken)) return;
    log.info({ sessionId: id }, 'a call goes on here');
    this.#begin(await withAgentInCharge(taken, agents)).catch((error: unknown) =>
      log.warn({ err: error, sessionId: id }, 'a call could not go on'),
    );
  }

  /** Leases the call's session; ends the call if that can be leased no longer. */
  async #lease(call: OwnedCall): Promise<void> {
    const { runs } = this.parts;
    await runs.lease(call.id);
    if (!(await runs.isOwner(call.id))) call.closedBy('session');
  }

  /** Calls whose user has not come yet. */
  get #waiting(): readonly OwnedCall[] {
    return this.#registry.all.filter(({ begun }) => !begun);
  }

  get #hasRoomForPublic(): boolean {
    const waiting = this.#waiting.filter(({ session }) => session.record.source === 'public').length;
    return waiting < Math.max(1, this.parts.places * PUBLIC_SHARE);
  }

  /** Leaves calls whose user has not come to other processes, if one has room. A telephone's user is in the room already. */
  async #leaveWaiting(): Promise<void> {
    const cause = (await this.#isRoomSomewhere().catch(() => false)) ? 'unclaimed' : 'shutdown';
    for (const call of this.#waiting) if (call.session.record.source !== 'phone') call.closedBy(cause);
  }

  /** Takes no more jobs, leaves calls whose user has not come to others, and ends those that are left after `until`. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    this.#stopLooking();
    void this.#leaveWaiting();
    return this.#registry.stop(until);
  }
}
