/** The gateway of a run: one address, any number of processes one after the other, each of whose logs is read. */
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf, familyOf } from '../../fixtures/processes/family.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { freePort } from '../../fixtures/free-port.js';
import { type Gateway, startGateway } from '../../fixtures/gateway.js';
import { run } from '../cluster.js';
import { Recorder } from './recorder.js';

const LOOK_MS = 200;

export class NightGateway {
  #gateway: Gateway | undefined;
  #killing = false;

  private constructor(
    readonly base: string,
    readonly recorder: Recorder,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  /** `env`: settings besides port and data folder, which stay the same. */
  static async start(env: Readonly<Record<string, string>>): Promise<NightGateway> {
    const port = String(await freePort());
    const dataDir = env['DATA_DIR'] ?? temporaryFolder('night-');
    const base = `http://127.0.0.1:${port}`;
    const gateway = new NightGateway(base, new Recorder(base), { ...env, PORT: port, DATA_DIR: dataDir });
    if (env['DATA_DIR'] === undefined) run.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
    run.teardown(() => gateway.end());
    await gateway.start();
    return gateway;
  }

  async start(): Promise<void> {
    const gateway = await startGateway(this.env);
    this.#gateway = gateway;
    this.recorder.follow(() => gateway.stderr());
  }

  signal(signal: NodeJS.Signals): void {
    this.#gateway?.kill(signal);
  }

  async exited(): Promise<void> {
    await this.#gateway?.exited;
  }

  /** The numbers of its child processes of a role. */
  workers(role: string): readonly number[] {
    const all = this.#gateway === undefined ? [] : familyOf(this.#gateway.pid);
    return all.filter((pid) => new RegExp(`workers/[a-z-]+\\.js ${role}( |$)`).test(commandOf(pid)));
  }

  /** SIGKILL of a worker of that role. */
  killWorker(role: string): void {
    const [pid] = this.workers(role);
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  }

  /** Kills each worker of that role as soon as it is there, until `spareWorkers`. */
  async killWorkers(role: string): Promise<void> {
    this.#killing = true;
    while (this.#killing) {
      this.killWorker(role);
      await pause(LOOK_MS);
    }
  }

  spareWorkers(): void {
    this.#killing = false;
  }

  async end(): Promise<void> {
    this.signal('SIGCONT');
    this.signal('SIGINT');
    await this.#gateway?.exited;
  }
}
