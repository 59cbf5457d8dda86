/**
 * The children of one role, kept alive by the supervisor.
 *
 * Invariants: a child that exits is started again, after a wait that doubles while it does not stay up; one
 * that says nothing for five seconds (processes/caller/silence.ts), or no hello within `startMs`, is killed; after `stop` there is no
 * process, socket or pid file left. The caller owns the socket folder alone (the gateway's lock sees to that).
 */
import { systemClock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Log } from '../../contracts/log.js';
import { CHILD_SILENCE } from '../caller/silence.js';
import { privateFolder } from '../private-folder.js';
import { checkSocketPath, socketOf } from '../channel/socket-path.js';
import type { SuperviseOptions } from './supervise-options.js';
import { SupervisedChild } from './supervised-child.js';
import { sweep } from './sweep.js';

export interface Supervision {
  /** For `createPool`; the same over all restarts. */
  readonly sockets: readonly string[];
  /** Resolves once every child is up; rejects with `draining` when stopped before, and with its reason if a child cannot start. */
  ready(): Promise<void>;
  /** Process numbers of the running children. */
  pids(): number[];
  /** Whether one of them has work, of any caller. */
  busy(): boolean;
  /** Ends all children. Idempotent. */
  stop(): Promise<void>;
  /** Gives children that are ending `ms` to finish. */
  hurry(ms: number): void;
}

const DEFAULTS = {
  from: 0,
  env: process.env,
  args: [],
  nice: 0,
  heapMb: 0,
  servesBeforeHello: false,
  clock: systemClock,
  restart: { initialMs: 100, maxMs: 10_000, stableMs: 10_000 },
  health: CHILD_SILENCE,
  startMs: 120_000,
  stopMs: 8000,
};

/**
 * Cleans up after a supervisor that was killed, then starts the children.
 * Rejects if a path is too long for a socket, or another supervisor runs the role in that folder.
 */
export async function superviseRole(options: SuperviseOptions): Promise<Supervision> {
  if (!/^[a-z0-9-]+$/.test(options.role)) throw new Error(`'${options.role}' is no name for a role`);
  const { from, count, role, socketFolder } = options;
  const sockets = Array.from({ length: count }, (_, index) =>
    socketOf(socketFolder, role, (from ?? 0) + index),
  );
  sockets.forEach(checkSocketPath);
  privateFolder(socketFolder);
  if (from === undefined) await sweep(socketFolder, role);
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
  /** Keeps this process alive between two restarts, when a role may hold nothing else: the clock's timers do not. */
  readonly #keepAlive = setInterval(() => undefined, 2 ** 30);
  #waiters: ReadyWaiter[] = [];
  #stopped: Promise<void> | undefined;

  constructor(options: Required<SuperviseOptions>, sockets: readonly string[]) {
    this.sockets = sockets;
    const up = (): void => this.#up();
    const refused = (reason: string): void => this.#refuse(new Error(reason));
    this.#children = sockets.map(
      (socket, index) => new SupervisedChild(options, options.from + index, socket, up, refused),
    );
  }

  ready(): Promise<void> {
    if (this.#stopped !== undefined) return Promise.reject(new ServiceError('draining'));
    if (this.#children.every((child) => child.up)) return Promise.resolve();
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }));
  }

  pids(): number[] {
    return this.#children.flatMap(({ pid }) => (pid === undefined ? [] : [pid]));
  }

  busy(): boolean {
    return this.#children.some((child) => child.busy);
  }

  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  hurry(ms: number): void {
    for (const child of this.#children) child.hurry(ms);
  }

  async #stop(): Promise<void> {
    this.#refuse(new ServiceError('draining'));
    await Promise.all(this.#children.map((child) => child.stop()));
    clearInterval(this.#keepAlive);
  }

  #refuse(error: Error): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }

  #up(): void {
    if (!this.#children.every((child) => child.up)) return;
    for (const waiter of this.#waiters.splice(0)) waiter.resolve();
  }
}
