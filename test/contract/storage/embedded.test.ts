/** Embedded Postgres under supervisors: first and later starts, users, orphans, rivals, broken folders. */
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { closedFolder } from '../../../storage/embedded/account.js';
import { findBinaries } from '../../../storage/embedded/binaries.js';
import { isAlive } from '../../../processes/process-table.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../../../storage/embedded.js';
import { end } from '../../fixtures/processes/child-processes.js';
import { connect, EMBEDDED, noteIn, notesIn, start, supervise } from '../../fixtures/database/embedded.js';
import { failureOf } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const NOBODY = { uid: 65_534, gid: 65_534 };
const isRoot = process.geteuid?.() === 0;

/** A data folder that the first test makes and most others reuse: a later start takes a tenth of the first one's time. */
const shared = join(folderOf(t), 'data');
chmodSync(join(shared, '..'), 0o755);
/** One whose name is too long for a socket; made where a first start was interrupted. */
const long = join(folderOf(t), 'long'.repeat(25));

t.test(
  'the first start makes the data, a later one finds it, and nothing else is left between',
  async (t) => {
    const first = await startEmbeddedPostgres({ dataDir: shared });
    await noteIn(first.url, 'kept');
    const pid = first.pid();
    await Promise.all([first.stop(), first.stop()]);
    t.notOk(isAlive(pid));
    t.same(readdirSync(shared), ['postgres', 'reserve']);
    const second = await start(t, shared);
    t.same(await notesIn(second.url), ['kept']);
  },
);

t.test('frozen is dead: a server that is stopped is replaced, and its data is there', async (t) => {
  const server = await start(t, shared);
  const pid = server.pid();
  process.kill(pid, 'SIGSTOP');
  await until('another one runs', () => server.pid() !== pid, 60_000);
  t.notOk(isAlive(pid));
  t.same(await notesIn(server.url), ['kept']);
});

t.test('it listens on a private socket only', async (t) => {
  const dataDir = shared;
  const server = await start(t, dataDir);
  const { sql } = await connect(t, server.url);
  const [row] = await sql`select current_setting('listen_addresses') as addresses`;
  t.equal(row?.['addresses'], '');
  t.equal(statSync(join(dataDir, 'postgres-socket')).mode & 0o777, 0o700);
  t.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700);
});

t.test('a data folder may have any name', async (t) => {
  const name = 'Voice, "Inc" 100 % #1? ışık ü 日本';
  const server = await start(t, join(folderOf(t), name));
  await noteIn(server.url, name);
  t.same(await notesIn(server.url), [name]);
});

t.test('an interrupted first start is begun again', async (t) => {
  mkdirSync(join(long, 'postgres.new'), { recursive: true });
  writeFileSync(join(long, 'postgres.new', 'PG_VERSION'), '18\n');
  const server = await start(t, long);
  await noteIn(server.url, 'fresh');
  t.notOk(existsSync(join(long, 'postgres.new')));
});

t.test('a data folder whose name is too long for a socket has it in a temporary one', async (t) => {
  const server = await startEmbeddedPostgres({ dataDir: long });
  const socketFolder = new URL(server.url).searchParams.get('host') ?? '';
  t.notOk(socketFolder.startsWith(long));
  t.equal(statSync(socketFolder).mode & 0o777, 0o700);
  t.same(await notesIn(server.url), ['fresh']);
  await server.stop();
  t.notOk(existsSync(socketFolder));
});

t.test('the temporary socket folder of a killed supervisor goes with the next start', async (t) => {
  const { child, said } = await supervise(t, long);
  const left = new URL(said.url ?? '').searchParams.get('host') ?? '';
  await end(child, 'SIGKILL');
  t.ok(existsSync(left));
  await start(t, long);
  t.notOk(existsSync(left));
});

t.test('another process finds the running server, and none after its end', async (t) => {
  const dataDir = shared;
  t.equal(await runningEmbeddedPostgres(dataDir), undefined);
  const { child, said } = await supervise(t, dataDir);
  t.equal(await runningEmbeddedPostgres(dataDir), said.url);
  await end(child, 'SIGTERM');
  t.equal(await runningEmbeddedPostgres(dataDir), undefined);
  t.notOk(isAlive(said.pid ?? -1));
});

t.test('a second supervisor is refused, and the first continues', async (t) => {
  const dataDir = shared;
  const { child, said } = await supervise(t, dataDir);
  const message = await failureOf(() => startEmbeddedPostgres({ dataDir }));
  t.match(message, dataDir);
  t.match(message, 'DATA_DIR');
  t.match(message, String(child.pid));
  t.same(await notesIn(said.url), ['kept']);
});

