/** One child of a role over all its restarts. Invariants in supervise.ts. */
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { rmSync } from 'node:fs';
import { constants, getPriority, setPriority } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { Backoff } from '../backoff.js';
import { eachLine } from '../lines.js';
import { Link } from '../caller/link.js';
import { goesFirst, killedForMemory, memoryLimit } from '../oom.js';
import { type RestartCause, restartsEnv } from '../restarts.js';
import { writePrivateFile } from '../private-folder.js';
import type { ChildName, SuperviseOptions } from './supervise-options.js';
import { ownerText, pidFileOf } from './sweep.js';
import { HURRY, LEAVE, REFUSAL } from '../child/supervisor-watch.js';

type Process = ChildProcessByStdio<Writable, Readable, Readable>;

/** This process's niceness plus `nice`, up to the maximum: running the gateway with a niceness applies to its children, too. */
const behindUs = (nice: number): number => Math.min(getPriority() + nice, constants.priority.PRIORITY_LOW);

/** A child that serves before its hello says hello within seconds; one without a hello this long after LEAVE serves nobody. */
const HELLO_MS = 10_000;

export class SupervisedChild {
  readonly #options: Required<SuperviseOptions>;
  readonly #index: number;
  readonly #socket: string;
  readonly #link: Link;
  readonly #backoff: Backoff;
  #process: Process | undefined;
  #stopping = false;
  #stopTimers: (() => void)[] = [];
  #gone: (() => void) | undefined;
  readonly #restarts: Partial<Record<RestartCause, number>> = {};
  /** Why this supervisor itself kills the child. */
  #killing: RestartCause | undefined;
  /** Processes of ours that the kernel had killed for lack of memory when the child began. */
  #killedBefore: number | undefined;

