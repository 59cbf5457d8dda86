/**
 * This process as an agent worker of a LiveKit server or cluster, by the worker protocol of `@livekit/protocol`
 * (`WorkerMessage`, `ServerMessage`): it reports its load, is offered jobs, and accepts those that it has room for
 * (ops/adr/0041-agents-of-livekit.md).
 *
 * Invariants: one connection at a time, reconnected with backoff until `close`; an offered job is accepted or
 * refused at once; the outcome of a job is reported on the connection that assigned it, as no other knows of it.
 */
import type * as Library from '@livekit/protocol';
import type { ServerMessage, WorkerMessage } from '@livekit/protocol';
import { WebSocket } from 'ws';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import type { AgentWork, OfferedJob } from '../../contracts/ports/calls/calls.js';
import { type Ask, askingNobody } from '../../contracts/ports/parts.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import { Backoff } from '../../processes/backoff.js';
import type { LivekitServer } from './room-service.js';
import { serverToken } from './tokens.js';

export interface AgentWorkerParts {
  readonly server: LivekitServer;
  /** The agent name of jobs: the same in all processes of this installation, and unique to it. */
  readonly agentName: string;
  readonly work: AgentWork;
  /** Told what came of each connection. */
  readonly asks?: Ask;
  readonly clock: Clock;
  readonly log: Log;
}

type Protocol = typeof Library;
type Message = WorkerMessage['message'];
type Incoming = ServerMessage['message'];
type Taking = { readonly [Case in NonNullable<Incoming['case']>]?: (value: never) => void };

const STATUS_MS = 2500;
const PING_MS = 5000;
/** A server that is silent this long has gone, as it answers pings. */
const SILENT_MS = 15_000;
const REGISTER_MS = 5000;
const RECONNECT = { initialMs: 250, maxMs: 10_000 };
const MOST_BYTES = 1024 * 1024;
/** Servers give no job to nodes whose workers have more load than this (`agents.target_load`); ours reach it only when full. */
const TARGET_LOAD = 0.7;
/** The most that is told of a machine that is all in use: only a worker without a place refuses jobs. */
const MOST_IN_USE = 0.95;

/** One connection. */
class Link {
  readonly #stops: (() => void)[] = [];
  #heardAt: number;

  constructor(
    private readonly socket: WebSocket,
    private readonly protocol: Protocol,
    private readonly parts: AgentWorkerParts,
    private readonly registered: () => void,
  ) {
    const { clock } = parts;
    this.#heardAt = clock.monotonic();
    socket.on('open', () => this.#open());
    socket.on('message', (bytes: Buffer) => this.#take(bytes));
    this.#every(PING_MS, () => this.#ping());
    this.#every(STATUS_MS, () => this.status());
  }

  #every(ms: number, work: () => void): void {
    const again = (): void => {
      work();
      this.#stops[at] = this.parts.clock.after(ms, again);
    };
    const at = this.#stops.push(this.parts.clock.after(ms, again)) - 1;
  }

  #send(message: Message): void {
    if (this.socket.readyState !== WebSocket.OPEN) return;
    this.socket.send(new this.protocol.WorkerMessage({ message }).toBinary());
  }

