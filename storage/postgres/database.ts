/**
 * Connections to Postgres: any server of version 14 or later by DATABASE_URL, or the embedded one by the
 * address from `startEmbeddedPostgres`. Connections reopen after the server restarts; queries running at that moment
 * fail. Passwords never appear in messages.
 */
import { errorText } from '../../contracts/errors.js';
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { systemClock } from '../../contracts/clock.js';
import { silentLog, type Log } from '../../contracts/log.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { shownAddress, target } from './address.js';
import { createAsked } from './asked.js';
import { createEvents, type Events } from './events.js';
import { codeOf, StorageFailure } from '../failure.js';
import { resending } from './once-more.js';
import type { Sql } from './sql.js';
import { type Begin, beginOf, withBegin } from './statements.js';

/** Connections by purpose: none waits for another purpose's statements. */
export interface Database {
  /** The gateway's own: leases, records of calls, deliveries. Nothing that a client may make long or many runs here. */
  readonly sql: Sql;
  /** What clients ask: lists, searches, reads and changes. Statements take turns, and end with their owner (asked.ts). */
  readonly asked: Sql;
  /** Who a client is: keys, client secrets and tokens; short statements, which strangers may cause. */
  readonly callers: Sql;
  /** For statements that must not wait, heartbeats and whether the database answers: a process that cannot send them falls silent. */
  readonly urgent: Sql;
  readonly events: Events;
  /** Whether the database answers now; takes at most five seconds. */
  answers(): Promise<boolean>;
  /** Whether it takes writes now: a full disk still answers. */
  writes(): Promise<boolean>;
  /** Waits for running queries, at most five seconds. */
  close(): Promise<void>;
}

export interface DatabaseAddress {
  readonly url: string;
  /** Postgres itself if `url` is a pooler: notifications and migrations go there. */
  readonly directUrl?: string | undefined;
  /** Whether statements are prepared by name. Default: not behind a pooler. */
  readonly prepare?: boolean | undefined;
}

export interface DatabaseOptions extends DatabaseAddress {
  readonly log?: Log;
  /** Connections for the gateway's own statements; one more listens, one is for callers, and another for urgent statements. */
  readonly connections?: number;
  /** Connections for what clients ask. */
  readonly askedConnections?: number;
  /** How long to wait for an unreachable database, for example when a machine boots. */
  readonly patienceMs?: number;
  /** Whether statements may take minutes, as migrations do: then no connection is closed because the server is silent. */
  readonly slow?: boolean;
}

const OLDEST = { number: 140_000, name: '14' };
const CONNECTIONS = 3;
const ASKED_CONNECTIONS = 3;
const CONNECT_SECONDS = 5;
const ANSWER_MS = 5000;
/** An idle connection costs the server some megabytes. */
const IDLE_SECONDS = 10;
const CLOSE_SECONDS = 5;
const STATEMENT_MS = 15_000;
/** A server that lives has answered any statement by then, if only that it took too long. */
const SILENT_SECONDS = (STATEMENT_MS + ANSWER_MS) / 1000;
const PATIENCE_MS = 10_000;
const RETRY_MS = 200;
const MOST_BACKOFF_SECONDS = 2;

/** Codes of errors with which the database refuses us: waiting does not help. */
const FINAL =
  /^(28|3D|08P01|42501|42704|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS_CERT|SASL_|ERR_INVALID|MESSAGE_NOT)/;

interface ClientOptions extends postgres.Options<Record<string, never>> {
  /** Seconds without a byte from the server after which a connection with a waiting statement is closed. */
  readonly answer_timeout: number | null;
}

/** A client of the database, not connected yet. */
function client(url: string, options: ClientOptions): Sql {
  const { address, options: told } = target(url);
  const sql = postgres(address, {
    connect_timeout: CONNECT_SECONDS,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, MOST_BACKOFF_SECONDS),
    onnotice: () => undefined,
    ...told,
    ...options,
  }) as unknown as Sql;
  return resending(sql);
}