t.test(
  'a folder that a gateway in another container serves is left as it is, and its server is found',
  async (t) => {
    const dataDir = shared;
    const folder = join(dataDir, 'postgres-socket');
    mkdirSync(folder);
    // Nobody on the list of processes is a server on that folder.
    const server = createServer().listen(join(folder, '.s.PGSQL.5432'));
    await once(server, 'listening');
    const lock = join(dataDir, 'postgres.lock');
    writeFileSync(
      lock,
      JSON.stringify({ pid: 1, started: 'elsewhere/1', socketFolder: '/data/postgres-socket' }),
    );
    t.match(
      await failureOf(() => startEmbeddedPostgres({ dataDir })),
      /in use by a gateway in another container/,
    );
    t.match(readFileSync(lock, 'utf8'), /elsewhere/);
    t.equal(new URL((await runningEmbeddedPostgres(dataDir)) ?? '').searchParams.get('host'), folder);
    server.close();
    await once(server, 'close');
    await start(t, dataDir);
  },
);

t.test('two starts at once: one has the folder', async (t) => {
  const dataDir = shared;
  const both = await Promise.all([supervise(t, dataDir), supervise(t, dataDir)]);
  t.equal(both.filter(({ said }) => said.url).length, 1);
  t.equal(both.filter(({ said }) => said.error?.includes('in use')).length, 1);
});

t.test(
  'a server that a killed supervisor left is stopped by the next start, and the data are there',
  async (t) => {
    const dataDir = shared;
    const { child, said } = await supervise(t, dataDir);
    await end(child, 'SIGKILL');
    t.ok(isAlive(said.pid ?? -1), 'the server outlives its supervisor');
    const next = await start(t, dataDir);
    t.notOk(isAlive(said.pid ?? -1));
    t.same(await notesIn(next.url), ['kept']);
  },
);

t.test(
  'files of a start long gone, whose process numbers belong to others now, are no obstacle',
  async (t) => {
    const dataDir = shared;
    const data = join(dataDir, 'postgres');
    const gone = {
      pid: process.pid,
      started: 'before this process',
      socketFolder: join(dataDir, 'postgres-socket'),
    };
    writeFileSync(join(dataDir, 'postgres.lock'), JSON.stringify(gone));
    const pidFile = [
      process.ppid,
      data,
      1,
      5432,
      join(dataDir, 'postgres-socket'),
      '',
      '1 1',
      'ready',
      '',
    ].join('\n');
    writeFileSync(join(data, 'postmaster.pid'), pidFile, { mode: 0o600 });
    const { uid, gid } = statSync(data);
    if (isRoot) chownSync(join(data, 'postmaster.pid'), uid, gid);
    const server = await start(t, dataDir);
    t.not(server.pid(), process.ppid);
    t.ok(isAlive(process.ppid));
  },
);

t.test('a server that dies is started again, and connections come back', async (t) => {
  const dataDir = shared;
  const server = await start(t, dataDir);
  const database = await connect(t, server.url);
  let missed = 0;
  const heard: string[] = [];
  await database.events.listen('api_keys', {
    heard: (payload) => heard.push(payload),
    missed: () => missed++,
  });
  t.equal(missed, 1);
  const before = server.pid();
  process.kill(before, 'SIGKILL');
  await until('another server answers', async () => server.pid() !== before && (await database.answers()));
  await until('the listener is told that it missed something', () => missed === 2);
  await database.sql.notify('api_keys', 'after');
  await until('it hears again', () => heard.includes('after'));
});

t.test('a stop while the server is being started again leaves nothing', async (t) => {
  const dataDir = shared;
  const server = await startEmbeddedPostgres({ dataDir });
  process.kill(server.pid(), 'SIGKILL');
  await until('the server is dead', () => !isAlive(server.pid()));
  await server.stop();
  t.notOk(isAlive(server.pid()));
  t.same(readdirSync(dataDir), ['postgres', 'reserve']);
});

t.test('a server whose socket was removed makes place for one that can be reached', async (t) => {
  const dataDir = shared;
  const server = await startEmbeddedPostgres({ dataDir });
  t.teardown(() => server.stop());
  const first = server.pid();
  rmSync(join(dataDir, 'postgres-socket'), { recursive: true });
  await until('another server runs', () => server.pid() !== first);
  const database = await openDatabase({ url: server.url });
  t.ok(await database.answers());
  await database.close();
});

for (const what of ['the socket file', 'the socket folder', 'the pid file'] as const) {
  t.test(`an orphan without ${what} is stopped, and another server started`, async (t) => {
    const dataDir = shared;
    const { child, said } = await supervise(t, dataDir);
    await end(child, 'SIGKILL');
    const places = {
      'the socket file': join(dataDir, 'postgres-socket', '.s.PGSQL.5432'),
      'the socket folder': join(dataDir, 'postgres-socket'),
      // As left by a server that was killed before it had written the file.
      'the pid file': join(dataDir, 'postgres', 'postmaster.pid'),
    };
    rmSync(places[what], { recursive: true });
    const server = await startEmbeddedPostgres({ dataDir });
    t.teardown(() => server.stop());
    t.notOk(isAlive(said.pid ?? -1));
    const database = await openDatabase({ url: server.url });
    t.ok(await database.answers());
    await database.close();
  });
}

