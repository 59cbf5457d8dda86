/**
 * Calls in rooms of a LiveKit server or cluster (docs/contract/transport.md "Livekit mode"): the gateway's side. The room is made,
 * a room worker takes the agent there, and whatever ends the call, the room goes with it.
 *
 * Invariants: a call carries on as long as its events are read, from the beginning to their end; they end when the room
 * is gone, but at once where the call broke; `ready` settles always, and nobody has to look at it.
 */
import type { Log } from '../../contracts/log.js';
import type { CallObserver, CallOptions, RoomCall, RoomCalls } from '../../contracts/ports/calls.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { ServiceError } from '../../contracts/errors.js';
import { ROOM_JOB, type JoinedReport, type RoomArgs } from '../wire.js';
import { WorkerCall } from '../worker-call.js';
import { createRoomService, type LivekitServer, type RoomService } from './room-service.js';

export interface RoomCallsParts extends CallObserver {
  /** The pool of room workers; a call stays on the worker that it began on. */
  readonly rooms: JobRunner;
  readonly server: LivekitServer;
  readonly log: Log;
}

class ClusterCall extends WorkerCall<JoinedReport> implements RoomCall {
  readonly ready: Promise<void>;
  #joined = (): void => undefined;
  #refused: (error: unknown) => void = () => undefined;

  constructor(
    options: CallOptions,
    private readonly joinBy: Date,
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

  protected async *reports(): AsyncGenerator<unknown> {
    try {
      const args = await this.#prepare();
      if (this.ended) return;
      yield* this.parts.rooms.run(ROOM_JOB, args, this.run);
    } catch (error) {
      this.#refused(error);
      throw error;
    }
  }

  async #prepare(): Promise<RoomArgs> {
    const { options, service } = this;
    const { sessionId, user, agent, record, part } = options;
    await service.create(sessionId, this.joinBy);
    const token = await service.agentToken(options);
    return { sessionId, user, agent, record, part, url: this.parts.server.url, token };
  }

  protected take(): void {
    this.#joined();
  }

  protected async closed(): Promise<void> {
    const { sessionId } = this.options;
    this.#refused(new ServiceError('engine_lost'));
    await this.service
      .remove(sessionId)
      .catch((err: unknown) => this.parts.log.warn({ err, sessionId }, 'a room was not removed'));
  }
}

export function createRoomCalls(parts: RoomCallsParts): RoomCalls {
  const service = createRoomService(parts.server);
  return {
    open: (options, joinBy) => new ClusterCall(options, joinBy, service, parts),
    remove: (sessionId) => service.remove(sessionId),
  };
}
