/**
 * A caller's permanent connection to one child: connects, reconnects after a restart, and carries calls.
 *
 * Invariants: a link is up from the child's hello until the connection ends; every call on a connection that
 * ends is lost (call.ts); a cancel is acknowledged within its deadline or the child is killed; the connection to a
 * child that is frozen (silence.ts) is cut, as if the child had died, and its supervisor kills it as well. The process that
 * spawned the child accepts a hello only with that child's pid; a process is killed only if it is ours, has the socket on
 * its command line, and its connection is open. The link to an idle child that wants to retire is closed, and takes no
 * further call.
 */
import { connect } from 'node:net';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { JobOwner } from '../../contracts/ports/jobs.js';
import { Backoff } from '../backoff.js';
import type { JobCall } from './call.js';
import { Channel } from '../channel/channel.js';
import { OutboundCredit } from '../channel/credit.js';
import { errorFromWire } from '../errors.js';
import { isCount, KIND, PROTOCOL_VERSION, type ChannelFrame } from '../channel/frames.js';
import { type Restarts, restartsOf } from '../restarts.js';
import type { Log } from '../../contracts/log.js';
import { isOurs, restOf } from '../process-table.js';
import { ChildLoad, type OwnJobs, type ReportedLoad, type WaitOf } from './child-load.js';
import { CHILD_SILENCE, lookEveryMs, type SilenceTimes, SilenceWatch } from './silence.js';

export interface LinkOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a cancelled job may take to end. */
  readonly cancelDeadlineMs: number;
  /** How long the child may be silent. Default: `CHILD_SILENCE`. */
  readonly health?: SilenceTimes;
  /** Called when the child is frozen, before the connection is cut; kills it if `kill` is called. */
  frozen?(kill: () => void): void;
  /** The child that was spawned for the socket: no other's hello counts. Absent: another process spawned it. */
  spawned?(): number | undefined;
  /** Called when the child has said hello. */
  up?(): void;
  /** Called when a child that was up is lost, unless it wanted to retire or this link was closed. */
  lost?(how: LostHow): void;
  /** Called with how long a job or piece waited in the child before it began, for work of any caller. */
  waited?(of: WaitOf, ms: number): void;
}

export type LostHow = 'died' | 'frozen';

const RECONNECT = { initialMs: 20, maxMs: 1000 };
/** Frames by which a child shows that it can do its work. */
const GIVING: ReadonlySet<number> = new Set([KIND.data, KIND.end, KIND.error]);

