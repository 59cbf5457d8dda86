/** A gateway's storage behind PgBouncer in transaction mode, which operators of many gateways use. */
import { spawn } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { ownedBy } from '../../../contracts/owner.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { end, endWithTests } from '../../fixtures/processes/child-processes.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { freePort } from '../../fixtures/free-port.js';
import { startGateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { recordingLog } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const skip = skipReason('pgbouncer');
const NOBODY = 65_534;

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });

/** Starts a PgBouncer in front of the server; resolves with its address. It does not run as root. */
async function pooler(t: Pick<Test, 'teardown'>, server: string, mode: string): Promise<string> {
  const folder = folderOf(t);
  chmodSync(folder, 0o755);
  const target = new URL(server);
  const host = target.searchParams.get('host') ?? target.hostname;
  const port = await freePort();
  const file = join(folder, 'pgbouncer.ini');
  const lines = [
    ...['[databases]', `* = host=${host} port=${target.port || 5432} user=postgres`],
    ...[
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
    ],
    ...[`pool_mode = ${mode}`, 'default_pool_size = 3', 'max_client_conn = 100'],
    ...['query_wait_timeout = 2', 'server_login_retry = 1'],
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  // Only its own user may use the socket of embedded Postgres: PgBouncer runs as that user, in a namespace where it is not root.
  const asUser =
    process.geteuid?.() === 0 ? ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`] : [];
  const [program = '', ...args] = [...asUser, externalTool('pgbouncer') ?? '', '-q', file];
  const child = endWithTests(spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] }));
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  t.teardown(() => end(child));
  const url = `postgresql://postgres@127.0.0.1:${port}${target.pathname}`;
  await until('PgBouncer listens', () => {
    if (child.exitCode !== null) throw new Error(`PgBouncer ended: ${said}`);
    return accepts(port);
  });
  return url;
}

t.test('PgBouncer', { skip }, async (t) => {
  const postgres = await startPostgres(t, { empty: true });
  const direct = postgres.url;

  t.test(
    'in transaction mode, with the direct address: statements, transactions, notifications',
    async (t) => {
      const url = await pooler(t, direct, 'transaction');
      const database = await openDatabase({ url, directUrl: direct });
      t.teardown(() => database.close());
      const { sql, events } = database;
      const more = Array.from({ length: 60 }, (_, index) => sql`select ${index}::int + 1 as next`);
      t.strictSame(
        (await Promise.all(more)).map(([row]) => row?.['next'] as number),
        more.map((_, index) => index + 1),
      );
      const [limit] = (await sql.begin((tx) => tx`show statement_timeout`)) as {
        statement_timeout: string;
      }[];
      t.equal(limit?.statement_timeout, '15s');
      const [outside] = await sql`show statement_timeout`;
      t.not(outside?.['statement_timeout'], '15s', 'nothing of it is left to whom the session is given next');
      const heard: string[] = [];
      await events.listen('voices', { heard: (payload) => heard.push(payload), missed: () => undefined });
      await Promise.all([1, 2, 3].map((number) => sql.notify('voices', String(number))));
      await until('all were heard', () => heard.length === 3);
    },
  );

  t.test(
    'in transaction mode many statements of all kinds, at once on few connections, are all answered',
    async (t) => {
      const url = await pooler(t, direct, 'transaction');
      const { sql, close } = await openDatabase({ url, directUrl: direct });
      t.teardown(() => close());
      const ask = async (number: number): Promise<unknown> => {
        if (number % 3 === 0) return sql`select 1 as one`;
        if (number % 3 === 1) return sql`select ${number}::int + 1 as next`;
        return sql.begin((tx) => tx`select ${number}::int as same`);
      };
      for (let round = 0; round < 50; round++)
        await Promise.all(Array.from({ length: 30 }, (_, number) => ask(number)));
      t.pass('none waits');
    },
  );

  t.test('in transaction mode statements that clients cause end in time, and with their owner', async (t) => {
    const url = await pooler(t, direct, 'transaction');
    const { asked, close } = await openDatabase({ url, directUrl: direct });
    t.teardown(() => close());
    const observer = await postgres.open();
    const running = async (): Promise<number> => {
      const [row] = await observer.sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity
        where state <> 'idle' and pid <> pg_backend_pid() and query like '%as abandoned%'`;
      return row?.count ?? 0;
    };
    const leaving = new AbortController();
    const left = ownedBy({ tag: 'leaving', signal: leaving.signal }, () =>
      rejectsExactly(
        t,
        asked.begin((tx) => tx`select pg_sleep(14) as abandoned`),
        { message: 'has gone' },
      ),
    );
    await until('it runs', async () => (await running()) === 1);
    leaving.abort(new Error('has gone'));
    await left;
    await rejectsExactly(t, asked`select pg_sleep(60) as abandoned`, { code: 'storage_busy' });
    await until('none is left', async () => (await running()) === 0);
    for (let times = 0; times < 20; times += 1) exactly(t, await asked`select 1 as one`, [{ one: 1 }]);
  });

  t.test('while the server is away, statements fail and do not wait', async (t) => {
    const url = await pooler(t, 'postgresql://postgres@127.0.0.1:1/postgres', 'transaction');
    await rejectsExactly(t, openDatabase({ url, directUrl: direct, patienceMs: 0 }), {
      name: 'StorageFailure',
    });
  });

  t.test('in session mode the address alone will do, and it says what transaction mode needs', async (t) => {
    const url = await pooler(t, direct, 'session');
    const log = recordingLog();
    const database = await openDatabase({ url, log, connections: 2 });
    t.teardown(() => database.close());
    t.strictSame(await migrate(database.sql).then((names) => names.length > 0), true);
    t.match(log.lines.map(({ message }) => message).join(), /DATABASE_DIRECT_URL/);
  });

  t.test('a gateway starts, keeps what it is given, and hears of what others do', async (t) => {
    const url = await pooler(t, direct, 'transaction');
    const gateway = await startGateway({ DATABASE_URL: url, DATABASE_DIRECT_URL: direct, LOG_LEVEL: 'warn' });
    t.teardown(() => gateway.stop());
    const headers = { ...gateway.authorization, 'content-type': 'application/json' };
    const create = async (name: string): Promise<string> => {
      const body = JSON.stringify({ name });
      const response = await fetch(`${gateway.base}/v1/agent/agents`, { method: 'POST', headers, body });
      t.equal(response.status, 201);
      return ((await response.json()) as { agent_id: string }).agent_id;
    };
    const ids = await Promise.all(Array.from({ length: 30 }, (_, index) => create(`agent ${index}`)));
    for (const id of ids) {
      const response = await fetch(`${gateway.base}/v1/agent/agents/${id}`, { headers });
      t.equal(response.status, 200);
      await response.arrayBuffer();
    }
    t.notMatch(gateway.stderr(), /prepared statement|not listening/);
  });
});
