/**
 * Calls of livekit mode (docs/contract/decisions.md 22). The agent must be in the room when the user comes, so a session's call begins before
 * its token is given out: the cluster is asked for an agent, and gives the job to one of the installation's processes, by
 * their load (ops/adr/0041-agents-of-livekit.md). The user's arrival spends the token.
 */
import { CALL_TIMES } from '../../contracts/limits/call-times.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError, whyOf } from '../../contracts/errors.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import {
  type AgentWork,
  type Call,
  IDENTITIES,
  type OfferedJob,
  type RoomCall,
  type RoomCalls,
  type RoomEntry,
} from '../../contracts/ports/calls/calls.js';
import { type Nodes, stateOf } from '../../contracts/ports/calls/nodes.js';
import type { EndedReason, RunningSession, SessionRecord } from '../../contracts/ports/sessions/sessions.js';
import { repeat } from '../../contracts/time/repeat.js';
import { pause } from '../conversations/record.js';
import { parseArguments } from '../conversations/tools/arguments.js';
import type { ClosedBy } from '../conversations/closing.js';
import { encodeEvent, TOPICS } from '../conversations/client/events.js';
import { Keypad } from '../conversations/client/keypad.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import type { PhoneLine } from '../conversations/tools/tool.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';
import { Settling } from './settling.js';

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

/** Makes the session active; false if it has ended meanwhile. */
async function activate({ id, status }: SessionRecord, { runs }: CallParts): Promise<boolean> {
  if (status === 'active') return runs.owns(id);
  // One that was taken over may be joined already.
  const refused = 'refused' in (await runs.join(id)) && !(await runs.owns(id));
  return !refused && runs.activate(id);
}

/** Places promised to jobs that have not arrived yet. */
class Promised {
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
class Staying extends Settling {
  /** This process was taken for dead. */
  lost = false;
  /** Whether the server answered when it was last asked for a user whose media is lost. */
  reachable = true;

  stays(broke: boolean): boolean {
    return this.lost || (broke && this.settled);
  }
}

class RoomedCall extends OwnedCall {
  #handedOver: Promise<boolean> = Promise.resolve(false);

  constructor(
    call: Call,
    session: RunningSession,
    private readonly own: CallParts,
    private readonly staying: Staying,
    line: PhoneLine,
  ) {
    super(call, session, own, () => activate(session.record, own), line);
  }

  protected override connected(): void {
    super.connected();
    this.staying.connected();
  }

  /** The other side is asked to continue with somebody else, and then leaves as if it hung up. Resolves to the reason of a refusal. */
  async handOver(asked: Promise<string | undefined>): Promise<string | undefined> {
    this.#handedOver = asked.then((refusal) => refusal === undefined).catch(() => false);
    const refusal = await asked;
    if (refusal === undefined) this.closedBy('transferred');
    return refusal;
  }

  protected override async endedFor(reason: EndedReason): Promise<EndedReason> {
    if (reason !== 'hangup') return reason;
    if (await this.#handedOver) return 'transferred';
    // A user who is gone together with the server has not hung up.
    return this.staying.reachable ? reason : 'transport_lost';
  }

  protected override isLeft(cause: ClosedBy | undefined): boolean {
    return cause === 'mediaLoss' ? this.staying.settled : super.isLeft(cause);
  }

  /** Releases the session: the first process that looks for lost calls continues it. */
  protected override left(cause: ClosedBy | undefined): Promise<void> {
    return cause === 'mediaLoss' ? this.own.runs.unjoin(this.id) : super.left(cause);
  }

  override closedBy(cause: ClosedBy): void {
    if (cause === 'lost') this.staying.lost = true;
    super.closedBy(cause);
  }
}

export class LivekitCalls implements AgentWork {
  readonly #registry: CallRegistry<RoomedCall>;
  readonly #stopLooking: () => void;
  readonly #promised: Promised;
  #stopping = false;