export class Link {
  readonly #options: LinkOptions;
  readonly #calls = new Map<number, JobCall>();
  /** Cancelled streams that the child has not acknowledged, each with the function that stops its deadline. */
  readonly #cancelled = new Map<number, () => void>();
  readonly #backoff = new Backoff(RECONNECT);
  #channel: Channel | undefined;
  #pid: number | undefined;
  readonly #load: ChildLoad;
  /** Whether the child does long work that it announced. */
  #announced = false;
  #silence: SilenceWatch | undefined;
  #frozen = 0;
  #restarts: Restarts = {};
  /** Whether the child has given anything since its hello. */
  #gave = false;
  #barren = 0;
  #nextStream = 1;
  #closed = false;
  /** Whether it is closed once its last call has ended. */
  #leaving = false;
  #stopTimer: (() => void) | undefined;
  #stopHealth: (() => void) | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#load = new ChildLoad((of, ms) => options.waited?.(of, ms));
    this.#connect();
  }

  get socketPath(): string {
    return this.#options.socketPath;
  }

  get up(): boolean {
    return this.#pid !== undefined;
  }

  get pid(): number | undefined {
    return this.#pid;
  }

  /** Whether a live job would be taken, to run or to wait, as far as the child has told. */
  get hasPlace(): boolean {
    return this.up && this.#load.hasPlace(this.#ours);
  }

  /** The pool chooses the link with the lowest load for the job. */
  loadFor({ isLive = false }: JobOwner): number {
    return this.#load.weightFor(isLive, this.#ours, this.#silence?.isDoubtful === true);
  }

  /** Jobs of this caller in the child. */
  get #ours(): OwnJobs {
    let batch = 0;
    for (const { owner } of this.#calls.values()) if (owner.isLive !== true) batch += 1;
    return { all: this.#calls.size + this.#cancelled.size, batch };
  }

  /** How often its child was lost after it had left pings unanswered. */
  get frozen(): number {
    return this.#frozen;
  }

  /** How often its supervisor has started the child again. */
  get restarts(): Restarts {
    return this.#restarts;
  }

  /** How many times in a row it died over jobs without having given anything since its start. */
  get barren(): number {
    return this.#barren;
  }

  /** Whether the child, or the last one, asked to retire. */
  get retiring(): boolean {
    return this.#load.isRetiring;
  }

  /** Jobs of all callers, as the child last reported them. */
  get reported(): ReportedLoad {
    return this.#load.reported;
  }

  /** Opens a call in the child. Only while the link is up. */
  open(call: JobCall): void {
    const channel = this.#channel;
    if (channel === undefined) return call.fail(new ServiceError('engine_lost'));
    const stream = this.#nextStream++;
    try {
      channel.control(KIND.open, stream, call.opening);
    } catch (error) {
      return call.fail(error);
    }
    this.#calls.set(stream, call);
    call.opened({
      outbound: new OutboundCredit(channel, stream),
      taken: (bytes) => channel.control(KIND.credit, stream, bytes),
      cancel: () => this.#cancel(channel, stream),
    });
  }

  /** Whether it ended for good. */
  get isOver(): boolean {
    return this.#closed;
  }

  /** Takes no further call, and ends the connection for good once the last one has ended. */
  leave(): void {
    this.#leaving = true;
    this.#letGo();
  }

  /** Ends the connection for good; calls on it fail with `engine_lost`. */
  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    this.#channel?.close();
  }

  #connect(): void {
    const socket = connect(this.#options.socketPath);
    this.#channel = new Channel(socket, {
      frame: (frame, bytes) => this.#receive(frame, bytes),
      closed: (error) => this.#lost(error),
    });
    this.#watch(this.#channel, this.#options.health ?? CHILD_SILENCE);
  }

  #receive(frame: ChannelFrame, bytes: number): void {
    const [kind, stream, payload] = frame;
    if (kind === KIND.hello) return this.#hello(payload);
    if (kind === KIND.load) return this.#load.report(frame.slice(2)) ? this.#letGo() : undefined;
    if (kind === KIND.ack) return this.#acknowledged(stream);
    if (kind === KIND.announce) return void (this.#announced = payload === true);
    const call = this.#calls.get(stream);
    if (call !== undefined) this.#forCall(call, stream, kind, payload, bytes);
  }

  #forCall(call: JobCall, stream: number, kind: number, payload: unknown, bytes: number): void {
    if (GIVING.has(kind)) this.#works();
    switch (kind) {
      case KIND.data:
        return call.receive(payload, bytes);
      case KIND.credit:
        if (isCount(payload)) call.granted(payload);
        return;
      case KIND.stop:
        return call.stopInput();
      case KIND.end:
        this.#settled(stream);
        return call.end();
      case KIND.error:
        this.#settled(stream);
        return call.fail(errorFromWire(payload));
      default:
        throw new TypeError(`frame of kind ${kind} from a child`);
    }
  }

  #works(): void {
    this.#gave = true;
    this.#barren = 0;
  }

  /** A job has ended. Its end may come after the load report that no longer counts it. */
  #settled(stream: number): void {
    this.#calls.delete(stream);
    this.#letGo();
  }

  #hello(payload: unknown): void {
    const { version, pid, places, batchPlaces, restarts } = (payload ?? {}) as Record<string, unknown>;
    if (version !== PROTOCOL_VERSION || !isCount(pid) || pid < 2)
      throw new TypeError('hello of another protocol');
    const { spawned } = this.#options;
    if (spawned !== undefined && spawned() !== pid) {
      this.#warn(`hello of process ${pid}, which was not spawned here`);
      throw new TypeError('hello of another process');
    }
    this.#pid = pid;
    this.#load.begins(places, batchPlaces);
    this.#restarts = restartsOf(restarts);
    this.#gave = false;
    this.#announced = false;
    this.#backoff.reset();
    this.#options.up?.();
  }

  /** Ends the connection to an idle child that wants to retire, or that is left. The child still reads frames sent before. */
  #letGo(): void {
    if (this.#leaving) return this.#leaveIfIdle();
    const busy = !this.#load.isIdle || this.#calls.size + this.#cancelled.size > 0;
    if (busy || !this.#load.isRetiring || !this.up) return;
    this.#pid = undefined;
    this.#channel?.end();
  }

  #leaveIfIdle(): void {
    if (this.#closed || this.#calls.size + this.#cancelled.size > 0) return;
    this.#closed = true;
    this.#stopTimer?.();
    this.#channel?.end();
  }

  #cancel(channel: Channel, stream: number): void {
    if (!this.#calls.delete(stream)) return;
    channel.control(KIND.cancel, stream);
    const late = (): void => this.#kill('does not end a cancelled job');
    this.#cancelled.set(stream, this.#options.clock.after(this.#options.cancelDeadlineMs, late));
  }

  #acknowledged(stream: number): void {
    this.#cancelled.get(stream)?.();
    this.#cancelled.delete(stream);
    this.#letGo();
  }

  #lost(error: Error | undefined): void {
    this.#closed ||= this.#leaving;
    const wasUp = this.up && !this.#closed;
    // Its supervisor may have killed it a moment before this caller found it frozen. One that was only slow, or in long work that it
    // announced, has died: its job may have killed it, and is not begun once more.
    const isFrozen = wasUp && this.#silence?.isNearlyFrozen === true;
    if (wasUp) this.#noteLoss(error, isFrozen);
    this.#channel = undefined;
    this.#pid = undefined;
    this.#load.lost();
    this.#stopHealth?.();
    for (const stream of [...this.#cancelled.keys()]) this.#acknowledged(stream);
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    if (!this.#closed) this.#reconnectLater();
    if (wasUp) this.#options.lost?.(isFrozen ? 'frozen' : 'died');
    for (const call of calls) call.lost(isFrozen);
  }

  #noteLoss(error: Error | undefined, isFrozen: boolean): void {
    this.#warn(`lost the connection to a child: ${error?.message ?? 'it ended'}`);
    if (isFrozen) this.#frozen += 1;
    if (!this.#gave && this.#calls.size > 0) this.#barren += 1;
  }

  #reconnectLater(): void {
    this.#stopTimer = this.#options.clock.after(this.#backoff.next(), () => this.#connect());
  }

  /** Pings the child, and looks more often whether it has said anything since. */
  #watch(channel: Channel, times: SilenceTimes): void {
    const { clock } = this.#options;
    const silence = new SilenceWatch(times);
    let pinged = -Infinity;
    const ping = (now: number): void => {
      if (now - pinged < times.everyMs) return;
      pinged = now;
      channel.control(KIND.ping, 0);
    };
    const look = (): void => {
      const now = clock.monotonic();
      ping(now);
      const rest = () => (this.#pid === undefined ? undefined : restOf(this.#pid));
      const frozen = silence.look({ now, heard: channel.heard, announced: this.#announced, rest });
      // Until its hello a child is its supervisor's concern alone.
      if (frozen && this.up) return this.#freeze(channel);
      this.#stopHealth = clock.after(lookEveryMs(times), look);
    };
    this.#silence = silence;
    look();
  }

  #freeze(channel: Channel): void {
    const said = `said nothing for ${(this.#options.health ?? CHILD_SILENCE).silenceMs / 1000} s`;
    this.#options.frozen?.(() => this.#kill(said));
    channel.close(new Error(`it ${said}`));
  }

  #kill(why: string): void {
    const pid = this.#pid;
    if (pid === undefined) return;
    if (!isOurs(pid, this.#options.socketPath))
      return this.#warn(`not killing a process that ${why}: not a child`);
    this.#warn(`killing a child that ${why}`);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The child has just exited by itself; its connection ends in a moment.
    }
  }

  #warn(message: string): void {
    this.#options.log.warn({ socket: this.#options.socketPath, pid: this.#pid }, message);
  }
}
