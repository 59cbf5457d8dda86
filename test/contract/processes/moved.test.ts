/** A pool that moves to other children: new jobs go there, and what runs in those before ends there. */
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import { BUILT } from '../../../contracts/places.js';
import { createPool } from '../../../processes/caller/pool.js';
import { superviseRole } from '../../../processes/supervisor/supervise.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { children, facts, start } from '../../fixtures/processes/pool.js';
import { collect, never, socketFolder } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

const entry = new URL('test/fixtures/processes/child.js', BUILT);

t.test('a running job ends where it is, the next begins elsewhere, and nobody waits', async (t) => {
  const { workers, pool } = await children(t, 1);
  const job = start(pool, 'flood', { count: 1000, bytes: 8000 });
  await job.next();
  const before = (await facts(pool)).pid;
  // Told by another way than the job's values.
  await until('its child is known to be busy', () => workers.busy());
  const socketFolder = workers.sockets[0]!.replace(/\/[^/]+$/, '');
  const others = await superviseRole({
    ...{ role: 'test', entry, count: 1, from: 1, socketFolder, args: ['{}'], log: silentLog },
  });
  t.teardown(() => others.stop());
  pool.use(others.sockets);
  t.not((await facts(pool)).pid, before, 'the next job');
  let values = 1;
  while (!(await job.next()).done) values += 1;
  t.equal(values, 1000, 'the job that ran');
  await until('those before have nothing to do', () => !workers.busy());
  await workers.stop();
  t.equal(pool.state().length, 1);
  t.equal((await facts(pool)).pid, others.pids()[0]);
});

t.test('without children jobs wait for some; a pool that has none is ready', async (t) => {
  const folder = await socketFolder(t);
  const pool = createPool({ sockets: [], log: silentLog, waitMs: 60_000 });
  t.teardown(() => pool.close());
  await pool.ready();
  const waiting = collect(pool.runJob('facts', {}, { signal: never() }));
  const workers = await superviseRole({
    ...{ role: 'test', entry, count: 1, socketFolder: folder, args: ['{}'], log: silentLog },
  });
  t.teardown(() => workers.stop());
  pool.use(workers.sockets);
  t.equal((await waiting).length, 1);
  pool.use([]);
  t.strictSame(pool.state(), []);
});

t.test('a job whose child dies while it is left fails, and is told', async (t) => {
  const { workers, pool } = await children(t, 1);
  const job = start(pool, 'hold', { name: 'held' });
  await job.next();
  pool.use([]);
  process.kill(workers.pids()[0]!, 'SIGKILL');
  await rejectsExactly(t, job.next(), { code: 'engine_lost' });
});
