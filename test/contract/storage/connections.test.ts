/** Connections to a real Postgres: its address and certificate, what cannot be used, and events after a connection was lost. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createSecureContext, rootCertificates, TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { networkInterfaces } from 'node:os';
import type { Test } from 'tap';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { silentLog } from '../../../contracts/log.js';
import { exactly } from '../../fixtures/exactly.js';
import { failureOf, startPostgres } from '../../fixtures/database/postgres.js';
import { startRelay } from '../../fixtures/database/relay.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const postgres = await startPostgres(t);

const fixture = (name: string): string => fileURLToPath(new URL(`test/fixtures/${name}`, CHECKOUT));
const [cert, key] = [fixture('edge-cert.pem'), fixture('edge-key.pem')];

t.test('a database that cannot be used is named without its password', async (t) => {
  const missing = new URL(postgres.url);
  missing.pathname = '/nowhere';
  const standby = new URL(postgres.url);
  standby.searchParams.set('default_transaction_read_only', 'on');
  const cases: [string, RegExp][] = [
    ['postgres://me:hunter2@127.0.0.1:1/name', /me@127\.0\.0\.1:1\/name.*DATABASE_URL.*ECONNREFUSED/],
    [
      'postgresql://me:hunter2@localhost/name?host=/no/such/folder',
      /\/no\/such\/folder.*DATABASE_URL.*ENOENT/,
    ],
    [missing.href, /DATABASE_URL.*3D000/],
    [standby.href, /is read-only, as standbys are; DATABASE_URL needs the primary/],
    ['mysql://me:hunter2@127.0.0.1/name', /DATABASE_URL is not a Postgres address/],
    ['me:hunter2', /DATABASE_URL is not a Postgres address/],
    [
      'postgres://me:hunter2@127.0.0.1:1/name?sslmode=require&channel_binding=require',
      /channel_binding=require is not supported: remove it\. sslmode=verify-full/,
    ],
    ['postgres://me:hunter2%@127.0.0.1/name', /DATABASE_URL is not a Postgres address.*%25 for %/],
  ];
  for (const [url, words] of cases) {
    const message = await failureOf(() => openDatabase({ url, patienceMs: 0 }));
    t.match(message, words);
    t.notMatch(message, 'hunter2');
  }
});

t.test('a database that cannot be reached yet is waited for, and the log says so once', async (t) => {
  const relay = await startRelay(t, postgres.url);
  await relay.away();
  const said: string[] = [];
  const log = { ...silentLog, warn: (_: object, line: string) => void said.push(line) };
  const opening = openDatabase({ url: relay.url, connections: 1, patienceMs: 600_000, log });
  await until('it has been tried', () => said.length > 0);
  await relay.open();
  const { sql, close } = await opening;
  t.strictSame([...(await sql`select 1 as one`)], [{ one: 1 }]);
  await close();
  t.equal(said.length, 1);
  t.match(said[0], /^waiting for the database .*127\.0\.0\.1:\d+.*ECONNREFUSED/);
});

t.test('arrays are sent and read as arrays; the server numbers their types as we do', async (t) => {
  const { sql } = await postgres.open();
  await sql`select 1`;
  const { typeArrayMap } = (sql.options as unknown as { shared: { typeArrayMap: Record<string, number> } })
    .shared;
  const known = Object.entries(typeArrayMap).map(([type, array]) => [Number(type), array]);
  t.ok(known.length > 10, 'the patch names them (ops/patches)');
  const numbers = await sql<{ type: number; array: number }[]>`
    select oid::int as type, typarray::int as array from pg_type
    where oid::int = any(${known.map(([type]) => type!)}::int[]) order by pg_type.oid`;
  t.strictSame(
    numbers.map(({ type, array }) => [type, array]),
    known,
  );
  const texts = ['plain', 'a "quoted" one', 'with, a comma', '{}', ''];
  const uuid = '5a1f9a4e-8d1c-4f0e-9d6c-0b9f2a3c4d5e';
  const [row] = await sql`
    select ${texts}::text[] as texts, ${[1, -2]}::int[] as integers, ${[0.5, 2]}::float8[] as floats,
      ${[uuid]}::uuid[] as uuids, ${[] as string[]}::text[] as none, array[true, false] as flags`;
  t.strictSame(
    { ...row },
    { texts, integers: [1, -2], floats: [0.5, 2], uuids: [uuid], none: [], flags: [true, false] },
  );
});

t.test('statements one after the other use one connection, and at the same time one each', async (t) => {
  const { sql } = await postgres.open();
  const ask = async (): Promise<number> =>
    (await sql`select pg_backend_pid() as pid, pg_sleep(0.05)`)[0]?.['pid'];
  const together = await Promise.all([ask(), ask(), ask()]);
  t.equal(new Set(together).size, 3);
  const inTurn = [await ask(), await ask(), await ask()];
  t.equal(new Set(inTurn).size, 1, 'the one that was used last');
  const transaction = await sql.begin(async (tx) => (await tx`select pg_backend_pid() as pid`)[0]?.['pid']);
  t.equal(transaction, inTurn[0], 'as a transaction does');
});

t.test('an address that prefers channel binding, or wants none, connects', async (t) => {
  for (const wanted of ['prefer', 'disable']) {
    const url = new URL(postgres.url);
    url.searchParams.set('channel_binding', wanted);
    const { sql, close } = await openDatabase({ url: url.href });
    t.teardown(close);
    exactly(t, await sql`select 1 as one`, [{ one: 1 }], wanted);
  }
});

t.test(
  'a start gives up a server that closes every connection, as a balancer without one does',
  async (t) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const url = `postgres://me@127.0.0.1:${port}/name`;
    t.match(
      await failureOf(() => openDatabase({ url, patienceMs: 0 })),
      /no answer, connections are taken, and closed/,
    );
    t.equal(connections, 2, 'once, and once more');
  },
);

t.test(
  'the certificate of a server is held against sslrootcert, and with verify-full against the host',
  async (t) => {
    const context = createSecureContext({ cert: readFileSync(cert), key: readFileSync(key) });
    const shown: string[] = [];
    // Shows its certificate, and closes the connection.
    const server = createServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          socket.write('S');
          const asks = { requestCert: true, rejectUnauthorized: false };
          const secure: TLSSocket = new TLSSocket(socket, { isServer: true, secureContext: context, ...asks })
            .on('error', () => undefined)
            .once('data', () => {
              shown.push(secure.getPeerCertificate().serialNumber ?? 'none');
              socket.destroy();
            });
        });
    }).listen(0, '0.0.0.0');
    await once(server, 'listening');
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    const stranger = join(folderOf(t), 'stranger.pem');
    writeFileSync(stranger, rootCertificates[0] ?? '');
    const cases: [host: string, parameters: string, words: RegExp][] = [
      [
        'localhost',
        `sslmode=verify-full&sslrootcert=${cert}`,
        /no answer, connections are taken, and closed/,
      ],
      ['127.0.0.1', `sslmode=require&sslrootcert=${cert}`, /no answer, connections are taken, and closed/],
      ['127.0.0.2', `sslmode=verify-full&sslrootcert=${cert}`, /ERR_TLS_CERT_ALTNAME_INVALID/],
      ['localhost', `sslmode=verify-full&sslrootcert=${stranger}`, /SELF_SIGNED_CERT/],
      ['localhost', 'sslmode=verify-full', /SELF_SIGNED_CERT/],
      [
        'localhost',
        `sslmode=verify-ca&sslrootcert=/no/such`,
        /sslrootcert \/no\/such cannot be read \(ENOENT\)/,
      ],
      ['localhost', `sslmode=require&sslcert=${cert}&sslkey=/no/such`, /sslkey \/no\/such cannot be read/],
    ];
    for (const [host, parameters, words] of cases) {
      const url = `postgres://me:hunter2@${host}:${port}/name?${parameters}`;
      const message = await failureOf(() => openDatabase({ url, patienceMs: 0 }));
      t.match(message, words, `${host} ${parameters}`);
      t.notMatch(message, 'hunter2');
    }
    t.strictSame([...new Set(shown)], ['none']);
    const url = `postgres://me@localhost:${port}/name?sslmode=require&sslcert=${cert}&sslkey=${key}`;
    await failureOf(() => openDatabase({ url, patienceMs: 0 }));
    t.equal(
      shown.at(-1),
      new X509Certificate(readFileSync(cert)).serialNumber,
      'its own is shown, if it is told',
    );
  },
);

t.test('the name of a database is percent-encoded in its address, as for libpq', async (t) => {
  const { sql, close } = await openDatabase({ url: postgres.url });
  t.teardown(close);
  const name = `mein büro ${process.pid}`;
  await sql`create database ${sql(name)}`;
  const address = new URL(postgres.url);
  address.pathname = `/${encodeURIComponent(name)}`;
  const named = await openDatabase({ url: address.href });
  const [row] = await named.sql`select current_database() as name`;
  await named.close();
  await sql`drop database ${sql(name)} with (force)`;
  t.equal(row?.['name'], name);
});

/** Each of the addresses leads to the server. */
async function connectByEach(t: Test, urls: readonly string[]): Promise<void> {
  for (const url of urls) {
    const { sql, close } = await openDatabase({ url, patienceMs: 0 });
    exactly(t, await sql`select current_user as name`, [{ name: 'postgres' }], url);
    await close();
  }
}

