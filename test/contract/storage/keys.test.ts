/** API keys on a real Postgres: valid and revoked ones, stored as digests; the first key; `npm run keys` as a program. */
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { randomIds } from '../../../contracts/ids.js';
import { silentLog } from '../../../contracts/log.js';
import { openDatabase, type Database } from '../../../storage/postgres/database.js';
import { startEmbeddedPostgres } from '../../../storage/embedded.js';
import { ensureFirstKey } from '../../../storage/keys/first-key.js';
import { createKey, createKeyAuthority, listKeys, revokeKey } from '../../../storage/keys/keys.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { filledFolderOf } from '../../fixtures/database/clusters.js';
import { exactly } from '../../fixtures/exactly.js';
import { operator, operatorProgram, startOperator } from '../../fixtures/ops/operator.js';
import { failureOf, startPostgres } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const postgres = await startPostgres(t);

const main = await postgres.migrated();
const other = await postgres.migrated();
const workspaceId = await ensureDefaultWorkspace(main.sql, randomIds);

t.test('keys', async (t) => {
  const authority = async (database: Database, clock = systemClock) => {
    const made = await createKeyAuthority({ database, clock, log: silentLog });
    t.teardown(() => made.stop());
    return made;
  };
  const [here, there] = await Promise.all([authority(main), authority(other)]);

  t.test('a key is known everywhere from when it is made until it is revoked', async (t) => {
    const { id, key } = await createKey(main.sql, randomIds, { workspaceId, name: 'mine' });
    t.match(key, /^sk_[A-Za-z0-9_-]{43}$/);
    t.same(await here.authenticate(key), { workspaceId, keyId: id, role: 'full', isOperators: true });
    t.same(await there.authenticate(key), { workspaceId, keyId: id, role: 'full', isOperators: true });
    t.same(await revokeKey(main.sql, id), { outcome: 'revoked', id });
    await until('both processes refuse it', async () => {
      const callers = await Promise.all([here.authenticate(key), there.authenticate(key)]);
      return callers.every((caller) => caller === undefined);
    });
    t.same(await revokeKey(main.sql, id), { outcome: 'already', id });
  });

  t.test('a revocation by hand in the database counts as well', async (t) => {
    const { id, key } = await createKey(main.sql, randomIds, { workspaceId, name: 'by hand' });
    await there.authenticate(key);
    await main.sql`delete from api_keys where id = ${id}`;
    t.ok(await until('it is refused', async () => (await there.authenticate(key)) === undefined));
  });

  t.test('unknown keys are refused, also huge and odd ones', async (t) => {
    for (const key of ['', 'sk_unknown', 'x'.repeat(1_000_000), "' or 1=1 --", '\0'])
      t.equal(await here.authenticate(key), undefined);
  });

  t.test('a key that was refused is known as soon as it exists', async (t) => {
    const key = 'chosen-by-the-operator';
    t.equal(await there.authenticate(key), undefined);
    await ensureFirstKey({
      sql: main.sql,
      ids: randomIds,
      workspaceId,
      dataDir: '/nowhere',
      apiKey: key,
    });
    t.ok(await until('it is known', async () => (await there.authenticate(key)) !== undefined));
  });

  t.test('the database holds no key, only its digest', async (t) => {
    const { key } = await createKey(main.sql, randomIds, { workspaceId, name: 'secret' });
    const tables = await main.sql<
      { name: string }[]
    >`select tablename as name from pg_tables where schemaname = 'public'`;
    for (const { name } of tables) {
      const rows = await main.sql`select row_to_json(r)::text as row from ${main.sql(name)} r`;
      for (const { row } of rows) t.notMatch(row, key.slice(3), name);
    }
    const keys = await listKeys(main.sql);
    t.ok(keys.some(({ name, tail }) => name === 'secret' && key.endsWith(tail) && tail.length === 4));
  });

  t.test('an id may be shortened while it is clear', async (t) => {
    const { id } = await createKey(main.sql, randomIds, { workspaceId, name: 'short' });
    t.equal((await revokeKey(main.sql, 'key_')).outcome, 'ambiguous');
    t.equal((await revokeKey(main.sql, 'key_zz')).outcome, 'unknown');
    t.equal((await revokeKey(main.sql, '%')).outcome, 'unknown');
    t.same(await revokeKey(main.sql, id.slice(0, 20)), { outcome: 'revoked', id });
  });

  t.test('without the database a known key stays valid for a while, and others get 503', async (t) => {
    let now = 1000;
    const clock = { ...systemClock, monotonic: () => now };
    const lonely = await openDatabase({ url: postgres.url });
    const away = await createKeyAuthority({ database: lonely, clock, log: silentLog });
    const announced = new Set<string>();
    await lonely.events.listen('api_keys', {
      heard: (keyId) => announced.add(keyId),
      missed: () => undefined,
    });
    const { id, key } = await createKey(main.sql, randomIds, { workspaceId, name: 'patient' });
    await until('the new key is announced', () => announced.has(id));
    await away.authenticate(key);
    await lonely.close();
    now += 120_000;
    t.same(await away.authenticate(key), { workspaceId, keyId: id, role: 'full', isOperators: true });
    const refusal = await away.authenticate('sk_other').catch((error: unknown) => error as ServiceError);
    exactly(t, refusal, { code: 'overloaded', retryAfter: 1 });
    now += 600_000;
    exactly(t, await away.authenticate(key).catch((error: unknown) => error), { code: 'overloaded' });
  });
});

