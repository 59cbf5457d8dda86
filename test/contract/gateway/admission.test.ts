/**
 * Fair admission over the sockets of real children (contracts/admission): work of one workspace, however much, leaves places
 * to the others, live work has places of its own, and refusals go to whoever fills a queue.
 */
import { setMaxListeners } from 'node:events';
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import type { JobOwner } from '../../../contracts/ports/jobs.js';
import { createEncode } from '../../../codecs/encode/encoder.js';
import { resolveOutput } from '../../../codecs/formats.js';
import { createPool, type Pool } from '../../../processes/caller/pool.js';
import { tone } from '../../fixtures/codecs/audio.js';
import { exactly } from '../../fixtures/exactly.js';
import { children, facts } from '../../fixtures/processes/pool.js';
import { productChild } from '../../fixtures/processes/product-child.js';
import { until } from '../../fixtures/until.js';

const batch = (workspaceTag: string): JobOwner => ({ workspaceTag });
const live = (workspaceTag: string): JobOwner => ({ workspaceTag, isLive: true });

/** An abort that many jobs share. */
function stopper(): AbortController {
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  return stop;
}

/** Jobs that hold their slots, each with what became of it. */
function holding(pool: Pool, owner: JobOwner, count: number, name = owner.workspaceTag) {
  const stop = stopper();
  const refused: unknown[] = [];
  const began: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const job = pool.runJob('hold', { name }, { signal: stop.signal, owner })[Symbol.asyncIterator]();
    job.next().then(
      () => began.push(name),
      (error: unknown) => stop.signal.aborted || refused.push(error),
    );
  }
  return { began, refused, stop: () => stop.abort(new Error('over')) };
}

t.test('sixty-four calls begin beside any amount of batch work, from several gateways', async (t) => {
  const { pool, workers } = await children(t, 1, { slots: 256, keptForLive: 128, queue: 64 });
  const other = createPool({ sockets: workers.sockets, log: silentLog });
  t.teardown(() => other.close());
  await other.ready();
  const tests = [pool, other].map((each) => holding(each, batch('many'), 120));
  await until('they are refused beyond the queue', () => tests.some(({ refused }) => refused.length > 0));
  const calls = holding(other, live('calls'), 64);
  const file = holding(pool, batch('few'), 1);
  await until('every call has begun', () => calls.began.length === 64);
  await until('so has the file of another workspace', () => file.began.length === 1);
  t.same([...calls.refused, ...file.refused], []);
  const codes = tests.flatMap(({ refused }) => refused.map((error) => (error as { code: string }).code));
  t.same(new Set(codes), new Set(['engine_busy']));
  for (const each of [...tests, calls, file]) each.stop();
  await until('all are gone', () => pool.state().every(({ running, queued }) => running + queued === 0));
});

t.test(
  'a job that waits is crowded out by a workspace with fewer, and the other begins in its turn',
  async (t) => {
    const { pool } = await children(t, 1, { slots: 1, queue: 3 });
    const [first, rest] = [holding(pool, batch('many'), 1, 'first'), holding(pool, batch('many'), 3)];
    await until('three wait', () => pool.state().some(({ queued }) => queued === 3));
    const few = holding(pool, batch('few'), 1);
    await until('one is refused', () => rest.refused.length === 1);
    exactly(t, rest.refused, [{ code: 'engine_busy', retryAfter: 1 }]);
    t.same(few.refused, []);
    first.stop();
    await until('the next has begun', () => few.began.length === 1);
    few.stop();
    await until('and one of the many', () => rest.began.length === 1);
    rest.stop();
    await until('all are gone', () => pool.state().every(({ running, queued }) => running + queued === 0));
    t.same((await facts(pool)).started, ['first', 'few', 'many']);
  },
);

t.test(
  'batch work goes to the child with room for it, live work to the one with the least to do',
  async (t) => {
    const { pool } = await children(t, 2, { slots: 2, keptForLive: 1, queue: 0 });
    const files = holding(pool, batch('a'), 2);
    await until('each child has one', () => pool.state().every(({ running }) => running === 1));
    const words = holding(pool, live('b'), 2);
    await until('live work begins beside them', () => words.began.length === 2);
    t.same(
      pool.state().map(({ running }) => running),
      [2, 2],
    );
    t.same([...files.refused, ...words.refused], []);
    files.stop();
    words.stop();
  },
);

t.test('jobs that wait for a child begin in turns once there is one', async (t) => {
  const { pool, workers } = await children(t, 1, { slots: 1 }, { waiting: 3 });
  const [pid] = workers.pids();
  process.kill(pid!, 'SIGKILL');
  await until('it is gone', () => pool.state().every(({ connected }) => !connected));
  const many = holding(pool, batch('many'), 3);
  const few = holding(pool, batch('few'), 1);
  const words = holding(pool, live('words'), 1);
  await until('the last of the many is refused', () => many.refused.length === 1);
  exactly(t, many.refused, [{ code: 'engine_busy' }]);
  for (const each of [words, many, few]) {
    await until('the next begins', () => each.began.length === 1);
    each.stop();
  }
  t.same([...few.refused, ...words.refused], []);
});

t.test('encoders: speech that nobody reads to its end leaves places to others', async (t) => {
  const { pool } = await productChild(t, 'encode', 'encode');
  const encode = createEncode(pool);
  const output = resolveOutput({ format: 'mp3' });
  const stop = stopper();
  async function* speech(): AsyncGenerator<Int16Array> {
    yield tone(22_050, 1);
    await new Promise<void>((resolve) => stop.signal.addEventListener('abort', () => resolve()));
  }
  const first = (owner: JobOwner): Promise<unknown> =>
    encode(speech(), 22_050, output, stop.signal, { owner })[Symbol.asyncIterator]().next();
  const many = Array.from({ length: 200 }, () => first(batch('many')).catch((error: unknown) => error));
  await until('most of them run', () =>
    pool.state().some(({ running, queued }) => running >= 128 && queued > 0),
  );
  const others = await Promise.all([
    ...Array.from({ length: 20 }, () => first(live('calls'))),
    first(batch('few')),
  ]);
  t.equal(others.length, 21);
  const [{ running = 0 } = {}] = pool.state();
  t.ok(running <= 128 + 21, `${running} run`);
  stop.abort(new Error('over'));
  await Promise.all(many);
});