/** The folder of the server's socket; empty for a given server that has another address. */
const folder = new URL(postgres.url).searchParams.get('host') ?? '';
const withoutSocket = folder === '' && 'the given server is not reached by a socket';
const withoutIpv6 =
  !Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === '::1')) &&
  'no IPv6 on this machine';

t.test(
  'an address means what it means to libpq: a socket beside a user, and parameters of its own',
  { skip: withoutSocket },
  async (t) => {
    const socket = `host=${encodeURIComponent(folder)}`;
    await connectByEach(t, [
      `postgresql://postgres@/postgres?${socket}`,
      `postgresql://postgres@${encodeURIComponent(folder)}/postgres`,
      `postgresql://postgres:unused@/?${socket}&dbname=postgres&port=5432`,
      `postgresql://postgres@localhost/postgres?${socket}&gssencmode=prefer&keepalives=1&keepalives_idle=30`,
    ]);
    t.match(
      await failureOf(() => openDatabase({ url: `${postgres.url}&gssencmode=require`, patienceMs: 0 })),
      /gssencmode=require is not supported/,
    );
  },
);

t.test('a host may be an IPv6 address', { skip: withoutSocket || withoutIpv6 }, async (t) => {
  const relay = createServer((socket) => {
    const server = connect(join(folder, '.s.PGSQL.5432'));
    for (const side of [socket, server]) side.on('error', () => undefined);
    socket.pipe(server).pipe(socket);
  }).listen(0, '::1');
  await once(relay, 'listening');
  t.teardown(() => relay.close());
  const { port } = relay.address() as AddressInfo;
  await connectByEach(t, [
    `postgres://postgres@[::1]:${port}/postgres`,
    `postgres:///postgres?host=::1&port=${port}&user=postgres`,
    `postgres://postgres@[::1]:${port}/postgres?sslmode=allow`,
  ]);
});

