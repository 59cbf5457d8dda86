/**
 * The children of one role, kept alive by the supervisor.
 *
 * Invariants: a child that exits is started again, after a wait that doubles while it does not stay up; one
 * that says nothing for `silenceMs`, or no hello within `startMs`, is killed; after `stop` there is no
 * process, socket or pid file left. The caller owns the socket folder alone (the gateway's lock sees to that).
 */
import { mkdir } from 'node:fs/promises';
import { systemClock, type Clock } from '../contracts/clock.js';
import { ServiceError } from '../contracts/errors.js';
import type { Log } from '../contracts/log.js';
import { checkSocketPath, socketOf } from './socket-path.js';
import { SupervisedChild } from './supervised-child.js';
import { sweep } from './sweep.js';

export interface SuperviseOptions {
  /** Names the children in logs, on command lines and in socket files: lower-case letters, digits, hyphens. */
  readonly role: string;
  /** The compiled entry that the children run; it calls `serveAsChild`. */
  readonly entry: string | URL;
  readonly count: number;
  /** Made if need be, for the owner only. Keep it short: a socket's path has about 100 bytes. */
  readonly socketFolder: string;
  readonly log: Log;
  /** The children's whole environment. Default: this process's. */
  readonly env?: NodeJS.ProcessEnv;
  /** The role's own arguments, as `childPlace().args` gives them. */
  readonly args?: readonly string[];
  /** Added to the niceness of the children: 10 lets the gateways go first. */
  readonly nice?: number;
  /** Cap of the JavaScript heap. */
  readonly heapMb?: number;
  readonly clock?: Clock;
  /** A child that stayed up for `stableMs` is restarted after `initialMs` again. */
  readonly restart?: { readonly initialMs: number; readonly maxMs: number; readonly stableMs: number };
  readonly health?: { readonly everyMs: number; readonly silenceMs: number };
  /** How long a child may take from its start to its hello. */
  readonly startMs?: number;
  /** How long after SIGTERM a child is killed. */
  readonly stopMs?: number;
  /** Takes what a child prints, line by line. Default: the log. */
  readonly output?: (line: string, from: 'stdout' | 'stderr', child: ChildName) => void;
}

export interface ChildName {
  readonly role: string;
  readonly index: number;
  readonly pid: number | undefined;
}

export interface Supervision {
  /** For `createPool`; the same over all restarts. */
  readonly sockets: readonly string[];
  /** Resolves once every child is up; rejects with `draining` when stopped before. */
  ready(): Promise<void>;
  /** The children that run now. */
  pids(): number[];
  /** Ends all children. Idempotent. */
  stop(): Promise<void>;
}

const DEFAULTS = {
  env: process.env,
  args: [],
  nice: 0,
  heapMb: 0,
  clock: systemClock,
  restart: { initialMs: 100, maxMs: 10_000, stableMs: 10_000 },
  health: { everyMs: 5000, silenceMs: 30_000 },
  startMs: 120_000,
  stopMs: 8000,
};

/**
 * Sweeps what a killed start left and starts the children.
 * Rejects where a path is too long for a socket, or another supervisor runs the role in that folder.
 */
export async function superviseRole(options: SuperviseOptions): Promise<Supervision> {
  if (!/^[a-z0-9-]+$/.test(options.role)) throw new Error(`'${options.role}' is no name for a role`);
  const sockets = Array.from({ length: options.count }, (_, index) =>
    socketOf(options.socketFolder, options.role, index),
  );
  sockets.forEach(checkSocketPath);
  await mkdir(options.socketFolder, { recursive: true, mode: 0o700 });
  await sweep(options.socketFolder, options.role);
  return new Role({ ...DEFAULTS, output: toLog(options.log), ...options }, sockets);
}

const toLog =
  (log: Log): Required<SuperviseOptions>['output'] =>
  (line, from, child) =>
    from === 'stdout' ? log.info(child, line) : log.warn(child, line);

interface ReadyWaiter {
  resolve(): void;
  reject(error: unknown): void;
}

class Role implements Supervision {
  readonly sockets: readonly string[];
  readonly #children: readonly SupervisedChild[];
  /** The clock's timers keep nothing alive, and between two tries a role may hold nothing else. */
  readonly #keepAlive = setInterval(() => undefined, 2 ** 30);
  #waiters: ReadyWaiter[] = [];
  #stopped: Promise<void> | undefined;

  constructor(options: Required<SuperviseOptions>, sockets: readonly string[]) {
    this.sockets = sockets;
    const up = (): void => this.#up();
    this.#children = sockets.map((socket, index) => new SupervisedChild(options, index, socket, up));
  }

  ready(): Promise<void> {
    if (this.#stopped !== undefined) return Promise.reject(new ServiceError('draining'));
    if (this.#children.every((child) => child.up)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  pids(): number[] {
    return this.#children.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #stop(): Promise<void> {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new ServiceError('draining'));
    await Promise.all(this.#children.map((child) => child.stop()));
    clearInterval(this.#keepAlive);
  }

  #up(): void {
    if (!this.#children.every((child) => child.up)) return;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
  }
}
