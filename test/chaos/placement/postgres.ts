/**
 * `npm run chaos -- placement postgres [nodes …]`: what one gateway asks of a real Postgres, as Postgres itself counts it
 * (pg_stat_statements): idle, for a call, and how long the statements take that look at all nodes and all calls, in a database that
 * has rows of so many nodes.
 */
import { rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { LOOK_MS } from '../../../storage/nodes.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import type { Sql } from '../../../storage/postgres/sql.js';
import { SWEEP_MS } from '../../../storage/sessions/runs.js';
import { startEmbeddedPostgres } from '../../../storage/embedded.js';
import { Caller } from '../../fixtures/calls/caller.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { TEST_SECRET } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';
import { letGoOfAll, run } from '../cluster.js';
import { allNodes, few } from './database.js';

const IDLE_MS = 60_000;
const FLEET_MS = 20_000;
const CALLS = 5;
const TURNS = 3;
/** Calls of each node, in the rows. */
const CALLS_PER_NODE = 27;
/** In our own statements, which are not counted. */
const OURS = '/* ours */';

interface Counted {
  readonly query: string;
  readonly calls: number;
  readonly rows: number;
  readonly ms: number;
}

/** A Postgres that counts its statements. */
async function startCounting(): Promise<{ readonly url: string; readonly sql: Sql }> {
  const folder = temporaryFolder('pg-');
  const server = await startEmbeddedPostgres({ dataDir: folder });
  run.teardown(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const first = await openDatabase({ url: server.url });
  await first.sql.unsafe(`alter system set shared_preload_libraries = 'pg_stat_statements'`);
  await first.close();
  process.kill(server.pid(), 'SIGINT');
  const { sql, close } = await until('Postgres counts', async () => {
    const database = await openDatabase({ url: server.url });
    const [row] = await database.sql<{ is: string }[]>`
      select current_setting('shared_preload_libraries') as is`.catch(() => []);
    if (row?.is === 'pg_stat_statements') return database;
    await database.close();
    return undefined;
  });
  run.teardown(close);
  await sql.unsafe('create extension pg_stat_statements');
  return { url: server.url, sql };
}

const reset = (sql: Sql) => sql.unsafe(`select pg_stat_statements_reset() ${OURS}`);

const read = (sql: Sql) =>
  sql<Counted[]>`
    select regexp_replace(query, '\\s+', ' ', 'g') as query, calls::int, rows::int, mean_exec_time as ms
    from pg_stat_statements where query not like ${`%${OURS}%`} and query not like '%pg_stat_statements%'
    order by calls desc, query`;

const sum = (rows: readonly Counted[]): number => rows.reduce((all, { calls }) => all + calls, 0);

function tell(rows: readonly Counted[], times: number, unit: string): void {
  for (const { query, calls, ms } of rows)
    console.log(
      `${(calls / times).toFixed(2).padStart(9)}  ${ms.toFixed(2).padStart(8)} ms  ${query.slice(0, 110)}`,
    );
  console.log(`${(sum(rows) / times).toFixed(2).padStart(9)}  statements ${unit}`);
}

async function idle(sql: Sql): Promise<void> {
  await pause(10_000);
  await reset(sql);
  await pause(IDLE_MS);
  tell(await read(sql), IDLE_MS / 1000, 'a second of an idle process');
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`;
  console.log(`${row.count} connections, of which some are ours`);
}

/** A call of some turns; resolves once its session has ended. */
async function talk(talks: Talks, agent: string, sql: Sql): Promise<void> {
  const invite = await talks.session(agent);
  const caller = await Caller.join(invite);
  const meeting = { invite, caller, record: () => talks.record(invite) };
  for (let turn = 0; turn < TURNS; turn += 1) await talks.tell(meeting, 'hello there');
  caller.hangUp();
  await until('it has ended', async () => {
    const ended = `from sessions where id = '${invite.session_id}' and ended_at is not null`;
    return (await sql.unsafe(`select ${OURS} ${ended}`)).length > 0;
  });
}

async function calling(talks: Talks, sql: Sql): Promise<void> {
  const agent = await talks.agent();
  await talks.speech('hello there');
  await talk(talks, agent, sql);
  await reset(sql);
  for (let call = 0; call < CALLS; call += 1) await talk(talks, agent, sql);
  tell(await read(sql), CALLS, `a call of ${TURNS} turns, with those that an idle process sends meanwhile`);
}

const columnsBut = async (sql: Sql, table: string, others: readonly string[]): Promise<string> => {
  const rows = await sql<{ name: string }[]>`
    select column_name as name from information_schema.columns
    where table_name = ${table} and is_identity = 'NO' and is_generated = 'NEVER'`;
  return rows
    .map(({ name }) => name)
    .filter((name) => !others.includes(name))
    .join(', ');
};

/** Rows of so many nodes that live, and of their calls, which are copies of one that was made. */
async function fill(sql: Sql, nodes: number): Promise<void> {
  await sql`delete from sessions where owner_id like 'row-%'`;
  await sql`delete from session_owners where process_id like 'row-%'`;
  await sql`
    insert into session_owners (process_id, address, installation, url, lease_ms, calls, load, call_cost)
    select 'row-' || i, '', 'row-' || i, 'http://192.0.2.1:' || i, 2000000000, ${CALLS_PER_NODE}, 0.6, 0.02
    from generate_series(1, ${nodes}::int) i`;
  const filled = ['id', 'status', 'joined_at', 'started_at', 'ended_at', 'ended_reason', 'owner_id', 'terms'];
  const columns = await columnsBut(sql, 'sessions', [...filled, 'lost_at', 'analysis_due_at']);
  await sql.unsafe(`
    insert into sessions (${filled.join(', ')}, ${columns})
    select 'sess_row' || i, 'active', now(), now(), null, null, 'row-' || (i % ${nodes} + 1), null, ${columns}
    from generate_series(1, ${nodes * CALLS_PER_NODE}) i,
      (select * from sessions where owner_id is null or owner_id not like 'row-%' limit 1) sample`);
  await sql.unsafe('vacuum (analyze) sessions');
  await sql.unsafe('vacuum (analyze) session_owners');
}

/** Statements that look at all nodes or calls: how many of the processes send them how often in a second, and how they are known. */
const SEES_ALL: readonly (readonly [what: string, by: typeof few, perSecond: number, query: RegExp])[] = [
  ['heartbeat', allNodes, 1000 / CALL_TIMES.heartbeatMs, /update session_owners set seen_at/],
  ['nodes that have died', few, 1000 / LOOK_MS, /delete from session_owners/],
  ['calls without a node', few, 1000 / LOOK_MS, /update sessions s set lost_at = now/],
  ['what other nodes tell', allNodes, 1000 / LOOK_MS, /from session_owners o order by/],
  ['overdue sessions', few, 1000 / SWEEP_MS, /case when s\.status = .* from sessions s where/],
];

/** All of these nodes beat once a second, which leaves as many dead rows as it does in truth. */
function beating(sql: Sql): () => void {
  const beat = (): void =>
    void sql
      .unsafe(`update session_owners set seen_at = now() ${OURS} where process_id like 'row-%'`)
      .catch(console.error);
  const timer = setInterval(beat, CALL_TIMES.heartbeatMs);
  return () => clearInterval(timer);
}

async function fleet(sql: Sql, nodes: number): Promise<void> {
  await fill(sql, nodes);
  const stop = beating(sql);
  await pause(LOOK_MS);
  await reset(sql);
  await pause(FLEET_MS);
  stop();
  const counted = await read(sql);
  let cores = 0;
  const shown = SEES_ALL.map(([what, by, perSecond, known]) => {
    const ms = counted.find(({ query }) => known.test(query))?.ms ?? Number.NaN;
    cores += (perSecond * by({ nodes }) * ms) / 1000;
    return `${what} ${ms.toFixed(2)}`;
  });
  const calls = nodes * CALLS_PER_NODE;
  console.log(
    `${nodes} nodes, ${calls} calls: ms of ${shown.join(', ')}; of all nodes ${cores.toFixed(2)} cores`,
  );
}

/** Exit code 0: it only tells. */
export async function countStatements(sizes: readonly number[]): Promise<number> {
  const { url, sql } = await startCounting();
  const talks = await Talks.start(run, { DATABASE_URL: url, SECRETS_KEY: TEST_SECRET });
  try {
    console.log('An idle process:');
    await idle(sql);
    console.log('\nCalls:');
    await calling(talks, sql);
    console.log('\nWith rows of more nodes:');
    for (const nodes of sizes) await fleet(sql, nodes);
  } finally {
    await letGoOfAll();
  }
  return 0;
}