  #open(): void {
    const { JobType, RegisterWorkerRequest } = this.protocol;
    const value = new RegisterWorkerRequest({
      type: JobType.JT_ROOM,
      agentName: this.parts.agentName,
      version: '1',
      pingInterval: PING_MS / 1000,
    });
    this.#send({ case: 'register', value });
    this.status();
  }

  #ping(): void {
    if (this.parts.clock.monotonic() - this.#heardAt > SILENT_MS) return this.socket.terminate();
    this.#send({
      case: 'ping',
      value: new this.protocol.WorkerPing({ timestamp: BigInt(this.parts.clock.now()) }),
    });
  }

  status(): void {
    const { UpdateWorkerStatus, WorkerStatus } = this.protocol;
    const { calls, places, draining, load } = this.parts.work.figures();
    const value = new UpdateWorkerStatus({
      status: draining || calls >= places ? WorkerStatus.WS_FULL : WorkerStatus.WS_AVAILABLE,
      load: TARGET_LOAD * Math.max(calls / places, Math.min(load, MOST_IN_USE)),
      jobCount: calls,
    });
    this.#send({ case: 'updateWorker', value });
  }

  #take(bytes: Buffer): void {
    this.#heardAt = this.parts.clock.monotonic();
    try {
      const { message } = this.protocol.ServerMessage.fromBinary(bytes);
      if (message.case !== undefined)
        (this.#taking[message.case] as ((value: unknown) => void) | undefined)?.(message.value);
    } catch (error) {
      this.parts.log.warn({ err: error }, 'a message of the LiveKit server was not understood');
      this.socket.terminate();
    }
  }

  readonly #taking: Taking = {
    register: () => this.registered(),
    availability: ({ job }: { readonly job?: WireJob }) => job && this.#offered(job),
    assignment: ({
      job,
      url,
      token,
    }: {
      readonly job?: WireJob;
      readonly url?: string;
      readonly token: string;
    }) => job && void this.#assigned(jobOf(job), { url: url || this.parts.server.url, token }),
  };

  #offered(job: WireJob): void {
    const participant = this.parts.work.offered(jobOf(job));
    const value = new this.protocol.AvailabilityResponse({
      jobId: job.id,
      available: participant !== undefined,
      participantIdentity: participant?.identity ?? '',
      participantName: participant?.name ?? '',
    });
    this.#send({ case: 'availability', value });
    this.status();
  }

  async #assigned(job: OfferedJob, entry: { readonly url: string; readonly token: string }): Promise<void> {
    const { JobStatus, UpdateJobStatus } = this.protocol;
    const { work, log } = this.parts;
    const well = await work.assigned(job, entry).then(
      () => true,
      (error: unknown) => {
        log.warn({ err: error, sessionId: job.room }, 'a job of the LiveKit server failed');
        return false;
      },
    );
    const status = well ? JobStatus.JS_SUCCESS : JobStatus.JS_FAILED;
    this.#send({ case: 'updateJob', value: new UpdateJobStatus({ jobId: job.id, status }) });
    this.status();
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }
}

interface WireJob {
  readonly id: string;
  readonly metadata: string;
  readonly room?: { readonly name: string };
}

const jobOf = ({ id, metadata, room }: WireJob): OfferedJob => ({ id, metadata, room: room?.name ?? '' });

/** A connection that has ended without an error. */
const GONE = Object.assign(new Error('The connection has ended'), { code: 'ECONNRESET' });

/** The library's error for a handshake that is refused has the status in its text only. */
const withStatus = (error: Error): Error => {
  const [, status] = /response: (\d{3})$/.exec(error.message) ?? [];
  return status === undefined ? error : Object.assign(error, { status: Number(status) });
};

export class AgentWorker {
  readonly #backoff = new Backoff(RECONNECT);
  #link: Link | undefined;
  #socket: WebSocket | undefined;
  #isRegistered = false;
  #waiting: (() => void)[] = [];
  #closed = false;

  /** Connects, and reconnects until `close`. */
  constructor(private readonly parts: AgentWorkerParts) {
    void this.#connect();
  }

  /** Resolves once registered for jobs. Errors: `transport_failed` if that takes more than some seconds. */
  async registered(): Promise<void> {
    if (this.#isRegistered) return;
    const registered = new Promise<void>((resolve) => this.#waiting.push(resolve));
    await withTimeout(this.parts.clock, REGISTER_MS, registered).catch((cause: unknown) => {
      throw new ServiceError('transport_failed', { cause });
    });
  }

  /** Reports the figures to the server, as they have changed. */
  report(): void {
    this.#link?.status();
  }

  /** Accepts no more jobs. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#link?.stop();
    this.#socket?.close();
  }

  async #connect(): Promise<void> {
    if (this.#closed) return;
    const { server, asks = askingNobody, log } = this.parts;
    const question = asks();
    const protocol = await import('@livekit/protocol');
    const headers = { authorization: `Bearer ${serverToken(server, { video: { agent: true } })}` };
    const address = new URL('agent', server.url.replace(/\/*$/, '/'));
    const socket = new WebSocket(address, { headers, handshakeTimeout: REGISTER_MS, maxPayload: MOST_BYTES });
    this.#socket = socket;
    const link = new Link(socket, protocol, this.parts, () => {
      question.ended();
      this.#registered();
    });
    this.#link = link;
    socket.on('error', (error) => {
      question.ended(withStatus(error));
      log.debug({ reason: error.message }, 'the LiveKit server gives no jobs');
    });
    socket.once('close', () => {
      if (!this.#closed) question.ended(GONE);
      this.#lost(link);
    });
    if (this.#closed) this.close();
  }

  #registered(): void {
    this.#backoff.reset();
    this.#isRegistered = true;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #lost(link: Link): void {
    link.stop();
    const wasRegistered = this.#isRegistered;
    if (wasRegistered && !this.#closed) this.parts.asks?.().ended(GONE);
    this.#isRegistered = false;
    if (!this.#closed) this.parts.clock.after(this.#backoff.next(), () => void this.#connect());
  }
}