t.test(
  'a folder that is no data folder, or of another version, or damaged, is refused in words and left alone',
  async (t) => {
    const cases: [string, (data: string) => void, RegExp][] = [
      [
        'foreign files',
        (data) => writeFileSync(join(data, 'photo.jpg'), 'x'),
        /not a whole Postgres data folder/,
      ],
      [
        'another version',
        (data) => writeFileSync(join(data, 'PG_VERSION'), '14\n'),
        /Postgres 14, and the embedded one is Postgres \d+/,
      ],
      [
        'a hollow cluster',
        (data) => writeFileSync(join(data, 'PG_VERSION'), `${findBinaries().major}\n`),
        /does not start/,
      ],
    ];
    for (const [name, spoil, words] of cases) {
      const dataDir = folderOf(t);
      mkdirSync(join(dataDir, 'postgres'), { mode: 0o700 });
      spoil(join(dataDir, 'postgres'));
      const before = readdirSync(join(dataDir, 'postgres'));
      const message = await failureOf(() => startEmbeddedPostgres({ dataDir }));
      t.match(message, words, name);
      t.match(message, /DATA_DIR.*DATABASE_URL/, name);
      t.same(readdirSync(join(dataDir, 'postgres')), before, name);
      t.same(readdirSync(dataDir), ['postgres'], `${name}: no lock is left`);
    }
  },
);

t.test('a data folder that cannot be written is refused with its name and reason', async (t) => {
  const file = join(folderOf(t), 'file');
  writeFileSync(file, '');
  for (const dataDir of [file, join(file, 'data')]) {
    const message = await failureOf(() => startEmbeddedPostgres({ dataDir }));
    t.match(message, `DATA_DIR ${dataDir} cannot be written`);
    t.match(message, 'Set DATA_DIR to another folder');
  }
  t.equal(readFileSync(file, 'utf8'), '');
});

const closed =
  closedFolder(findBinaries().postgres, NOBODY) ?? closedFolder(EMBEDDED.slice('file://'.length), NOBODY);
const switchable = isRoot
  ? closed
    ? { skip: `user nobody cannot reach ${closed}` }
    : {}
  : { skip: 'only root can become another user' };

t.test('an ordinary user runs it plainly', switchable, async (t) => {
  const dataDir = folderOf(t);
  chownSync(dataDir, NOBODY.uid, NOBODY.gid);
  const { said } = await supervise(t, dataDir, NOBODY);
  await noteIn(said.url, 'by nobody');
  t.equal(statSync(`/proc/${said.pid}`).uid, NOBODY.uid);
  t.equal(statSync(join(dataDir, 'postgres')).uid, NOBODY.uid);
});

t.test('an ordinary user gets an error that names a read-only folder', switchable, async (t) => {
  const dataDir = folderOf(t);
  chmodSync(dataDir, 0o555);
  const { said } = await supervise(t, dataDir, NOBODY);
  t.match(said.error, `DATA_DIR ${dataDir} cannot be written: permission denied`);
  t.same(readdirSync(dataDir), []);
});

t.test("an ordinary user gets an error about another user's data", switchable, async (t) => {
  chmodSync(shared, 0o777);
  const { said } = await supervise(t, shared, NOBODY);
  t.match(said.error, /belongs to another user/);
});

t.test(
  'root without user namespaces runs it as nobody, and later as whoever owns the data',
  switchable,
  async (t) => {
    const dataDir = folderOf(t);
    chmodSync(dataDir, 0o755);
    const bare = { path: '/nowhere' };
    const first = await supervise(t, dataDir, bare);
    await noteIn(first.said.url, 'as nobody');
    t.equal(statSync(`/proc/${first.said.pid}`).uid, NOBODY.uid);
    await end(first.child, 'SIGTERM');
    const second = await start(t, dataDir);
    t.same(await notesIn(second.url), ['as nobody']);
    t.equal(statSync(`/proc/${second.pid()}`).uid, NOBODY.uid);
  },
);

t.test('data made in a user namespace go to nobody where namespaces are gone', switchable, async (t) => {
  const dataDir = shared;
  const { said } = await supervise(t, dataDir, { path: '/nowhere' });
  t.same(await notesIn(said.url), ['kept']);
});

t.test(
  'root without user namespaces, and a folder that nobody cannot reach: the way out is named',
  switchable,
  async (t) => {
    const folder = folderOf(t);
    chmodSync(folder, 0o700);
    const dataDir = join(folder, 'data');
    const { said } = await supervise(t, dataDir, { path: '/nowhere' });
    t.match(said.error, /DATA_DIR/);
    t.match(said.error, /DATABASE_URL/);
    t.match(said.error, /nobody cannot reach/);
  },
);
