/**
 * Calls in rooms of a LiveKit server or cluster (docs/contract/transport.md "Livekit mode"): the gateway's side. Creates the room,
 * has a room worker join it as the agent, and removes the room when the call ends.
 *
 * Invariants: a call runs while its events are read, from the beginning to their end; they end when the room
 * is gone, but at once if the call broke; `ready` always settles, and its rejection need not be handled.
 */
import type { Log } from '../../contracts/log.js';
import type {
  CallObserver,
  RoomCall,
  RoomCalls,
  RoomEntry,
  RoomOpening,
  RoomOptions,
} from '../../contracts/ports/calls/calls.js';
import type { Ask } from '../../contracts/ports/parts.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { ServiceError } from '../../contracts/errors.js';
import { type Report, ROOM_JOB, type RoomArgs, type RoomReport } from '../wire.js';
import { WorkerCall } from '../worker-call.js';
import { createRoomService, type LivekitServer, type RoomService } from './room-service.js';

export interface RoomCallsParts extends CallObserver {
  /** The pool of room workers; a call stays on the worker that it began on. */
  readonly rooms: JobRunner;
  readonly server: LivekitServer;
  /** Told what came of each request to it. */
  readonly asks?: Ask | undefined;
  /** The agent name of jobs (agent-worker.ts). */
  readonly agentName: string;
  /** Resolves when the cluster gives jobs to this process. Errors: `transport_failed`. */
  registered(): Promise<void>;
  readonly log: Log;
}

/** Reports in a row after which an agent that does not see its user is replaced. */
const MOST_UNSEEN = 2;

class ClusterCall extends WorkerCall<RoomReport> implements RoomCall {
  readonly ready: Promise<void>;
  #broke = true;
  /** Number of reports in a row at which the server had the user, and the agent did not see them. */
  #unseen = 0;
  /** Number of the latest report that the user is missed, whose answer alone counts. */
  #asked = 0;
  #joined = (): void => undefined;
  #refused: (error: unknown) => void = () => undefined;

  constructor(
    protected override readonly options: RoomOptions,
    private readonly joinBy: Date,
    private readonly how: RoomOpening,
    private readonly service: RoomService,
    private readonly parts: RoomCallsParts,
  ) {
    super(options, parts);
    this.ready = new Promise<void>((resolve, reject) => {
      this.#joined = resolve;
      this.#refused = reject;
    });
    this.ready.catch(() => undefined);
  }

  get #room(): string {
    return this.options.room ?? this.options.sessionId;
  }

  protected async *reports(): AsyncGenerator<unknown> {
    try {
      const args = await this.#prepare();
      if (this.ended) return;
      for await (const message of this.parts.rooms.runJob(ROOM_JOB, args, this.run)) {
        if ((message as readonly Report[]).some(({ on }) => on === 'connected')) this.how.reachable?.(true);
        yield message;
      }
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  async #prepare(): Promise<RoomArgs> {
    const { sessionId, user, agent, record, part, phone = false } = this.options;
    const entry = this.how.entry ?? (await this.#enter());
    return { sessionId, user, agent, record, part, phone, ...entry };
  }

  /** Creates the room and the agent's token with our key, if no job of the cluster brought an entry. */
  async #enter(): Promise<RoomEntry> {
    await this.service.create(this.#room, this.joinBy);
    const token = await this.service.agentToken(this.#room, this.options.agent);
    return { url: this.parts.server.url, token };
  }

  protected take(report: RoomReport): void {
    const { on } = report;
    if (on === 'joined') this.#joined();
    else if (on === 'key') this.how.key?.(report.key);
    else if (on === 'cut') this.how.cut?.();
    else if (on === 'missed') void this.#missed(report);
    else this.#tokenCame(on);
  }

  #tokenCame(on: 'met' | 'usurped'): void {
    const { options, service } = this;
    const act = on === 'met' ? service.rotate : service.putOut;
    if (on === 'usurped') this.parts.log.warn({ sessionId: options.sessionId }, 'a used token came again');
    act(options.sessionId, options.user.identity).catch((err: unknown) =>
      this.parts.log.warn({ err, sessionId: options.sessionId }, 'the user of a room was not changed'),
    );
  }

  /**
   * Abandons the agent's connection if, at two reports in a row, the server says that the user is back. After a server's death the
   * agent may be in the room without being told who is there (livekit-server 1.13). A server that does not answer is no reason to.
   * Never rejects.
   */
  async #missed({ times, sid }: Extract<RoomReport, { readonly on: 'missed' }>): Promise<void> {
    const { sessionId, user } = this.options;
    this.#asked = times;
    const answer = await this.service.isBack(this.#room, user.identity, sid).catch(() => undefined);
    if (this.#asked !== times) return;
    this.how.reachable?.(answer !== undefined);
    const isBack = answer === true;
    this.#unseen = isBack ? (times === 1 ? 1 : this.#unseen + 1) : 0;
    if (this.#unseen < MOST_UNSEEN || this.ended) return;
    this.parts.log.warn({ sessionId }, 'an agent does not see its user, who is in the room: it joins anew');
    this.lose();
  }

  override end(): void {
    this.#broke = false;
    super.end();
  }

  protected async closed(): Promise<void> {
    const { sessionId } = this.options;
    this.#refused(new ServiceError('engine_lost'));
    if (this.how.stays?.(this.#broke)) return;
    await this.service
      .remove(this.#room)
      .catch((err: unknown) => this.parts.log.warn({ err, sessionId }, 'a room was not removed'));
  }
}

export function createRoomCalls(parts: RoomCallsParts): RoomCalls {
  const service = createRoomService(parts.server, parts.asks);
  return {
    async dispatchAgent(sessionId, metadata, joinBy) {
      await service.create(sessionId, joinBy);
      await parts.registered();
      await service.dispatch(sessionId, parts.agentName, metadata);
    },
    openRoomCall: (options, joinBy, how = {}) => new ClusterCall(options, joinBy, how, service, parts),
    removeRoom: (room) => service.remove(room),
  };
}
