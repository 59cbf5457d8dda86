/** A node of the run: a gateway with its own data folder, port and route to the database, and the faults done to it. */
import { setTimeout as pause } from 'node:timers/promises';
import { commandOf, familyOf, isAlive } from '../fixtures/processes/family.js';
import { type Gateway, startGateway } from '../fixtures/gateway.js';
import type { Relay } from '../fixtures/database/relay.js';
import { until } from '../fixtures/until.js';
import type { FaultKind } from './record.js';

/** Longer than a heartbeat stays fresh. */
const AWAY_MS = 8000;
/** Delay before a killed node is restarted. */
const RESTART_MS = 1000;
const DRAINED_MS = 120_000;

interface Process {
  readonly pid: number;
  readonly command: string;
}

export class ChaosNode {
  readonly #seen = new Map<number, Process>();
  #gateway: Gateway | undefined;

  constructor(
    readonly name: string,
    readonly port: number,
    readonly dataDir: string,
    private readonly relay: Relay,
    private readonly env: Readonly<Record<string, string>>,
  ) {}

  async start(): Promise<void> {
    const { port, dataDir, relay, env } = this;
    const own = { PORT: String(port), DATA_DIR: dataDir, DATABASE_URL: relay.url };
    this.#gateway = await startGateway({ ...env, ...own });
    this.look();
  }

  get stderr(): string {
    return this.#gateway?.stderr() ?? '';
  }

  /** Remembers the ids of all its processes. */
  look(): void {
    for (const pid of this.#gateway ? familyOf(this.#gateway.pid) : [])
      this.#seen.set(pid, { pid, command: commandOf(pid) });
  }

  /** Processes of all its runs that are still alive. */
  left(): readonly Process[] {
    return [...this.#seen.values()].filter(
      ({ pid, command }) => isAlive(pid) && command !== '' && commandOf(pid) === command,
    );
  }

  get #pid(): number {
    return this.#gateway?.pid ?? 0;
  }

  readonly #faults: Readonly<Record<FaultKind, () => Promise<void>>> = {
    kill: async () => {
      await this.kill();
      await pause(RESTART_MS);
      await this.start();
    },
    stop: async () => {
      this.#gateway?.kill('SIGSTOP');
      await pause(AWAY_MS);
      this.#gateway?.kill('SIGCONT');
    },
    cut: async () => {
      await this.relay.away();
      await pause(AWAY_MS);
      await this.relay.open();
    },
    child: async () => {
      const media = familyOf(this.#pid).find((pid) => commandOf(pid).includes('workers/media'));
      if (media !== undefined) process.kill(media, 'SIGKILL');
      await pause(RESTART_MS);
    },
    drain: async () => {
      const leaving = this.#gateway;
      leaving?.kill('SIGTERM');
      const code = await until('it has drained', async () => leaving?.exited, DRAINED_MS);
      if (code !== 0) throw new Error(`${this.name} drained, and ended with ${code}`);
      await this.start();
    },
  };

  async kill(): Promise<void> {
    this.look();
    this.#gateway?.kill('SIGKILL');
    await this.#gateway?.exited;
  }

  /** Resolves when the node serves again. */
  async suffer(kind: FaultKind): Promise<void> {
    this.look();
    await this.#faults[kind]();
  }

  async stop(): Promise<void> {
    this.look();
    await this.#gateway?.stop();
  }
}
