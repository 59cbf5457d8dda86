/**
 * Calls of livekit mode (docs/contract/decisions.md 22). The agent has to be in the room when the user comes, so a session's call begins before
 * its token is given out: the cluster is asked for an agent, and gives the job to one of the installation's processes, by
 * their load (ops/adr/0041-agents-of-livekit.md). The user's arrival spends the token.
 */
import { CALL_TIMES } from '../../contracts/call-times.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { isPlainObject } from '../../contracts/plain-object.js';
import {
  type AgentWork,
  IDENTITIES,
  type OfferedJob,
  type RoomCalls,
  type RoomEntry,
} from '../../contracts/ports/calls.js';
import { type Nodes, stateOf } from '../../contracts/ports/nodes.js';
import type { RunningSession, SessionRecord } from '../../contracts/ports/sessions.js';
import { pause } from '../conversations/record.js';
import { parseArguments } from '../conversations/arguments.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';

export interface LivekitParts extends CallParts {
  readonly calls: RoomCalls;
  readonly nodeId: string;
  readonly nodes: Nodes;
  /** Calls that this process may have at once. */
  readonly places: number;
}

/** The share of all places that may wait for visitors without a key, who may never come. */
const PUBLIC_SHARE = 0.25;
const AGAIN_SECONDS = 5;
/** Between two looks at whether an agent has come. */
const LOOK_MS = 100;

const noRoom = (): ServiceError => new ServiceError('engine_busy', { retryAfter: AGAIN_SECONDS });

/** What a process is told of a session, to say whether it has room for it. */
const metadataOf = ({ agentName, source }: SessionRecord): string =>
  JSON.stringify({ agent: agentName, source });

/** Places that were promised to jobs which have not come yet. */
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

export class LivekitCalls implements AgentWork {
  readonly #registry: CallRegistry<OwnedCall>;
  readonly #promised: Promised;
  #stopping = false;

  constructor(private readonly parts: LivekitParts) {
    this.#registry = new CallRegistry(parts);
    this.#promised = new Promised(parts.clock);
  }

  /** Calls that are not over. */
  get size(): number {
    return this.#registry.all.length;
  }

  figures() {
    return { calls: this.size + this.#promised.size, places: this.parts.places, draining: this.#stopping };
  }

  /**
   * Resolves when an agent waits in the session's room, at whatever process. Errors: `engine_busy` where none has room;
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

  /** Whoever has taken the job holds the session once its agent is there. */
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
    if (!this.#hasRoom || !isPlainObject(wanted) || typeof wanted['agent'] !== 'string') return undefined;
    if (wanted['source'] === 'public' && !this.#hasRoomForPublic) return undefined;
    this.#promised.add(id);
    return { identity: IDENTITIES.agent, name: wanted['agent'] };
  }

  async assigned({ id, room }: OfferedJob, entry: RoomEntry): Promise<void> {
    this.#promised.remove(id);
    const { runs } = this.parts;
    const session = await runs.unheld(room);
    if (!session) return;
    const call = await this.begin(session, entry).catch(async (error: unknown) => {
      await runs.end(room, 'error');
      throw error;
    });
    await call.over;
  }

  /** Resolves when the agent waits in its room. Errors: those of `RoomCall.ready`. */
  async begin(session: RunningSession, entry?: RoomEntry): Promise<OwnedCall> {
    const { record, plan } = session;
    const options = {
      sessionId: record.id,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: record.agentName },
      record: plan.recordAudio,
    };
    const call = this.parts.calls.open(options, record.expiresAt, entry);
    const owned = new OwnedCall(call, session, this.parts, () => this.#activate(record.id));
    this.#registry.add(owned);
    await call.ready;
    await this.#hold(owned);
    return owned;
  }

  /** One that nobody waits for any more ends. */
  async #hold(call: OwnedCall): Promise<void> {
    const { runs } = this.parts;
    await runs.hold(call.id);
    if (!(await runs.owns(call.id))) call.closedBy('session');
  }

  /** Those whose user has not come yet. */
  get #waiting(): readonly OwnedCall[] {
    return this.#registry.all.filter(({ begun }) => !begun);
  }

  get #hasRoomForPublic(): boolean {
    const waiting = this.#waiting.filter(({ session }) => session.record.source === 'public').length;
    return waiting < Math.max(1, this.parts.places * PUBLIC_SHARE);
  }

  async #activate(id: string): Promise<boolean> {
    const { runs } = this.parts;
    return !('refused' in (await runs.join(id))) && runs.activate(id);
  }

  /** Takes no more jobs; a user who has not come is not waited for. Ends what is left `until` then. */
  stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    for (const call of this.#waiting) call.closedBy('shutdown');
    return this.#registry.stop(until);
  }
}
