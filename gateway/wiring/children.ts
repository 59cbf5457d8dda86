/** The child processes of one gateway: how to reach them, and whether they are alive. */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { repeat } from '../../contracts/time/repeat.js';
import { createPool, type Pool } from '../../processes/caller/pool.js';
import type { Database } from '../../storage/postgres/database.js';
import { type RoleName, type RoleRow, ROLES, type RoleSockets } from './roles.js';
import type { Health } from '../server/system/health.js';
import type { Metrics } from '../server/system/metrics.js';
import type { WaitOf } from '../../processes/caller/link.js';

const HEALTH_MS = 2000;

type ChildState = ReturnType<Pool['state']>[number];

/** Metrics read from each child. All gateways of a machine share the children, so `merged` does not add up. */
const GAUGES: readonly {
  readonly name: string;
  readonly help: string;
  readonly merged: 'min' | 'max';
  read(child: ChildState): number;
}[] = [
  {
    name: 'child_connected',
    help: 'Whether a child process is connected to all gateway processes',
    merged: 'min',
    read: ({ connected }) => Number(connected),
  },
  {
    name: 'child_jobs_running',
    help: 'Jobs that a child process runs',
    merged: 'max',
    read: ({ running }) => running,
  },
  {
    name: 'child_jobs_queued',
    help: 'Jobs that wait in a child process',
    merged: 'max',
    read: ({ queued }) => queued,
  },
  {
    name: 'child_pieces_queued',
    help: 'Pieces of running jobs that wait for their engine in a child process',
    merged: 'max',
    read: ({ waitingPieces }) => waitingPieces,
  },
  {
    name: 'child_frozen',
    help: 'How often a child process said nothing for five seconds, and was replaced',
    merged: 'max',
    read: ({ frozen }) => frozen,
  },
];

/** How long jobs waited before they began. */
const WAITS: Readonly<Record<WaitOf, { readonly name: string; readonly help: string }>> = {
  jobs: { name: 'child_job_wait_seconds', help: 'Time that a job waits in a child process before it begins' },
  pieces: {
    name: 'child_piece_wait_seconds',
    help: 'Time that a piece of a job waits for its engine in a child process',
  },
};

type NoteWait = (role: RoleName, of: WaitOf, ms: number) => void;

const isSpared = (role: RoleName): boolean => (ROLES[role] as RoleRow).spared === true;

export class Children {
  readonly #pools: ReadonlyMap<RoleName, Pool>;
  /** Resolves once every child is connected. */
  readonly ready: Promise<void>;
  #noteWait: NoteWait = () => undefined;

  constructor(sockets: RoleSockets, log: Log) {
    const entries = Object.entries(sockets) as [RoleName, readonly string[]][];
    const poolOf = (role: RoleName, paths: readonly string[]): Pool =>
      createPool({ sockets: paths, log, waited: (of, ms) => this.#noteWait(role, of, ms) });
    this.#pools = new Map(entries.map(([role, paths]) => [role, poolOf(role, paths)]));
    this.ready = Promise.all([...this.#pools.values()].map((pool) => pool.ready())).then(() => undefined);
    this.ready.catch(() => undefined);
  }

  /** The children without which the gateway is not ready. */
  get needed(): readonly RoleName[] {
    return [...this.#pools.keys()].filter((role) => !isSpared(role));
  }

  pool(role: RoleName): Pool {
    const pool = this.#pools.get(role);
    if (pool) return pool;
    throw new Error(`no children run as ${role}`);
  }

  /** Checks regularly whether the database answers and the children are connected. The result stops it. */
  watch(health: Health, database: Database, clock: Clock): () => void {
    const look = async (): Promise<void> => {
      for (const role of this.needed)
        health.set(
          role,
          this.pool(role)
            .state()
            .some(({ connected }) => connected),
        );
      health.set('database', await database.answers());
    };
    for (const pool of this.#pools.values()) pool.ready().then(look, () => undefined);
    // No look rejects.
    return repeat(clock, HEALTH_MS, look, () => undefined);
  }

  addMetrics(metrics: Metrics): void {
    for (const { name, help, merged, read } of GAUGES)
      metrics.gauge(name, help, () => this.#rows(read), ['role', 'index'], merged);
    const waits = ({ name, help }: (typeof WAITS)[WaitOf]) => metrics.histogram(name, help, ['role'], 'max');
    const note = { jobs: waits(WAITS.jobs), pieces: waits(WAITS.pieces) };
    this.#noteWait = (role, of, ms) => note[of](ms / 1000, { role });
  }

  #rows(read: (child: ChildState) => number) {
    return [...this.#pools].flatMap(([role, pool]) =>
      pool.state().map((child, index) => ({ labels: { role, index }, value: read(child) })),
    );
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close();
  }
}
