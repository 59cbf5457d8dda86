/**
 * The child's side: listens on a Unix socket and runs the jobs of all callers that connect.
 *
 * Invariants: all connections share slots and queue, by workspace and not by connection; a connection that ends, or breaks
 * the protocol, stops only its own jobs; every cancel is acknowledged exactly once. A child that retires ends once it is
 * idle and all callers have disconnected, so that no job is on its way to it: it refuses none.
 */
import { createServer, type Server, type Socket } from 'node:net';
import { rm } from 'node:fs/promises';
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import { SHARE } from '../../contracts/admission/share.js';
import { systemClock, type Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { WaitCounter } from '../../contracts/time/wait-counter.js';
import { Channel } from '../channel/channel.js';
import { offAnnounced, onAnnounced } from './announce.js';
import { type IdleRetirement, IdleWatch } from './idle-retirement.js';
import { KIND, PROTOCOL_VERSION, type ChannelFrame, type Waits } from '../channel/frames.js';
import { silentLog, type Log } from '../../contracts/log.js';
import type { Restarts } from '../restarts.js';
import { ServedJob, type Workplace } from './served-job.js';
import { checkSocketPath } from '../channel/socket-path.js';

export interface ServeOptions {
  readonly socketPath: string;
  readonly handlers: JobHandlers;
  /** Jobs that run at once: all, and those that batch work cannot take (contracts/admission/fair-places.ts). */
  readonly slots: number;
  readonly keptForLive?: number;
  /** The most of a workspace. */
  readonly share?: number;
  /** Jobs that may wait for a slot: of live work, and of batch work. Default 64. */
  readonly queue?: number;
  /** Jobs after which the child asks to retire, so that a fresh one takes its place. Default: never. */
  readonly retireAfter?: number;
  /** When a child without work asks for that as well. Default: never. */
  readonly idleRetirement?: IdleRetirement | undefined;
  /** Callers hear hello, and so send work, only once this has resolved. A rejection is for the entry to handle. */
  readonly ready?: Promise<unknown>;
  /** Counts pieces that wait for the engines of its jobs. Default: none do. */
  readonly engineWaits?: WaitCounter;
  /** How often it was started again, for its callers. Default: never. */
  readonly restarts?: Restarts;
  readonly log?: Log;
  readonly clock?: Clock;
}

export interface JobServer {
  readonly running: number;
  readonly queued: number;
  /** Resolves once the child has retired, and so has closed. */
  readonly retired: Promise<void>;
  /**
   * Takes no more jobs, refuses the queued ones with `draining`, gives the running ones `graceMs` to end,
   * then aborts them and waits ABORT_MS at most for them to clean up. Removes the socket. Idempotent.
   */
  close(graceMs: number): Promise<void>;
}

/** How long aborted jobs may take to clean up when the child leaves. */
export const ABORT_MS = 1000;
const MAX_CONNECTIONS = 256;
const DEFAULTS = {
  keptForLive: 0,
  share: SHARE,
  queue: 64,
  retireAfter: Infinity,
  idleRetirement: undefined,
  ready: Promise.resolve(),
  restarts: {},
  log: silentLog,
  clock: systemClock,
};

/** Listens; replaces a socket file that a killed child left. Rejects if it cannot listen. */
export async function serveJobs(options: ServeOptions): Promise<JobServer> {
  checkSocketPath(options.socketPath);
  await rm(options.socketPath, { force: true });
  const child = new Child({ ...DEFAULTS, engineWaits: new WaitCounter(), ...options });
  await child.listen();
  return child;
}

/** Jobs that it runs or queues at most: all, and those of batch work. */
interface RoomFor {
  readonly places: number;
  readonly batchPlaces: number;
}

const roomFor = ({ slots, keptForLive, queue }: Required<ServeOptions>): RoomFor => ({
  places: slots + 2 * queue,
  batchPlaces: slots - keptForLive + queue,
});

class Child implements JobServer {
  readonly #options: Required<ServeOptions>;
  readonly #place: Workplace;
  readonly #jobWaits = new WaitCounter();
  readonly #server: Server;
  readonly #connections = new Set<Connection>();
  readonly retired: Promise<void>;
  #resolveRetired = (): void => undefined;
  readonly #idle: IdleWatch;
  #retires = false;
  #reported = false;
  #busy = false;
  #ready = false;
  #closing: Promise<void> | undefined;
  /** Wakes `close`, which waits for running jobs. */
  #changed: (() => void) | undefined;

  constructor(options: Required<ServeOptions>) {
    this.#options = options;
    const { handlers, log } = options;
    const changed = (): void => this.#loadChanged();
    const places = new FairPlaces({ ...options, changed, waits: this.#jobWaits });
    this.#place = { handlers, places, log };
    this.#idle = new IdleWatch(options.idleRetirement, options.clock, () => {
      this.#retires = true;
      this.#loadChanged();
    });
    options.engineWaits.watch(() => this.#loadChanged());
    this.#server = createServer((socket) => this.#connected(socket));
    this.#server.maxConnections = MAX_CONNECTIONS;
    this.retired = new Promise((resolve) => (this.#resolveRetired = resolve));
  }

  get running(): number {
    return this.#place.places.running;
  }

  get queued(): number {
    return this.#place.places.queued;
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(this.#options.socketPath, resolve);
    });
    this.#options.ready.then(
      () => this.#becomeReady(),
      () => undefined,
    );
    onAnnounced(this.#announce);
  }

  /** Tells all callers whether long work goes on. */
  readonly #announce = (busy: boolean): void => {
    this.#busy = busy;
    for (const connection of this.#connections) connection.announce(busy);
  };

  close(graceMs: number): Promise<void> {
    return (this.#closing ??= this.#close(graceMs));
  }

  async #close(graceMs: number): Promise<void> {
    const draining = new ServiceError('draining');
    const idle = (): boolean => this.running === 0;
    this.#server.close();
    for (const connection of this.#connections) connection.drain(draining);
    await this.#until(idle, graceMs);
    for (const connection of this.#connections) connection.stop(draining);
    await this.#until(idle, ABORT_MS);
    for (const connection of this.#connections) connection.end();
    await this.#until(() => this.#connections.size === 0, ABORT_MS);
    offAnnounced(this.#announce);
  }

  /** Resolves when `so` is true, or after `ms`. */
  #until(so: () => boolean, ms: number): Promise<void> {
    if (so()) return Promise.resolve();
    return new Promise((resolve) => {
      const stopTimer = this.#options.clock.after(ms, resolve);
      this.#changed = () => {
        if (!so()) return;
        stopTimer();
        resolve();
      };
    });
  }

  #connected(socket: Socket): void {
    const connection = new Connection(socket, this.#place, () => this.#disconnected(connection));
    this.#connections.add(connection);
    if (this.#ready) this.#welcome(connection);
  }

  #disconnected(connection: Connection): void {
    this.#connections.delete(connection);
    this.#changed?.();
    if (this.#retiring && this.running === 0 && this.#connections.size === 0) this.#retire();
  }

  get #retiring(): boolean {
    return this.#retires || this.#place.places.begun >= this.#options.retireAfter;
  }

  #retire(): void {
    void this.close(0).then(this.#resolveRetired);
  }

  #becomeReady(): void {
    this.#ready = true;
    for (const connection of this.#connections) this.#welcome(connection);
  }

  #welcome(connection: Connection): void {
    const { restarts } = this.#options;
    connection.hello({ ...roomFor(this.#options), restarts });
    if (this.#busy) connection.announce(true);
    connection.load(this.#retiring, {
      jobs: [],
      pieces: [],
      waitingPieces: this.#options.engineWaits.waiting,
    });
  }

  /** Waits of work that began since the last report. */
  #waits(): Waits {
    const { engineWaits } = this.#options;
    const [jobs, pieces] = [this.#jobWaits.take(), engineWaits.take()];
    return { jobs, pieces, waitingPieces: engineWaits.waiting };
  }

  /** Reports the load to callers, at most once per turn of the event loop. */
  #loadChanged(): void {
    this.#changed?.();
    if (!this.#retires) this.#idle.jobs(this.running + this.queued);
    if (this.#reported) return;
    this.#reported = true;
    setImmediate(() => {
      this.#reported = false;
      const waits = this.#waits();
      for (const connection of this.#connections) connection.load(this.#retiring, waits);
    });
  }
}

/** One caller: a gateway process, or the supervisor. */
class Connection {
  readonly #place: Workplace;
  readonly #channel: Channel;
  readonly #jobs = new Map<number, ServedJob>();
  #draining: ServiceError | undefined;

  constructor(socket: Socket, place: Workplace, gone: () => void) {
    this.#place = place;
    this.#channel = new Channel(socket, {
      frame: (frame, bytes) => this.#receive(frame, bytes),
      closed: (error) => {
        if (error !== undefined) place.log.warn({ err: error }, 'a connection was cut');
        gone();
        this.stop(new ServiceError('engine_lost'));
      },
    });
  }

  hello(about: RoomFor & { readonly restarts: Restarts }): void {
    this.#channel.control(KIND.hello, 0, { version: PROTOCOL_VERSION, pid: process.pid, ...about });
  }

  announce(busy: boolean): void {
    this.#channel.control(KIND.announce, 0, busy);
  }

  load(retiring: boolean, waits: Waits): void {
    const { running, queued, batch } = this.#place.places;
    this.#channel.control(KIND.load, 0, running, queued, retiring, waits, batch);
  }

  /** Refuses jobs from now on, the queued ones too. */
  drain(error: ServiceError): void {
    this.#draining = error;
    for (const job of [...this.#jobs.values()]) job.dequeue(error);
  }

  /** Aborts all jobs. */
  stop(error: ServiceError): void {
    for (const job of [...this.#jobs.values()]) job.stop(error);
  }

  end(): void {
    this.#channel.end();
  }

  #receive(frame: ChannelFrame, bytes: number): void {
    const [kind, stream, payload] = frame;
    if (kind === KIND.pong) return;
    if (kind === KIND.open) return this.#open(stream, payload);
    const job = this.#jobs.get(stream);
    if (job !== undefined) job.receive(kind, payload, bytes);
    else if (kind === KIND.cancel) this.#channel.control(KIND.ack, stream);
  }

  #open(stream: number, payload: unknown): void {
    if (this.#jobs.has(stream)) throw new TypeError(`stream ${stream} opened twice`);
    const job = new ServedJob(this.#place, this.#channel, stream, payload, () => this.#jobs.delete(stream));
    this.#jobs.set(stream, job);
    if (this.#draining === undefined) job.enter();
    else job.refuse(this.#draining);
  }
}