t.test('the first key', async (t) => {
  /** A new installation with an empty database, because ensureFirstKey looks at all keys. */
  const installation = async (t: Test) => {
    const database = await (await postgres.schema(t))();
    await migrate(database.sql);
    const dataDir = folderOf(t);
    const workspaceId = await ensureDefaultWorkspace(database.sql, randomIds);
    const first = (apiKey?: string) =>
      ensureFirstKey({ sql: database.sql, ids: randomIds, workspaceId, dataDir, apiKey });
    const valid = async () => (await listKeys(database.sql)).filter(({ revokedAt }) => !revokedAt);
    return { sql: database.sql, dataDir, first, valid };
  };

  t.test('is made once, given out once, and kept in a file for its owner alone', async (t) => {
    const { first, dataDir, valid } = await installation(t);
    const made = await Promise.all([first(), first(), first()]);
    t.same(made.map(({ state }) => state).sort(), ['created', 'kept', 'kept']);
    const file = join(dataDir, 'api-key');
    const created = made.find((one) => one.state === 'created');
    t.equal(readFileSync(file, 'utf8').trim(), created?.state === 'created' ? created.key : '');
    t.equal(statSync(file).mode & 0o777, 0o600);
    t.same(readdirSync(dataDir), ['api-key']);
    t.same(await first(), { state: 'kept', file });
    t.equal((await valid()).length, 1);
  });

  t.test('is not made again when its file is lost or its key revoked', async (t) => {
    const { first, dataDir, sql, valid } = await installation(t);
    await first();
    const file = join(dataDir, 'api-key');
    const [key] = await valid();
    await revokeKey(sql, key?.id ?? '');
    t.same(await first(), { state: 'absent', file });
    rmSync(file);
    t.same(await first(), { state: 'absent', file });
    t.notOk(existsSync(file));
  });

  t.test('is that of the file if a start ended between file and database', async (t) => {
    const { first, dataDir, valid } = await installation(t);
    writeFileSync(join(dataDir, 'api-key'), 'sk_written-before-the-end\n');
    t.equal((await first()).state, 'kept');
    t.equal((await valid())[0]?.tail, '-end');
  });

  t.test('is API_KEY if it is set, any number of times, and a new API_KEY ends the old one', async (t) => {
    const { first, dataDir, sql, valid } = await installation(t);
    t.same(await Promise.all([first('operators-own-key-1'), first('operators-own-key-1')]), [
      { state: 'environment' },
      { state: 'environment' },
    ]);
    t.same(
      (await valid()).map(({ tail }) => tail),
      ['ey-1'],
    );
    await first('operators-own-key-2');
    const [only, ...more] = await valid();
    t.same([only?.tail, more], ['ey-2', []]);
    t.same(readdirSync(dataDir), []);
    await revokeKey(sql, only?.id ?? '');
    t.match(await failureOf(() => first('operators-own-key-2')), /API_KEY is a key that was revoked/);
    for (const odd of ['two words', 'ü', 'x'.repeat(257)])
      t.match(await failureOf(async () => first(odd)), /API_KEY must be/);
  });

  t.test('stops the start if its file cannot be written', async (t) => {
    const { sql, valid } = await installation(t);
    const file = join(folderOf(t), 'file');
    writeFileSync(file, '');
    const parts = { sql, ids: randomIds, workspaceId, dataDir: file };
    t.match(await failureOf(() => ensureFirstKey(parts)), /cannot be kept|cannot be read/);
    t.same(await valid(), []);
  });
});

