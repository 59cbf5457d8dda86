/** The child processes of one gateway: how to reach them, and whether they are alive. */
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Keeper, PartOutcome, Part } from '../../contracts/ports/parts.js';
import { repeat } from '../../contracts/time/repeat.js';
import { createPool, type Pool } from '../../processes/caller/pool.js';
import type { Database } from '../../storage/postgres/database.js';
import { type RoleName, type RoleRow, ROLES, type RoleSockets } from './roles.js';
import type { Health } from '../server/system/health.js';
import type { Metrics } from '../server/system/metrics.js';
import type { WaitOf } from '../../processes/caller/child-load.js';
import type { LostHow } from '../../processes/caller/link.js';
import { RESTART_CAUSES } from '../../processes/restarts.js';
import { childPart } from './parts.js';

const HEALTH_MS = 2000;
/** A database that has not answered by then is late, though it may answer on another connection in the end. */
const LATE_MS = 4000;

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

interface WatchedDatabase {
  readonly database: Pick<Database, 'answers'>;
  readonly part: Part;
}

const socketsByRole = (sockets: RoleSockets) => Object.entries(sockets) as [RoleName, readonly string[]][];

type NoteWait = (role: RoleName, of: WaitOf, ms: number) => void;

const isSpared = (role: RoleName): boolean => (ROLES[role] as RoleRow).spared === true;

/** Deaths in a row, over work of which nothing came, after which children of a role count as unable to do it. */
const MOST_BARREN = 3;
/** After this long without another one they get another chance. */
const REST_MS = 60_000;

const OUTCOMES: Readonly<Record<LostHow, PartOutcome>> = { died: 'failed', frozen: 'timeout' };

function failureOf(answers: boolean, isLate: boolean): ServiceError | undefined {
  if (isLate) return new ServiceError('storage_busy');
  return answers ? undefined : new ServiceError('storage_unavailable');
}

export interface ChildrenParts {
  readonly sockets: RoleSockets;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

export class Children {
  readonly #pools: Map<RoleName, Pool>;
  /** When a child of the role was last lost. */
  readonly #lostAt = new Map<RoleName, number>();
  /** Resolves once every child is connected. */
  readonly ready: Promise<void>;
  #noteWait: NoteWait = () => undefined;

  constructor(private readonly parts: ChildrenParts) {
    const entries = socketsByRole(parts.sockets);
    this.#pools = new Map(entries.map(([role, paths]) => [role, this.#poolOf(role, paths)]));
    for (const role of this.#pools.keys()) parts.keeper.knowPart(childPart(role));
    this.ready = Promise.all([...this.#pools.values()].map((pool) => pool.ready())).then(() => undefined);
    this.ready.catch(() => undefined);
  }

  #poolOf(role: RoleName, sockets: readonly string[]): Pool {
    return createPool({
      sockets,
      log: this.parts.log,
      waited: (of, ms) => this.#noteWait(role, of, ms),
      changed: (_at, how) => this.#changed(role, how),
    });
  }

  /** Moves to these children: new work goes to them, and what others have begun ends there. */
  use(sockets: RoleSockets): void {
    for (const [role, paths] of socketsByRole(sockets)) {
      this.parts.keeper.knowPart(childPart(role));
      this.pool(role).use(paths);
    }
    for (const [role, pool] of this.#pools) if (!sockets[role]) pool.use([]);
  }

  #changed(role: RoleName, how: 'up' | LostHow): void {
    const { keeper, clock } = this.parts;
    if (how !== 'up') {
      this.#lostAt.set(role, clock.monotonic());
      const outcome = this.#isBarren(role) ? 'invalid' : OUTCOMES[how];
      keeper.noteAnswer(childPart(role), { outcome });
    } else if (
      this.pool(role)
        .state()
        .every(({ connected }) => connected)
    )
      keeper.noteAnswer(childPart(role), { outcome: 'ok' });
  }

  #isBarren(role: RoleName): boolean {
    return this.pool(role)
      .state()
      .every(({ barren }) => barren >= MOST_BARREN);
  }

  /** Whether one of them is there, and they do not die of their work. */
  #isFit(role: RoleName): boolean {
    const isResting = this.parts.clock.monotonic() - (this.#lostAt.get(role) ?? -Infinity) < REST_MS;
    const isThere = this.pool(role)
      .state()
      .some(({ connected }) => connected);
    return isThere && !(isResting && this.#isBarren(role));
  }

  /** The children without which the gateway is not ready. */
  get needed(): readonly RoleName[] {
    return [...this.#pools.keys()].filter((role) => !isSpared(role) && this.#isRunning(role));
  }

  #isRunning(role: RoleName): boolean {
    return this.pool(role).state().length > 0;
  }

  /** The children of a role, of which there may be none yet. */
  pool(role: RoleName): Pool {
    const pool = this.#pools.get(role) ?? this.#poolOf(role, []);
    this.#pools.set(role, pool);
    return pool;
  }

  #tell(health: Health): void {
    for (const role of this.needed) health.set(role, this.#isFit(role));
    for (const role of this.#pools.keys()) if (!this.#isRunning(role)) health.forget(role);
  }

  /** Checks regularly whether the database answers and the children are connected. The result stops it. */
  watch(health: Health, { database, part }: WatchedDatabase): () => void {
    const { keeper, clock } = this.parts;
    const look = async (): Promise<void> => {
      this.#tell(health);
      const question = keeper.ask(part);
      const from = clock.monotonic();
      const answers = await database.answers();
      const isLate = clock.monotonic() - from >= LATE_MS;
      question.ended(failureOf(answers, isLate));
      health.set('database', answers);
    };
    for (const pool of this.#pools.values()) pool.ready().then(look, () => undefined);
    // No look rejects.
    return repeat(clock, HEALTH_MS, look, () => undefined);
  }

  addMetrics(metrics: Metrics): void {
    for (const { name, help, merged, read } of GAUGES)
      metrics.gauge(name, help, () => this.#rows(read), ['role', 'index'], merged);
    metrics.counter(
      'child_restarts',
      'How often a child process was started again, by cause',
      () => this.#restarts(),
      ['role', 'index', 'cause'],
      'max',
    );
    const waits = ({ name, help }: (typeof WAITS)[WaitOf]) => metrics.histogram(name, help, ['role'], 'max');
    const note = { jobs: waits(WAITS.jobs), pieces: waits(WAITS.pieces) };
    this.#noteWait = (role, of, ms) => note[of](ms / 1000, { role });
  }

  #restarts() {
    return RESTART_CAUSES.flatMap((cause) =>
      this.#rows(({ restarts }) => restarts[cause] ?? 0).map(({ labels, value }) => ({
        labels: { ...labels, cause },
        value,
      })),
    );
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
