/** Statements that clients cause: turns, times, ends with their owner; and what they leave alone (storage/postgres/asked.ts). */
import { setMaxListeners } from 'node:events';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { type Owner, ownedBy } from '../../../contracts/owner.js';
import { exactly } from '../../fixtures/exactly.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';

const postgres = await startPostgres(t);
const observer = (await postgres.open()).sql;

/** Two of the three connections. */
const AT_ONCE = 2;

/** How many statements with that mark the server runs. */
const running = async (mark: string): Promise<number> => {
  const [row] = await observer<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where state <> 'idle' and pid <> pg_backend_pid() and query like ${`%${mark}%`}`;
  return row?.count ?? 0;
};

const outcome = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'done',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

t.test(
  'what one owner asks takes neither the turns of others nor the gateway’s own connections',
  async (t) => {
    const { asked, sql, callers, urgent, answers } = await postgres.open();
    const order: string[] = [];
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const greedy: Owner = { tag: 'greedy', signal: leaving.signal };
    const sleeps = Array.from({ length: 100 }, () =>
      ownedBy(greedy, () =>
        outcome(asked.begin((tx) => tx`select pg_sleep(14) as greedy`).then(() => order.push('greedy'))),
      ),
    );
    await until('as many run as one may have', async () => (await running('as greedy')) >= AT_ONCE);
    const others = [
      ownedBy({ tag: 'another' }, () => asked`select 1`).then(() => order.push('another')),
      ...[sql, callers, urgent].map((own) => own.begin((tx) => tx`select 1`).then(() => order.push('own'))),
    ];
    await Promise.all(others);
    t.equal(await answers(), true);
    t.strictSame(order.sort(), ['another', 'own', 'own', 'own'], 'all of the others, and none of its own');
    t.equal(await running('as greedy'), AT_ONCE);
    leaving.abort(new Error('has gone'));
    t.ok((await Promise.all(sleeps)).every((end) => end === 'has gone' || end === 'storage_busy'));
    await until('all are gone from the server', async () => (await running('as greedy')) === 0);
    exactly(t, await asked`select 1 as one`, [{ one: 1 }]);
  },
);

t.test('a statement that takes too long is cancelled, and is `storage_busy`', async (t) => {
  const { asked } = await postgres.open();
  const hurried = { tag: 'hurried', withinMs: LIMITS.statements.inCallMs };
  const ends = await Promise.all([
    outcome(asked`select pg_sleep(60) as too_long`),
    outcome(asked.begin('read only', (tx) => tx`select pg_sleep(60) as too_long`)),
    ownedBy(hurried, () => outcome(asked`select pg_sleep(60) as too_long`)),
  ]);
  t.strictSame(ends, ['storage_busy', 'storage_busy', 'storage_busy']);
  await until('none is left', async () => (await running('as too_long')) === 0);
  for (let times = 0; times < 20; times += 1) exactly(t, await asked`select 1 as one`, [{ one: 1 }]);
});

t.test(
  'a transaction whose owner has gone is rolled back, wherever it was, and gives its place back',
  async (t) => {
    const { asked } = await postgres.open();
    await observer`create table left_behind (name text)`;
    t.teardown(() => observer`drop table left_behind`);
    for (let times = 0; times < 5; times += 1) {
      const leaving = new AbortController();
      const written = new Promise<void>((resolve) => {
        const work = ownedBy({ tag: 'leaving', signal: leaving.signal }, () =>
          outcome(
            asked.begin(async (tx) => {
              await tx`insert into left_behind values ('x')`;
              resolve();
              for (;;) await tx`select pg_sleep(0.02) as leaving`;
            }),
          ),
        );
        void work.then((end) => t.equal(end, 'has gone'));
      });
      await written;
      leaving.abort(new Error('has gone'));
      await until('it has gone', async () => (await running('as leaving')) === 0);
    }
    await until('all have ended', async () => {
      const [row] = await observer`
      select count(*)::int as count from pg_stat_activity where state like 'idle in transaction%'`;
      return row?.['count'] === 0;
    });
    t.strictSame([...(await observer`select * from left_behind`)], []);
    const at = Array.from({ length: 30 }, (_, index) =>
      ownedBy({ tag: String(index % 5) }, () => asked`select 1`),
    );
    t.equal((await Promise.all(at)).length, 30, 'every place serves again');
  },
);

t.test('a cancellation hits no later statement', async (t) => {
  const { asked } = await postgres.open();
  const ends = Array.from({ length: 200 }, async (_, index) => {
    const leaving = new AbortController();
    const leaves = index % 2 === 0;
    const end = ownedBy({ tag: String(index % 7), signal: leaving.signal }, () =>
      outcome(asked`select pg_sleep(${leaves ? 0.004 : 0.001})`),
    );
    if (leaves) setTimeout(() => leaving.abort(new Error('has gone')), 4 + index / 2);
    const ended = await end;
    return leaves ? 'either' : ended;
  });
  t.strictSame(new Set(await Promise.all(ends)), new Set(['either', 'done']));
});
