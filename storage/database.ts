/**
 * The way to Postgres: any server of version 14 or later by DATABASE_URL, or the embedded one by the
 * address that `startEmbedded` gives. Connections come back by themselves after the server restarts; a
 * query that was under way fails. Passwords never reach a message.
 */
import { setTimeout as pause } from 'node:timers/promises';
import postgres from 'postgres';
import { silentLog, type Log } from '../contracts/log.js';
import { createEvents, type Events } from './events.js';
import { codeOf, messageOf, StorageFailure } from './failure.js';

export type Sql = postgres.Sql;
export type Transaction = postgres.TransactionSql;

export interface Database {
  readonly sql: Sql;
  readonly events: Events;
  /** Whether the database answers now; at most five seconds. */
  answers(): Promise<boolean>;
  /** Waits for running queries, at most five seconds. */
  close(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  readonly log?: Log;
  /** Connections of the pool; one more listens. */
  readonly connections?: number;
  /** How long an unreachable database is waited for, as at the start of a whole machine. */
  readonly patienceMs?: number;
}

const OLDEST = { number: 140_000, name: '14' };
const CONNECTIONS = 4;
const CONNECT_SECONDS = 5;
const ANSWER_MS = 5000;
/** An idle connection costs the server some megabytes. */
const IDLE_SECONDS = 10;
const CLOSE_SECONDS = 5;
const STATEMENT_MS = 15_000;
const PATIENCE_MS = 10_000;
const RETRY_MS = 200;
const MOST_BACKOFF_SECONDS = 2;

/** The database answered and said no: waiting does not help. */
const FINAL = /^(28|3D|08P01|42501|SASL_|ERR_INVALID|MESSAGE_NOT)/;

const malformed = (): StorageFailure =>
  new StorageFailure('DATABASE_URL is not a Postgres address: postgres://user:password@host:5432/name');

function parseAddress(url: string): URL {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !/^postgres(ql)?:$/.test(address.protocol)) throw malformed();
  return address;
}

/** The address as it may be shown. */
export function shownAddress(url: string): string {
  const { username, host, pathname, searchParams } = parseAddress(url);
  const folder = searchParams.get('host');
  return folder ?? `${username && `${username}@`}${host}${pathname}`;
}

/** `?host=<folder>` is a Unix socket, as in libpq; postgres.js takes it as an option instead. */
function target(url: string): { readonly address: string; readonly socket: { host?: string } } {
  const address = parseAddress(url);
  const folder = address.searchParams.get('host');
  if (folder === null) return { address: url, socket: {} };
  address.searchParams.delete('host');
  return { address: address.href, socket: { host: folder } };
}

/** A client of the database, not connected yet. */
function client(url: string, options: postgres.Options<Record<string, never>>): Sql {
  const { address, socket } = target(url);
  return postgres(address, {
    connect_timeout: CONNECT_SECONDS,
    backoff: (retries) => Math.min(0.05 * 2 ** retries, MOST_BACKOFF_SECONDS),
    onnotice: () => undefined,
    ...socket,
    ...options,
  }) as unknown as Sql;
}

const refusal = (url: string, error: unknown): StorageFailure =>
  new StorageFailure(
    `Cannot use the database ${shownAddress(url)}, check DATABASE_URL: ${codeOf(error) || 'no answer'}, ${messageOf(error)}`,
  );

async function firstAnswer(sql: Sql, url: string, patienceMs: number): Promise<number> {
  const end = performance.now() + patienceMs;
  for (;;) {
    try {
      const [row] = await sql`select current_setting('server_version_num')::int as version`;
      return row?.['version'] as number;
    } catch (error) {
      if (FINAL.test(codeOf(error)) || performance.now() > end) throw refusal(url, error);
      await pause(RETRY_MS);
    }
  }
}

async function checkServer(sql: Sql, url: string, patienceMs: number): Promise<void> {
  const version = await firstAnswer(sql, url, patienceMs);
  if (version >= OLDEST.number) return;
  throw new StorageFailure(
    `The database ${shownAddress(url)} is Postgres ${Math.floor(version / 10_000)}; DATABASE_URL needs ${OLDEST.name} or later`,
  );
}

const answers = async (sql: Sql): Promise<boolean> => {
  const late = new AbortController();
  const timeout = pause(ANSWER_MS, false, { signal: late.signal, ref: false }).catch(() => false);
  try {
    return await Promise.race([sql`select 1`.then(() => true), timeout]);
  } catch {
    return false;
  } finally {
    late.abort();
  }
};

/**
 * Connects and checks the server. Errors: `StorageFailure` naming DATABASE_URL where it is malformed,
 * unreachable for `patienceMs` (10 s), refuses us or is too old.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { url, log = silentLog, connections = CONNECTIONS, patienceMs = PATIENCE_MS } = options;
  const connection = { application_name: 'speech-gateway', statement_timeout: STATEMENT_MS };
  const sql = client(url, { max: connections, idle_timeout: IDLE_SECONDS, connection });
  try {
    await checkServer(sql, url, patienceMs);
  } catch (error) {
    await sql.end({ timeout: 0 });
    throw error;
  }
  const events = createEvents(
    (listening) => client(url, { max: 1, fetch_types: false, max_lifetime: null, ...listening }),
    log,
  );
  return {
    sql,
    events,
    answers: () => answers(sql),
    async close() {
      await events.stop();
      await sql.end({ timeout: CLOSE_SECONDS });
    },
  };
}
