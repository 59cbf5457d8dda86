/**
 * Children that die at their work: how often they were started again and why is told to every caller, and a role that dies three times in a
 * row over work of which nothing came ends readiness until it rests, or works (docs/operating.md).
 */
import t from '../../fixtures/tap.js';
import type { Test } from 'tap';
import { silentLog } from '../../../contracts/log.js';
import { Health } from '../../../gateway/server/system/health.js';
import { Metrics } from '../../../gateway/server/system/metrics.js';
import { PartKeeper } from '../../../gateway/server/parts/keeper.js';
import { Children } from '../../../gateway/wiring/children.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { children, start } from '../../fixtures/processes/pool.js';
import { until } from '../../fixtures/until.js';

const DATABASE = { kind: 'database', name: 'postgres' } as const;
const ROLE = 'stt';

/** Input that never comes. */
const nothing: AsyncIterable<never> = {
  [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => undefined) }),
};

async function roleOf(t: Test) {
  const { workers } = await children(t, 1);
  const clock = new SimulatedClock();
  const keeper = new PartKeeper({ clock, log: silentLog });
  const role = new Children({ sockets: { [ROLE]: workers.sockets }, keeper, clock, log: silentLog });
  t.teardown(() => role.close());
  await role.ready;
  const health = new Health([ROLE]);
  const stop = role.watch(health, { database: { answers: () => Promise.resolve(true) }, part: DATABASE });
  t.teardown(stop);
  const pool = role.pool(ROLE);
  /** Whether it is ready, as of the next look. */
  const isReady = async (): Promise<boolean> => {
    // A look that is under way sets the timer of the next one.
    await new Promise(setImmediate);
    clock.advance(2000);
    await new Promise(setImmediate);
    return health.report().ready;
  };
  /** The child is killed over a job that has given nothing yet, and is back. */
  const die = async (): Promise<void> => {
    const [pid] = workers.pids();
    const { signal } = new AbortController();
    const job = pool.runJob('readOne', {}, { input: nothing, signal })[Symbol.asyncIterator]().next();
    await until('it works', () => pool.state()[0]?.running === 1);
    process.kill(pid!, 'SIGKILL');
    await rejectsExactly(t, job, { code: 'engine_lost' });
    await until('another is there', () => pool.state()[0]?.connected && workers.pids()[0] !== pid);
  };
  return { clock, keeper, role, pool, isReady, die };
}

const entryOf = (keeper: PartKeeper) => keeper.reports().find(({ part: { kind } }) => kind === 'child');

t.test('three deaths in a row over work of which nothing came end readiness, until it works', async (t) => {
  const { keeper, role, pool, isReady, die } = await roleOf(t);
  await die();
  await die();
  t.ok(await isReady(), 'two may be chance');
  exactly(t, entryOf(keeper), { error: { outcome: 'failed' } });
  await die();
  t.notOk(await isReady());
  exactly(t, entryOf(keeper), { error: { outcome: 'invalid' } });
  const metrics = new Metrics();
  role.addMetrics(metrics);
  t.match(
    await metrics.registry.metrics(),
    /gateway_child_restarts_total\{role="stt",index="0",cause="killed"\} 3\n/,
    'its supervisor has told it, and it has told us',
  );
  t.same(await start(pool, 'hold', { name: 'a' }).next(), { done: false, value: 'a' });
  t.ok(await isReady(), 'it has given something');
});

t.test('after a minute without another death it gets another chance', async (t) => {
  const { clock, isReady, die } = await roleOf(t);
  for (let deaths = 0; deaths < 3; deaths += 1) await die();
  t.notOk(await isReady());
  clock.advance(50_000);
  t.notOk(await isReady());
  clock.advance(10_000);
  t.ok(await isReady());
  await die();
  t.notOk(await isReady(), 'and loses it at once');
});

t.test('a death over work that goes well ends no readiness', async (t) => {
  const { pool, isReady, die } = await roleOf(t);
  await die();
  await die();
  const job = start(pool, 'hold', { name: 'a' });
  await job.next();
  await job.return?.();
  await until('it has ended', () => pool.state()[0]?.running === 0);
  await die();
  await die();
  t.ok(await isReady());
});