  /** Starts the child; `up` is called at each hello, also after restarts; `refused` if it says why it cannot start. */
  constructor(
    options: Required<SuperviseOptions>,
    index: number,
    socket: string,
    up: () => void,
    private readonly refused: (reason: string) => void,
  ) {
    const { clock, log, health } = options;
    this.#options = options;
    this.#index = index;
    this.#socket = socket;
    this.#backoff = new Backoff(options.restart);
    this.#link = new Link({
      socketPath: socket,
      clock,
      log,
      health,
      up,
      cancelDeadlineMs: health.silenceMs,
      spawned: () => this.pid,
      frozen: (kill) => this.#frozen(kill),
    });
    this.#start();
  }

  get up(): boolean {
    return this.#link.up;
  }

  /** Whether it has work, of any caller, as it last reported. */
  get busy(): boolean {
    const { running, queued } = this.#link.reported;
    return running + queued > 0;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    const { up } = this;
    const isHeard = !up && this.#options.servesBeforeHello;
    if (!isHeard) this.#link.close();
    this.#clearTimers();
    await this.#terminate(up);
    this.#link.close();
    rmSync(this.#socket, { force: true });
    rmSync(pidFileOf(this.#socket), { force: true });
  }

  /** Hurries a child that is ending: it is killed after `ms`, unless it was to be killed sooner. */
  hurry(ms: number): void {
    const child = this.#process;
    if (!this.#stopping || child === undefined) return;
    child.stdin.write(HURRY);
    this.#killAfter(child, ms);
  }

  #start(): void {
    this.#killing = undefined;
    this.#killedBefore = killedForMemory();
    const child = this.#spawn();
    const name = { ...this.#name(), pid: child.pid };
    const { output, log } = this.#options;
    this.#process = child;
    child.once('exit', (code, signal) => this.#exited(child, name, { code, signal }));
    child.on('error', (err) => {
      log.error({ ...name, err }, 'worker could not be started or signalled');
      if (child.pid === undefined) this.#exited(child, name, {});
    });
    // Without a pid the streams may be missing too.
    if (child.pid === undefined) return;
    child.stdin.on('error', () => undefined);
    eachLine(child.stdout, (line) => output(line, 'stdout', name));
    eachLine(child.stderr, (line) => {
      output(line, 'stderr', name);
      if (line.startsWith(REFUSAL)) this.refused(line.slice(REFUSAL.length).split('\n', 1)[0] ?? '');
    });
    this.#started(child, child.pid);
  }

  /** The child watches its standard input to learn that its supervisor has gone (processes/child/supervisor-watch.ts). */
  #spawn(): Process {
    const { entry, role, args, env, heapMb } = this.#options;
    const heap = heapMb > 0 ? [`--max-old-space-size=${heapMb}`] : [];
    const script = entry instanceof URL ? fileURLToPath(entry) : entry;
    const argv = [...heap, script, role, this.#socket, ...args];
    const told = { ...env, ...restartsEnv(this.#restarts) };
    return spawn(process.execPath, argv, { env: told, stdio: ['pipe', 'pipe', 'pipe'] });
  }

  #started(child: Process, pid: number): void {
    const { clock, startMs, restart, nice, log } = this.#options;
    const owner = ownerText(pid, process.pid);
    this.#attempt('write the pid file', () => writePrivateFile(pidFileOf(this.#socket), owner));
    goesFirst(pid);
    if (nice !== 0) this.#attempt('set the priority', () => setPriority(pid, behindUs(nice)));
    this.#stopTimers.push(
      clock.after(restart.stableMs, () => this.#backoff.reset()),
      clock.after(startMs, () => this.#killUnready(child)),
    );
    log.info(this.#name(), 'worker started');
  }

  /** A process that is stopped does not act on what it is asked to do, and not on SIGTERM. */
  #frozen(kill: () => void): void {
    const { role, health, log } = this.#options;
    const seconds = health.silenceMs / 1000;
    log.error(this.#name(), `${role} worker ${this.#index} said nothing for ${seconds} s: replaced`);
    this.#killing = 'frozen';
    kill();
  }

  #killUnready(child: Process): void {
    if (this.up) return;
    this.#options.log.warn(this.#name(), 'killing a worker that does not become ready');
    this.#killing = 'slow';
    child.kill('SIGKILL');
  }

  /** Tries something that a worker can do without: a failure is only logged. */
  #attempt(what: string, task: () => void): void {
    try {
      task();
    } catch (err) {
      this.#options.log.warn({ ...this.#name(), err }, `could not ${what} of a worker`);
    }
  }

  #exited(child: Process, name: ChildName, how: { code?: number | null; signal?: string | null }): void {
    if (this.#process !== child) return;
    this.#process = undefined;
    this.#clearTimers();
    this.#gone?.();
    if (this.#stopping) return;
    if (how.code === 0 && this.#link.retiring) return this.#replace(name);
    const restartMs = this.#backoff.next();
    const cause = this.#causeOf(how);
    this.#restarts[cause] = (this.#restarts[cause] ?? 0) + 1;
    const lack = cause === 'memory' ? ` for lack of memory (${memoryLimit() || 'of the machine'})` : '';
    this.#options.log.warn(
      { ...name, ...how, cause, restarts: { ...this.#restarts }, restartMs },
      `worker ${lack === '' ? 'exited' : `was killed${lack}`}, starting it again`,
    );
    this.#stopTimers.push(this.#options.clock.after(restartMs, () => this.#start()));
  }

  #causeOf({ signal }: { readonly signal?: string | null }): RestartCause {
    if (this.#killing) return this.#killing;
    const killed = killedForMemory();
    const isOom = killed !== undefined && killed > (this.#killedBefore ?? killed);
    if (signal === 'SIGKILL' && isOom) return 'memory';
    return signal ? 'killed' : 'exited';
  }

  /** Replaces a child that has retired: nothing is wrong, so there is no backoff. */
  #replace(name: ChildName): void {
    this.#options.log.info(name, 'worker retired, starting another');
    this.#start();
  }

  /** Asks a child to leave, or kills it if it cannot serve anybody yet. A request that comes too early is read later. */
  async #terminate(up: boolean): Promise<void> {
    const child = this.#process;
    if (child === undefined) return;
    const gone = new Promise<void>((resolve) => (this.#gone = resolve));
    if (up) child.stdin.write(LEAVE);
    else if (this.#options.servesBeforeHello) this.#askUngreeted(child);
    else child.kill('SIGKILL');
    this.#killAfter(child, this.#options.stopMs);
    await gone;
  }

  #askUngreeted(child: Process): void {
    child.stdin.write(LEAVE);
    const late = (): boolean => this.up || child.kill('SIGKILL');
    this.#stopTimers.push(this.#options.clock.after(HELLO_MS, late));
  }

  #killAfter(child: Process, ms: number): void {
    this.#stopTimers.push(this.#options.clock.after(ms, () => child.kill('SIGKILL')));
  }

  #clearTimers(): void {
    for (const stopTimer of this.#stopTimers.splice(0)) stopTimer();
  }

  #name(): ChildName {
    return { role: this.#options.role, index: this.#index, pid: this.pid };
  }
}