t.test('dates, bytes and transactions do not follow the habits of a database', async (t) => {
  const { sql, close } = await openDatabase({ url: postgres.url });
  t.teardown(close);
  const name = `habits ${process.pid}`;
  await sql`create database ${sql(name)}`;
  await sql`alter database ${sql(name)} set datestyle = 'German'`;
  await sql`alter database ${sql(name)} set bytea_output = 'escape'`;
  await sql`alter database ${sql(name)} set default_transaction_isolation = 'serializable'`;
  const address = new URL(postgres.url);
  address.pathname = `/${encodeURIComponent(name)}`;
  const named = await openDatabase({ url: address.href });
  const [row] = await named.sql`
    select '2026-11-28T06:30:00Z'::timestamptz as at, '\\x00ff'::bytea as bytes,
      current_setting('transaction_isolation') as isolation`;
  await named.close();
  await sql`drop database ${sql(name)} with (force)`;
  t.strictSame(row, {
    at: new Date('2026-11-28T06:30:00Z'),
    bytes: Buffer.from([0, 255]),
    isolation: 'read committed',
  });
});

t.test(
  'a listener gets events again after its connection was lost, and learns that it missed some',
  async (t) => {
    const database = await postgres.open();
    const heard: string[] = [];
    let missed = 0;
    await database.events.listen('slot_shortage', {
      heard: (payload) => heard.push(payload),
      missed: () => missed++,
    });
    await database.sql.notify('slot_shortage', 'one');
    t.ok(await until('it hears', () => heard.includes('one')));
    // Other files use the server as well.
    await database.sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and query like 'listen%' and pid <> pg_backend_pid()`;
    await until('it is told', () => missed === 2);
    await database.sql.notify('slot_shortage', 'two');
    t.ok(await until('it hears again', () => heard.includes('two')));
  },
);