const reasonOf = (error: unknown): string => `${codeOf(error) || 'no answer'}, ${errorText(error)}`;

const refusal = (url: string, error: unknown): StorageFailure =>
  new StorageFailure(`Cannot use the database ${shownAddress(url)}, check DATABASE_URL: ${reasonOf(error)}`, {
    cause: error,
  });

interface Server {
  readonly version: number;
  /** Takes no writes: a standby that was not promoted, or a database with that setting. */
  readonly readOnly: boolean;
}

/** A database that is being reached, how long that may take, and who is told. */
interface Reached {
  readonly url: string;
  readonly patienceMs: number;
  readonly log: Log;
}

/** Resolves with undefined if the server closes the connection, as a balancer without a server does. */
function unlessClosed(error: unknown): undefined {
  if (codeOf(error) !== 'CONNECTION_CLOSED') throw error;
}

/** Errors: also if nothing comes in time. */
async function ask(sql: Sql): Promise<Server> {
  const asked = sql<[Server]>`
    select current_setting('server_version_num')::int as version,
      current_setting('transaction_read_only')::bool as "readOnly"`.then(([server]) => server, unlessClosed);
  asked.catch(() => undefined);
  const server = await waitUpTo(systemClock, ANSWER_MS, asked);
  if (server) return server;
  throw new Error('connections are taken, and closed or not answered');
}

/** Waits for a database that cannot be reached, and says so once; one that refuses us is not waited for. */
async function firstAnswer(sql: Sql, { url, patienceMs, log }: Reached): Promise<Server> {
  const end = performance.now() + patienceMs;
  for (let tries = 0; ; tries += 1) {
    try {
      return await ask(sql);
    } catch (error) {
      if (FINAL.test(codeOf(error)) || performance.now() > end) throw refusal(url, error);
      if (tries === 0)
        log.warn(
          { seconds: patienceMs / 1000 },
          `waiting for the database ${shownAddress(url)}: ${reasonOf(error)}`,
        );
      await pause(RETRY_MS);
    }
  }
}

async function checkServer(sql: Sql, reached: Reached): Promise<void> {
  const { url } = reached;
  const { version, readOnly } = await firstAnswer(sql, reached);
  const found = `The database ${shownAddress(url)} is`;
  if (version < OLDEST.number) {
    const had = Math.floor(version / 10_000);
    throw new StorageFailure(`${found} Postgres ${had}; DATABASE_URL needs ${OLDEST.name} or later`);
  }
  if (readOnly)
    throw new StorageFailure(`${found} read-only, as standbys are; DATABASE_URL needs the primary`);
}

const answers = async (sql: Sql): Promise<boolean> => {
  const answered = sql`select 1`.then(
    () => true,
    () => false,
  );
  return (await waitUpTo(systemClock, ANSWER_MS, answered)) ?? false;
};

/** Whether the server is a pooler (PgBouncer): these refuse session parameters, since clients take turns on their sessions. */
const isPooler = (error: unknown): boolean =>
  codeOf(error) === '08P01' && /startup parameter/.test(errorText(error));

/** How dates are written to us, whatever is the default of a server, database or role. Poolers pass it on. */
const DATE_STYLE = { DateStyle: 'ISO' } as const;

/** Further defaults that our statements rely on. Poolers refuse them as parameters of a connection. */
const DEFAULTS = { bytea_output: 'hex', default_transaction_isolation: 'read committed' } as const;

/**
 * Connection options that differ behind a pooler. The statement timeout is then set within each transaction; for
 * single statements it is the pooler's (`query_timeout`) or the role's.
 *
 * Behind a pooler a connection runs one statement at a time: PgBouncer 1.18, as in Debian 12, gives the server's session
 * away after the first, and the answers to statements pipelined behind it are lost: their callers wait for ever.
 */