  constructor(private readonly parts: LivekitParts) {
    this.#registry = new CallRegistry(parts);
    this.#promised = new Promised(parts.clock);
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

  figures() {
    return { calls: this.size + this.#promised.size, places: this.parts.places, draining: this.#stopping };
  }

  /**
   * Resolves when an agent of any process waits in the session's room. Errors: `engine_busy` if no process has room;
   * `transport_failed`.
   */
  async prepare({ record }: RunningSession): Promise<void> {
    const { calls } = this.parts;
    if (!(await this.#isRoomSomewhere())) throw noRoom();
    await calls.dispatch(record.id, metadataOf(record), record.expiresAt);
    await this.#agentOf(record.id).catch(async (error: unknown) => {
      await calls.remove(record.id).catch(() => undefined);
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
    const { calls, places, draining } = this.figures();
    return !draining && this.parts.held.holds && calls < places;
  }

  offered({ id, metadata }: OfferedJob) {
    const wanted = parseArguments(metadata);
    if (!this.#hasRoom || !isPlainObject(wanted)) return undefined;
    const { agent, source, number } = wanted;
    if (typeof agent !== 'string' && typeof number !== 'string') return undefined;
    if (source === 'public' && !this.#hasRoomForPublic) return undefined;
    this.#promised.add(id);
    return { identity: IDENTITIES.agent, name: typeof agent === 'string' ? agent : '' };
  }

  async assigned(job: OfferedJob, entry: RoomEntry): Promise<void> {
    const { runs } = this.parts;
    const session = await this.#sessionOf(job).finally(() => this.#promised.remove(job.id));
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
    if (typeof number !== 'string') return this.parts.runs.unheld(room);
    return this.parts.telephones.answer(room, number);
  }

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async #begin(session: RunningSession, entry?: RoomEntry): Promise<RoomedCall> {
    const { calls, clock } = this.parts;
    const { record, plan, part } = session;
    const phone = record.source === 'phone';
    const options = {
      sessionId: record.id,
      workspaceId: record.workspaceId,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      ...{ record: plan.recordAudio, part, phone },
      ...(record.room !== null && { room: record.room }),
    };
    const joinBy = new Date(Math.max(record.expiresAt.getTime(), clock.now() + CALL_TIMES.connectMs));
    const staying = new Staying(clock);
    const stays = (broke: boolean): boolean => staying.stays(broke);
    const keypad = new Keypad(clock, (digits) =>
      call.told(TOPICS.fromClient, encodeEvent({ type: 'user.dtmf', digits })),
    );
    const call = calls.open(options, joinBy, {
      ...(entry && { entry }),
      stays,
      key: (key) => keypad.press(key),
      cut: () => owned.closedBy('line'),
      reachable: (is) => (staying.reachable = is),
    });
    const line = phone ? this.#line(call, record, (asked) => owned.handOver(asked)) : {};
    const owned: RoomedCall = new RoomedCall(call, session, this.parts, staying, line);
    this.#registry.add(owned);
    void owned.over.finally(() => keypad.close());
    await call.ready;
    await this.#hold(owned);
    return owned;
  }

  #line(call: RoomCall, called: SessionRecord, handOver: RoomedCall['handOver']): PhoneLine {
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

  /** Holds the call's session; ends the call if that is held no longer. */
  async #hold(call: OwnedCall): Promise<void> {
    const { runs } = this.parts;
    await runs.hold(call.id);
    if (!(await runs.owns(call.id))) call.closedBy('session');
  }

  /** Calls whose user has not come yet. */
  get #waiting(): readonly OwnedCall[] {
    return this.#registry.all.filter(({ begun }) => !begun);
  }

  get #hasRoomForPublic(): boolean {
    const waiting = this.#waiting.filter(({ session }) => session.record.source === 'public').length;
    return waiting < Math.max(1, this.parts.places * PUBLIC_SHARE);
  }

  /** Takes no more jobs, ends calls whose user has not come, and after `until` those that are left. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    this.#stopLooking();
    for (const call of this.#waiting) call.closedBy('shutdown');
    return this.#registry.stop(until);
  }
}
