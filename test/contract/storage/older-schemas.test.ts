/** Databases of before the migrations became one: each is upgraded to the schema that a new one has, with all its rows. */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { migrate, migrationLog, type AppliedMigration } from '../../../storage/postgres/migrate.js';
import type { Sql } from '../../../storage/postgres/sql.js';
import { exactly } from '../../fixtures/exactly.js';
import { failureOf, startPostgres } from '../../fixtures/database/postgres.js';
import { standIn } from '../../fixtures/stand-in.js';

const postgres = await startPostgres(t);

const older = (commit: string): string =>
  readFileSync(new URL(`test/fixtures/older-schemas/${commit}.sql`, CHECKOUT), 'utf8');

/** The rows that migrations of before have left, from the names of their files in the fixture. */
async function noteMigrations(sql: Sql, text: string): Promise<void> {
  await sql`create table if not exists schema_migrations (
    version integer primary key, name text not null, checksum text not null,
    applied_at timestamptz not null default now(), needs integer not null default 0)`;
  for (const [, version, name] of text.matchAll(/^-- (\d{4})-([a-z0-9-]+)\.sql$/gm))
    await sql`insert into schema_migrations (version, name, checksum) values (${Number(version)}, ${name!}, '')`;
}

/** A database as those commits have left it, one after the other. */
async function databaseOf(t: Test, commits: readonly string[]): Promise<Sql> {
  const open = await postgres.schema(t);
  const { sql } = await open();
  for (const commit of commits) {
    const text = older(commit);
    await sql.unsafe(text);
    await noteMigrations(sql, text);
  }
  return sql;
}

/** Everything that makes a schema, in words: two schemas are the same where these are. */
async function shapeOf(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ line: string }[]>`
    with here as (select oid from pg_namespace where nspname = current_schema())
    select 'column ' || c.relname || '.' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
        || concat(' ', a.attnotnull, ' ', a.attidentity, ' ', a.attstorage)
        || ' ' || coalesce(pg_get_expr(d.adbin, d.adrelid), '') as line
      from pg_attribute a join pg_class c on c.oid = a.attrelid
      left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
      where c.relnamespace in (select oid from here) and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    union all select 'constraint ' || conrelid::regclass || ' ' || conname || ' ' || pg_get_constraintdef(oid)
      from pg_constraint where connamespace in (select oid from here) and contype <> 'n' and conrelid <> 0
    union all select indexdef from pg_indexes where schemaname = current_schema()
    union all select pg_get_triggerdef(t.oid) from pg_trigger t join pg_class c on c.oid = t.tgrelid
      where c.relnamespace in (select oid from here) and not tgisinternal
    union all select pg_get_functiondef(oid) from pg_proc where pronamespace in (select oid from here)
    union all select 'inherits ' || inhrelid::regclass || ' ' || inhparent::regclass from pg_inherits i
      join pg_class c on c.oid = i.inhrelid where c.relnamespace in (select oid from here)
    union all select 'options ' || relname || ' ' || reloptions::text from pg_class
      where relnamespace in (select oid from here) and reloptions is not null`;
  const [{ name } = { name: '' }] = await sql<{ name: string }[]>`select current_schema() as name`;
  return rows.map(({ line }) => line.replaceAll(`${name}.`, '')).sort();
}

async function newShape(t: Test): Promise<readonly string[]> {
  const open = await postgres.schema(t);
  const { sql } = await open();
  await migrate(sql);
  return shapeOf(sql);
}