const sessionOptions = (pooled: boolean, prepare: boolean | undefined) => ({
  prepare: prepare ?? !pooled,
  ...(pooled ? { max_pipeline: 0 } : {}),
  connection: {
    application_name: 'speech-gateway',
    ...DATE_STYLE,
    ...(pooled ? {} : { ...DEFAULTS, statement_timeout: STATEMENT_MS }),
  },
});

/** Sets the statement timeout in each transaction, since it cannot be set for the session. */
function limited(sql: Sql): Sql {
  const begin = beginOf(sql);
  const limitedBegin: Begin = (options, work) =>
    begin(options, async (tx) => {
      await tx`select set_config('statement_timeout', ${String(STATEMENT_MS)}, true)`;
      return work(tx);
    });
  return withBegin(sql, limitedBegin);
}

interface Connected {
  readonly sql: Sql;
  /** Another client, not connected yet. */
  readonly open: (max: number, answerSeconds?: number) => Sql;
  readonly pooled: boolean;
}

/** Connects as to a server; if that turns out to be a pooler, connects again as to a pooler. */
async function reach(options: DatabaseOptions, pooled: boolean): Promise<Connected> {
  const { url, prepare, connections = CONNECTIONS, slow = false } = options;
  const { patienceMs = PATIENCE_MS, log = silentLog } = options;
  const pool = (max: number, answer_timeout: number | null): Sql =>
    client(url, {
      max,
      answer_timeout,
      idle_timeout: IDLE_SECONDS,
      ...sessionOptions(pooled, prepare),
    });
  const bounded = pooled ? limited : (sql: Sql) => sql;
  const sql = pool(connections, slow ? null : SILENT_SECONDS);
  try {
    await checkServer(sql, { url, patienceMs, log });
    const open: Connected['open'] = (max, seconds = SILENT_SECONDS) => bounded(pool(max, seconds));
    return { sql: bounded(sql), open, pooled };
  } catch (error) {
    await sql.end({ timeout: 0 });
    if (!pooled && isPooler((error as Error).cause)) return reach(options, true);
    throw error;
  }
}

/** Whether a temporary table of some pages can be written; it is dropped with its transaction. */
const writes = (sql: Sql): Promise<boolean> =>
  sql
    .begin(
      (transaction) => transaction`
        create temporary table room on commit drop as select repeat(i::text, 1000) from generate_series(1, 100) i`,
    )
    .then(
      () => true,
      () => false,
    );

/**
 * Connects and checks the server. Errors: `StorageFailure` naming DATABASE_URL if it is malformed, or the
 * server is unreachable for `patienceMs` (10 s), refuses us, is too old or takes no writes.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, directUrl, askedConnections = ASKED_CONNECTIONS, log = silentLog } = options;
  const { sql, open, pooled } = await reach(options, directUrl !== undefined);
  const [callers, urgent] = [open(1), open(1, ANSWER_MS / 1000)];
  const asked = createAsked({
    open: (max) => open(max),
    connections: askedConnections,
    clock: systemClock,
  });
  if (pooled && directUrl === undefined)
    log.warn(
      {},
      'DATABASE_URL is a pooler: unless it pools by session, set DATABASE_DIRECT_URL to Postgres itself',
    );
  const events = createEvents(
    (listening) =>
      client(directUrl ?? url, {
        max: 1,
        fetch_types: false,
        max_lifetime: null,
        answer_timeout: SILENT_SECONDS,
        ...listening,
      }),
    log,
  );
  return {
    sql,
    asked: asked.sql,
    callers,
    urgent,
    events,
    answers: () => answers(urgent),
    writes: () => writes(sql),
    async close() {
      await events.stop();
      const pools = [sql, callers, urgent].map((pool) => pool.end({ timeout: CLOSE_SECONDS }));
      await Promise.all([...pools, asked.end(CLOSE_SECONDS)]);
    },
  };
}
