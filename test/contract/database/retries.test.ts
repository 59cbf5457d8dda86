/** A statement whose connection dies is sent once more if that cannot have its effect twice (storage/postgres/once-more.ts). */
import t from '../../fixtures/tap.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { plansOn } from '../../fixtures/platform/plans.js';
import { systemClock } from '../../../contracts/clock.js';
import { silentLog } from '../../../contracts/log.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { repeatable } from '../../../storage/postgres/once-more.js';
import { createSessionRuns } from '../../../storage/sessions/runs.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { startRelay } from '../../fixtures/database/relay.js';
import { plan, startRuns } from '../../fixtures/platform/session-runs.js';

const postgres = await startPostgres(t);
const direct = (await postgres.open()).sql;
await direct`create table notes (id integer, at timestamptz, content jsonb)`;
await direct`create sequence asked`;

/** A pool of one connection through a relay; the connection is open. */
async function overRelay(t: Parameters<typeof startRelay>[0]) {
  const relay = await startRelay(t, postgres.url);
  const database = await openDatabase({ url: relay.url, connections: 1 });
  t.teardown(() => database.close());
  await database.sql`select 1`;
  await direct`truncate notes`;
  return { relay, database, sql: database.sql };
}

const kept = async (): Promise<unknown[]> => [
  ...(await direct`select id, at, content from notes order by id`),
];
const CLOSED = { code: 'CONNECTION_CLOSED' };

t.test('a read whose answer was lost is asked again', async (t) => {
  const { relay, sql } = await overRelay(t);
  await direct`alter sequence asked restart`;
  relay.cutAtAnswer();
  const [row] = await sql`select nextval('asked')::int as times`;
  t.equal(row?.['times'], 2);
});

t.test('a write may have been done: it fails, and is done once at most', async (t) => {
  const { relay, sql } = await overRelay(t);
  relay.cutAtAnswer();
  await rejectsExactly(t, sql`insert into notes (id) values (1)`, CLOSED);
  exactly(t, await kept(), [{ id: 1 }]);
});

t.test('a write that says that it may run twice does, with its arguments as they were given', async (t) => {
  const { relay, sql } = await overRelay(t);
  const [at, content] = [new Date(0), { text: '"quoted"' }];
  const write = () =>
    repeatable(sql`
      insert into notes (id, at, content) select ${1}::int, ${at}, ${sql.json(content)}
      where not exists (select from notes where id = 1)`);
  // The first answer describes the statement's types; the second is its result.
  relay.cutAtAnswer(1);
  t.equal((await write()).count, 0);
  t.strictSame(await kept(), [{ id: 1, at, content }]);
});

t.test('a transaction is repeated if its begin was lost, and never once it has begun', async (t) => {
  const { relay, sql } = await overRelay(t);
  relay.cutAtAnswer();
  await sql.begin((tx) => tx`insert into notes (id) values (1)`);
  exactly(t, await kept(), [{ id: 1 }]);
  const within = sql.begin(async (tx) => {
    await tx`insert into notes (id) values (2)`;
    relay.cutAtAnswer();
    await tx`select 1`;
  });
  await rejectsExactly(t, within, CLOSED);
  exactly(t, await kept(), [{ id: 1 }]);
});

t.test('a statement is retried only once: without a connection it fails', async (t) => {
  const { relay, sql } = await overRelay(t);
  await relay.away();
  await rejectsExactly(t, sql`select 1`, { code: 'ECONNREFUSED' });
  await relay.open();
  t.strictSame([...(await sql`select 1 as one`)], [{ one: 1 }]);
});

t.test('an item of a conversation whose answer was lost is in its record once', async (t) => {
  const { url, sql, create, read } = await startRuns(t);
  const relay = await startRelay(t, url);
  const database = await openDatabase({ url: relay.url, connections: 1 });
  t.teardown(() => database.close());
  const node = { dropStale: () => Promise.resolve() };
  const runs = await createSessionRuns({
    ...{ database, processId: 'here', node, clock: systemClock, log: silentLog },
    ...plansOn(database.sql),
  });
  t.teardown(() => runs.stop());
  const id = await create();
  exactly(t, await runs.join(id), { plan });
  const hello = {
    type: 'message',
    role: 'user',
    content: 'Hello',
    turnId: 1,
    createdAt: new Date(),
  } as const;
  // The first answer describes the statement's types; the second is its result.
  relay.cutAtAnswer(1);
  await runs.append(id, [hello]);
  exactly(t, (await read(id)).items, [hello]);
  t.equal((await sql`select from session_items`).length, 1);
});

t.test('a connection whose packets are lost is given up, and the statement goes on on another', async (t) => {
  const { relay, database, sql } = await overRelay(t);
  await database.urgent`select 1`;
  relay.lose();
  const [[urgent], [usual]] = await Promise.all([database.urgent`select 1 as one`, sql`select 1 as one`]);
  exactly(t, [urgent, usual], [{ one: 1 }, { one: 1 }]);
  const writing = sql`insert into notes (id) values (1)`;
  t.equal((await writing).count, 1, 'the new connection works as before');
});

t.test('a connection that waits for no answer, or for a slow statement, is kept', async (t) => {
  const { database, sql } = await overRelay(t);
  const processId = async () => (await database.urgent`select pg_backend_pid() as id`)[0]?.['id'] as number;
  const before = await processId();
  exactly(t, await sql`select pg_sleep(6), 1 as one`, [{ one: 1 }], 'a slow one');
  t.equal(await processId(), before, 'one that had nothing to do meanwhile');
});