t.test('npm run keys', async (t) => {
  const keys = (env: Record<string, string>, ...args: string[]) => operatorProgram(env, 'keys', ...args);
  const made = (out: string) => ({
    id: /\bkey_\w+/.exec(out)?.[0] ?? '',
    key: /\bsk_[\w-]{43}/.exec(out)?.[0] ?? '',
  });

  t.test('makes, lists and revokes by DATABASE_URL, and running processes hear of it', async (t) => {
    const env = { DATABASE_URL: postgres.url };
    const authority = await createKeyAuthority({ database: main, clock: systemClock, log: silentLog });
    const created = await keys(env, 'create', 'from the command');
    const { id, key } = made(created.out);
    t.equal(created.code, 0);
    t.same(await authority.authenticate(key), { workspaceId, keyId: id, role: 'full', isOperators: true });
    const listed = await keys(env, 'list');
    t.match(listed.out, id);
    t.match(listed.out, 'from the command');
    t.notMatch(listed.out, key);
    t.equal((await keys(env, 'revoke', id.slice(0, 24))).code, 0);
    await until('it is refused', async () => (await authority.authenticate(key)) === undefined);
    t.match((await keys(env, 'list')).out, new RegExp(`${id}.*revoked`));
    authority.stop();
  });

  t.test('starts embedded Postgres for the moment, or attaches to the one that runs', async (t) => {
    const dataDir = filledFolderOf(t);
    const env = { DATA_DIR: dataDir };
    const first = await keys(env, 'create');
    t.equal(first.code, 0);
    t.same(readdirSync(dataDir), ['postgres']);
    const server = await startEmbeddedPostgres({ dataDir });
    t.teardown(() => server.stop());
    const second = await keys(env, 'create', 'second');
    t.equal(second.code, 0);
    const listed = (await keys(env, 'list')).out;
    t.match(listed, made(first.out).id);
    t.match(listed, made(second.out).id);
    await (await openDatabase({ url: server.url })).close();
  });

  t.test('commands at once take turns on a folder that no gateway serves', async (t) => {
    const env = { DATA_DIR: filledFolderOf(t) };
    const names = ['one', 'two', 'three'];
    const all = await Promise.all(names.map((name) => keys(env, 'create', name)));
    t.strictSame(
      all.map(({ code, err }) => [code, err]),
      names.map(() => [0, '']),
    );
    const listed = (await keys(env, 'list')).out;
    for (const name of names) t.match(listed, new RegExp(`${name}$`, 'm'));
  });

  t.test('leaves no Postgres behind if it is ended, or if nobody reads what it says', async (t) => {
    const dataDir = filledFolderOf(t);
    const lock = join(dataDir, 'postgres.lock');
    for (const signal of ['SIGHUP', 'SIGQUIT'] as const) {
      const child = startOperator({ DATA_DIR: dataDir }, 'keys', 'list');
      await until('it holds the folder', () => existsSync(lock));
      child.kill(signal);
      t.strictSame(await once(child, 'exit'), [1, null], signal);
      t.notOk(existsSync(lock));
    }
    const unread = startOperator({ DATA_DIR: dataDir }, 'keys', 'create');
    unread.stdout.destroy();
    t.strictSame(await once(unread, 'exit'), [0, null]);
    t.notOk(existsSync(lock));
  });

  t.test('says what is wrong and exits accordingly', async (t) => {
    const env = { DATABASE_URL: postgres.url };
    // One by the program, with its exit code and streams; the others in this process.
    exactly(t, await keys(env), { code: 2, err: /^A command is missing\n[^]*Usage:/, out: '' });
    const run = operator('keys', env);
    const misuse: readonly (readonly [words: string[], line?: RegExp])[] = [
      [['destroy'], /^Unknown command 'destroy'\n/],
      [['toString'], /^Unknown command 'toString'\n/],
      [['revoke']],
      [['revoke', '%']],
      [['list', 'all']],
      [['create', 'a', 'b']],
      [['create', 'a\nb']],
      [['create', 'a', '--rolle', 'read'], /^Unknown option '--rolle'\n/],
      [['create', 'a', '--role', 'admin'], /^Wrong arguments: create a --role admin\n/],
    ];
    for (const [words, line] of misuse) {
      const { code, err, out } = await run(...words);
      t.equal(code, 2, words.join(' '));
      t.match(err, 'Usage:');
      if (line) t.match(err, line, words.join(' '));
      t.equal(out, '');
    }
    for (const words of [['help'], ['--help'], ['create', '--help'], ['create', 'a', '-h']])
      exactly(t, await run(...words), { code: 0, out: /Usage:/, err: '' }, words.join(' '));
    exactly(t, await run('revoke', 'key_none'), { code: 1, err: /No key begins with key_none/ });
    const unreachable = await keys({ DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/name' }, 'list');
    exactly(t, unreachable, { code: 1, out: '', err: /DATABASE_URL/ });
    t.notMatch(unreachable.err, /hunter2|\n {4}at /);
  });
});
