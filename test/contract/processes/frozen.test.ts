/** Children that say nothing: stopped by a signal, or in work that they announced. */
import t from '../../fixtures/tap.js';
import type { ServiceError } from '../../../contracts/errors.js';
import type { SilenceTimes } from '../../../processes/caller/silence.js';
import { children, facts, start } from '../../fixtures/processes/pool.js';
import { recordingLog } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';

/** A machine with other work may keep a child from answering for a while. */
const SHORT: SilenceTimes = { everyMs: 100, silenceMs: 1000, announcedMs: 30_000 };

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'served',
    (error: unknown) => (error as ServiceError).code,
  );

t.test(
  'frozen is dead: a stopped child is replaced; what had begun is lost, what had not goes to another child',
  async (t) => {
    const log = recordingLog();
    const { pool, workers } = await children(t, 2, {}, { health: SHORT }, log);
    const held = [start(pool, 'hold', { name: 'a' }), start(pool, 'hold', { name: 'b' })];
    for (const job of held) await job.next();
    const [victim, survivor] = workers.pids() as [number, number];
    process.kill(victim, 'SIGSTOP');
    // Some of these reach the stopped child, which says nothing of them.
    const fresh = Array.from({ length: 6 }, () => facts(pool));
    const begun = held.map((job) => codeOf(job.next()));
    t.equal(await Promise.race(begun), 'engine_lost');
    const served = await Promise.all(fresh);
    t.ok(
      served.every(({ pid }) => pid !== victim),
      'all jobs that had not begun were done',
    );
    await until('it is replaced', () =>
      pool.state().every(({ connected, pid }) => connected && pid !== victim),
    );
    t.equal(workers.pids()[1], survivor, 'the other child is the same');
    t.same(
      pool.state().map(({ frozen }) => frozen),
      [1, 0],
    );
    const said = log.lines.map(({ message }) => message);
    t.equal(said.filter((line) => line === 'test worker 0 said nothing for 1 s: replaced').length, 1);
    for (const job of held) await job.return?.();
  },
);

t.test('a child that announced long work is left in peace, and gets no other work meanwhile', async (t) => {
  const { pool, workers } = await children(t, 2, {}, { health: SHORT });
  const before = workers.pids();
  const busy = codeOf(start(pool, 'busy', { ms: 3 * SHORT.silenceMs }).next());
  const [, second] = before;
  await new Promise((resolve) => setTimeout(resolve, SHORT.silenceMs));
  const asked = await Promise.all([facts(pool), facts(pool)]);
  t.equal(new Set(asked.map(({ pid }) => pid)).size, 1, 'the one that answers does all');
  t.ok(second !== undefined && before.includes(asked[0]!.pid));
  t.equal(await busy, 'served');
  t.same(workers.pids(), before);
});