for (const commits of [['e1614f90'], ['e1614f90', 'd80e168b']])
  t.test(`the database of commit ${commits.at(-1)} becomes that of today`, async (t) => {
    const sql = await databaseOf(t, commits);
    const notes: AppliedMigration[] = [];
    const lines: unknown[] = [];
    const log = migrationLog(standIn({ info: (...line: unknown[]) => lines.push(line) }));
    await migrate(sql, undefined, (applied) => {
      notes.push(applied);
      log.note(applied);
    });
    log.end();
    t.strictSame(
      notes.map(({ name, from }) => [name, from]),
      [
        ['schema', commits.at(-1)],
        ['node-load', undefined],
        ['platform-of-today', undefined],
        ['placed-calls', undefined],
        ['dial-events', undefined],
        ['sip-accounts', undefined],
      ],
    );
    exactly(t, lines, [
      [{ from: commits.at(-1) }, 'the database of an older version was upgraded'],
      [{ migration: 2 }, 'a migration was applied to the database'],
      [{ migration: 3 }, 'a migration was applied to the database'],
      [{ migration: 4 }, 'a migration was applied to the database'],
      [{ migration: 5 }, 'a migration was applied to the database'],
      [{ migration: 6 }, 'a migration was applied to the database'],
    ]);
    t.strictSame(await shapeOf(sql), await newShape(t));
    t.strictSame(await migrate(sql), [], 'once');
  });

/** A workspace of e1614f90 with what people have by then. */
const ROWS = `
  insert into workspaces (id, name) values ('w', 'Mine');
  insert into api_keys (id, workspace_id, name, origin, digest, tail)
    values ('k', 'w', 'first', 'first', decode(repeat('ab', 32), 'hex'), 'tail');
  insert into agents (id, workspace_id, name, description, config) values ('a', 'w', 'Agent', '', '{}');
  insert into agent_versions (agent_id, number, config, config_hash, tools, tool_ids)
    values ('a', 1, '{}', 'hash', '[]', '{}');
  insert into phone_numbers (id, workspace_id, provider, address, enabled, sealed) values
    ('used', 'w', 'twilio', '+15550001', true, ''), ('unused', 'w', 'twilio', '+15550002', true, '');
  insert into phone_calls (number_id, call_id) values ('used', 'c');
  insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides,
    expires_at, max_duration_seconds, status, ended_at, ended_reason, plan)
    values ('s', 'w', 'a', 'Agent', 'hash', 'api_key', 'UTC', '{}', '{}', now(), 60, 'completed', now(), 'hangup',
      '{"tools": []}');
  insert into session_items (session_id, type, turn_id, created_at, content) values ('s', 'message', 1, now(), '{}');
  insert into recordings (session_id, host, started_at) values ('s', 'machine', now());
  insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
    values ('w', 's', 'a', 'call.ended', 'https://a.example', '{}');`;

t.test('the rows of commit e1614f90 stay, and numbers that are in use are proven', async (t) => {
  const sql = await databaseOf(t, ['e1614f90']);
  await sql.unsafe(ROWS);
  await migrate(sql);
  const numbers = await sql`
    select id, proven_at is not null as proven, length(token) as token from phone_numbers order by id`;
  t.strictSame(
    numbers.map((row) => ({ ...row })),
    [
      { id: 'unused', proven: false, token: 64 },
      { id: 'used', proven: true, token: 64 },
    ],
  );
  const [counts] = await sql`
    select (select count(*)::int from session_items) as items, (select count(*)::int from deliveries) as deliveries,
      (select count(*)::int from recording_parts) as recordings, (select role from api_keys) as role,
      (select plan::text from sessions) as plan`;
  t.strictSame(
    { ...counts },
    { items: 1, deliveries: 1, recordings: 1, role: 'full', plan: '{"tools": []}' },
  );
});

t.test('a database of any other commit of before is refused, with what to do', async (t) => {
  const sql = await databaseOf(t, ['e1614f90']);
  await sql`insert into schema_migrations (version, name, checksum) values (34, 'phone-addresses', '')`;
  t.match(
    await failureOf(() => migrate(sql)),
    /unreleased version \(its last migration is 34, phone-addresses\)\. Start commit d80e168b on it once/,
  );
});

t.test('several starts at once upgrade a database once', async (t) => {
  const open = await postgres.schema(t);
  const processes = [await open(), await open(), await open()];
  const text = older('e1614f90');
  await processes[0]!.sql.unsafe(text);
  await noteMigrations(processes[0]!.sql, text);
  const applied = await Promise.all(processes.map(({ sql }) => migrate(sql)));
  // Each by whichever has it first.
  t.strictSame(applied.flat().toSorted(), [
    'dial-events',
    'node-load',
    'placed-calls',
    'platform-of-today',
    'schema',
    'sip-accounts',
  ]);
});
