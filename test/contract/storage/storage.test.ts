/** The database on a real Postgres: migrations, leases, usage, admission. */
import { copyFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import type { ServiceError } from '../../../contracts/errors.js';
import { randomIds } from '../../../contracts/ids.js';
import { silentLog } from '../../../contracts/log.js';
import { createAdmission } from '../../../engines/admission.js';
import { openDatabase, type Database } from '../../../storage/postgres/database.js';
import { createSlotLeases } from '../../../storage/leases.js';
import { migrate, MIGRATIONS } from '../../../storage/postgres/migrate.js';
import { createUsageStore } from '../../../storage/usage.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { exactly } from '../../fixtures/exactly.js';
import { failureOf, startPostgres } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const postgres = await startPostgres(t);

/** A folder of migrations and a schema, for one test. */
async function ownMigrations(t: Test) {
  const open = await postgres.schema(t);
  const files = folderOf(t);
  const write = (file: string, sql: string): void => writeFileSync(join(files, file), sql);
  return { database: await open(), open, files, write };
}

t.test('migrations', async (t) => {
  t.test('several starts at once apply each one once, and later ones nothing', async (t) => {
    const { database, open } = await ownMigrations(t);
    const processes = [database, await open(), await open(), await open()];
    const applied = await Promise.all(processes.map(({ sql }) => migrate(sql)));
    const files = readdirSync(MIGRATIONS)
      .filter((file) => file.endsWith('.sql'))
      .map((file) => file.slice(5, -4));
    // It is random which process applies which migration, and in which order they report.
    t.same(applied.flat().sort(), files.sort());
    t.same(await migrate(database.sql), []);
  });

  t.test('a migration that was changed after it was applied refuses to start', async (t) => {
    const { database, files, write } = await ownMigrations(t);
    write('0001-first.sql', 'create table one ();');
    t.same(await migrate(database.sql, files), ['first']);
    write('0001-first.sql', 'create table one ();\r\n'.replace('\r\n', ''));
    t.same(await migrate(database.sql, files), []);
    write('0001-first.sql', 'create table two ();');
    t.match(await failureOf(() => migrate(database.sql, files)), /Migration 1 \(first\) was changed/);
  });

  t.test('a migration that fails leaves nothing of itself and is tried again', async (t) => {
    const { database, files, write } = await ownMigrations(t);
    write('0001-first.sql', 'create table one ();');
    write('0002-second.sql', 'create table two (); create table one ();');
    t.match(
      await failureOf(() => migrate(database.sql, files)),
      /Migration 2 \(second\) failed: .*already exists/,
    );
    const [row] = await database.sql`select to_regclass('two') as two, to_regclass('one') as one`;
    t.same([row?.['two'], row?.['one']], [null, 'one']);
    write('0002-second.sql', 'create table two ();');
    t.same(await migrate(database.sql, files), ['second']);
  });

  t.test('an older version runs on a newer schema, unless that says that it needs a newer one', async (t) => {
    const { database, files, write } = await ownMigrations(t);
    const newer = [
      ['0003-third.sql', 'create table three ();'],
      ['0004-fourth.sql', '-- needs 0002\ndrop table three;'],
      ['0005-fifth.sql', '-- needs 0003\ndrop table two;'],
    ] as const;
    /** Brings the schema to the state of a newer version with that many more migrations. */
    const upgradedBy = async (count: number): Promise<void> => {
      for (const [file, text] of newer.slice(0, count)) write(file, text);
      await migrate(database.sql, files);
      for (const [file] of newer.slice(0, count)) rmSync(join(files, file));
    };
    write('0002-second.sql', 'create table two ();');
    await upgradedBy(1);
    t.same(await migrate(database.sql, files), []);
    await upgradedBy(2);
    t.same(await migrate(database.sql, files), [], 'it knows 2');
    await upgradedBy(3);
    t.match(
      await failureOf(() => migrate(database.sql, files)),
      /migration 5 \(fifth\), which this version does not know/,
    );
  });

  t.test('a migration of another branch, and two files of one number, refuse to start', async (t) => {
    const { database, files, write } = await ownMigrations(t);
    write('0001-first.sql', 'create table one ();');
    write('0002-second.sql', 'create table two ();');
    write('0003-third.sql', 'create table three ();');
    await migrate(database.sql, files);
    rmSync(join(files, '0002-second.sql'));
    t.match(
      await failureOf(() => migrate(database.sql, files)),
      /migration 2 \(second\), which this version does not know/,
    );
    rmSync(join(files, '0003-third.sql'));
    copyFileSync(join(files, '0001-first.sql'), join(files, '0001-third.sql'));
    t.match(await failureOf(() => migrate(database.sql, files)), /two files with the number of third/);
  });
});

const main = await postgres.migrated();
const other = await postgres.migrated();
const workspaceId = await ensureDefaultWorkspace(main.sql, randomIds);

/** Makes a workspace for one test. */
async function newWorkspace(columns: Record<string, number> = {}): Promise<string> {
  const id = randomIds.next('workspace');
  await main.sql`insert into workspaces ${main.sql({ id, name: 'test', ...columns })}`;
  return id;
}

t.test('every process finds the same default workspace', async (t) => {
  const found = await Promise.all(
    [main, other, main, other].map(({ sql }) => ensureDefaultWorkspace(sql, randomIds)),
  );
  t.same(new Set(found), new Set([workspaceId]));
});

t.test('slot leases', async (t) => {
  const holder = (database: Database, processId: string, leaseMs?: number) =>
    createSlotLeases({
      sql: database.sql,
      events: database.events,
      processId,
      defaultLimit: 10,
      ...(leaseMs && { leaseMs }),
    });
  const expire = (workspace: string, processId: string) => main.sql`
    update slot_leases set expires_at = now() - interval '1 second'
    where workspace_id = ${workspace} and process_id = ${processId}`;

  t.test("a process gets what is left, by the workspace's own limit or the default", async (t) => {
    const [small, usual] = [await newWorkspace({ concurrency: 3 }), await newWorkspace()];
    const [a, b] = [holder(main, 'a'), holder(other, 'b')];
    t.same(await a.hold(small, 2), { held: 2, limit: 3 });
    t.same(await b.hold(small, 2), { held: 1, limit: 3 });
    t.same(await a.hold(usual, 99), { held: 10, limit: 10 });
    t.same(await b.hold(usual, 1), { held: 0, limit: 10 });
    t.same(await a.hold(usual, 0), { held: 0, limit: 10 });
    t.same(await b.hold(usual, 1), { held: 1, limit: 10 });
    t.same(await a.hold('ws_none', 1), { held: 0, limit: 0 });
  });

  t.test('slots of a process that is gone come back when its lease ends', async (t) => {
    const workspace = await newWorkspace();
    await holder(main, 'gone', 50).hold(workspace, 10);
    const b = holder(other, 'b');
    await until('they are back', async () => (await b.hold(workspace, 10)).held === 10);
    const rows = await main.sql`select process_id from slot_leases where workspace_id = ${workspace}`;
    t.same(
      rows.map(({ process_id }) => process_id),
      ['b'],
    );
  });

  t.test('a process that is short is heard by the others, not by itself', async (t) => {
    const workspace = await newWorkspace();
    const [a, b] = [holder(main, 'a'), holder(other, 'b')];
    const heard: string[] = [];
    const stops = [
      await a.onShortage((id) => heard.push(`a ${id}`)),
      await b.onShortage((id) => heard.push(`b ${id}`)),
    ];
    await a.hold(workspace, 99);
    await b.hold(workspace, 1);
    await until('a hears', () => heard.length > 0);
    t.same(heard, [`a ${workspace}`]);
    stops.forEach((stop) => stop());
  });

  t.test('slots held in parallel, with leases that end, stay within the limit (seeded walk)', async (t) => {
    const workspace = await newWorkspace();
    let seed = 42;
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    const names = ['a', 'b', 'c', 'd'];
    const holders = names.map((name, index) => holder(index % 2 ? main : other, name));
    for (let step = 0; step < 60; step++) {
      if (random(4) === 0) await expire(workspace, names[random(4)]!);
      await Promise.all(holders.map((one) => one.hold(workspace, random(9))));
      const [row] = await main.sql`
        select coalesce(sum(held), 0)::int as held from slot_leases where workspace_id = ${workspace} and expires_at > now()`;
      if (row?.['held'] > 10) t.fail(`step ${step}: ${row?.['held']} are held`);
    }
    t.pass('never more than ten');
  });
});

t.test(
  'usage adds up from all processes, by workspace, kind and month, and counts against the quota',
  async (t) => {
    const workspace = await newWorkspace({ synthesis_characters: 100, transcription_ms: 5 });
    const [here, there] = [createUsageStore(main.sql), createUsageStore(other.sql)];
    const entry = (amount: number) =>
      ({ workspaceId: workspace, kind: 'synthesis_characters', amount }) as const;
    await Promise.all([
      here.addUsage([entry(10), entry(20)]),
      there.addUsage([entry(5), { ...entry(1), workspaceId: 'ws_none' }]),
      here.addUsage([]),
    ]);
    await main.sql`
    insert into usage values (${workspace}, 'transcription_ms', date_trunc('month', now() at time zone 'utc') - interval '1 month', 4)`;
    await here.addUsage([{ workspaceId: workspace, kind: 'transcription_ms', amount: 7 }]);
    t.same(await there.remaining(workspace), { synthesis_characters: 65, transcription_ms: -2 });
    t.same(await there.remaining(await newWorkspace()), {});
  },
);

t.test('admission', async (t) => {
  const admit = (t: Test, database: Database, processId: string) => {
    const { sql, events } = database;
    const leases = createSlotLeases({ sql, events, processId, defaultLimit: 50 });
    const admission = createAdmission({
      leases,
      usage: createUsageStore(sql),
      clock: systemClock,
      log: silentLog,
      defaultLimit: 50,
    });
    t.teardown(() => admission.stop());
    return admission;
  };
  const enter = async (admission: ReturnType<typeof admit>, workspace: string, count: number) => {
    const results = await Promise.allSettled(Array.from({ length: count }, () => admission.enter(workspace)));
    const refused = results.flatMap((result) =>
      result.status === 'rejected' ? [result.reason as ServiceError] : [],
    );
    const leaves = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
    return { leaves, refused };
  };

  t.test('lets exactly the limit in on one process; 429 says when to come back', async (t) => {
    const workspace = await newWorkspace();
    const admission = admit(t, main, 'one');
    const { leaves, refused } = await enter(admission, workspace, 70);
    t.equal(leaves.length, 50);
    t.ok(refused.every(({ code, retryAfter = 0 }) => code === 'concurrency_exceeded' && retryAfter >= 1));
    leaves[0]?.();
    leaves[0]?.();
    t.equal((await enter(admission, workspace, 2)).leaves.length, 1);
  });

  t.test('never lets more than the limit in on two, and spare slots move to who needs them', async (t) => {
    const workspace = await newWorkspace();
    const [a, b] = [admit(t, main, 'left'), admit(t, other, 'right')];
    const [left, right] = await Promise.all([enter(a, workspace, 40), enter(b, workspace, 40)]);
    t.ok(left.leaves.length + right.leaves.length <= 50);
    left.leaves.forEach((leave) => leave());
    let inside = right.leaves.length;
    await until('the other process has all of them', async () => {
      inside += (await enter(b, workspace, 5)).leaves.length;
      return inside === 50;
    });
    t.equal((await enter(a, workspace, 1)).leaves.length, 0);
  });

  t.test('writes all usage before it has stopped, and refuses with 402 what is over the quota', async (t) => {
    const workspace = await newWorkspace({ synthesis_characters: 30 });
    const admission = admit(t, main, 'counting');
    (await admission.enter(workspace, 'synthesis_characters'))();
    for (let job = 0; job < 4; job++) admission.use(workspace, 'synthesis_characters', 10);
    const { refused } = await enter(admission, workspace, 1);
    exactly(t, refused[0], { code: 'quota_exceeded', status: 402 });
    await admission.stop();
    t.same(await createUsageStore(other.sql).remaining(workspace), { synthesis_characters: -10 });
    const rows = await main.sql`select 1 from slot_leases where workspace_id = ${workspace}`;
    t.equal(rows.length, 0, 'no slot is left');
  });

  t.test('continues with the slots that it holds when the database is away (decision 6)', async (t) => {
    const workspace = await newWorkspace();
    const lonely = await openDatabase({ url: postgres.url });
    const { sql, events } = lonely;
    const leases = createSlotLeases({ sql, events, processId: 'lonely', defaultLimit: 50 });
    const admission = createAdmission({
      leases,
      usage: createUsageStore(sql),
      clock: systemClock,
      log: silentLog,
      defaultLimit: 50,
    });
    (await admission.enter(workspace))();
    await lonely.close();
    for (let job = 0; job < 20; job++) (await admission.enter(workspace))();
    t.equal(admission.state().used, 0);
    await admission.stop();
  });
});
