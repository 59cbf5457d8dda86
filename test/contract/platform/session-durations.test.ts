/** How long a call has lasted is what its owner's clock says, whatever the database's is set to meanwhile. */
import t from '../../fixtures/tap.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { systemClock } from '../../../contracts/clock.js';
import { startRuns } from '../../fixtures/platform/session-runs.js';
import { until } from '../../fixtures/until.js';

const { sql, create, runsOf, read } = await startRuns(t);

/** A process's clock, whose timers are real: `advance` lets its calls grow longer. */
function movable() {
  let ahead = 0;
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() + ahead,
    after: (ms: number, task: () => void) => systemClock.after(ms, task),
    advance: (ms: number): void => void (ahead += ms),
  };
}

type Runs = Awaited<ReturnType<typeof runsOf>>;

async function active(runs: Runs): Promise<string> {
  const id = await create();
  await runs.join(id);
  await runs.activate(id);
  return id;
}

/** As if the clock had been set back or forward during the call. */
const setClock = (id: string, days: number) => sql`
  update sessions set started_at = started_at - ${days}::int * interval '1 day' where id = ${id}`;

const noted = async (id: string, ms: number) =>
  (await sql`select from sessions where id = ${id} and measured_ms >= ${ms}`).length > 0;

t.test('durations are those of a clock that nobody sets', async (t) => {
  const clock = movable();
  const here = await runsOf(t, clock);
  for (const days of [400, -400]) {
    const id = await active(here);
    clock.advance(65_000);
    await setClock(id, days);
    await here.finish(id, 'hangup');
    t.equal((await read(id)).durationSeconds, 65, `by its owner, ${days} days`);
  }
  const other = await active(here);
  clock.advance(40_000);
  await until('its owner says how long it has lasted', () => noted(other, 40_000));
  await setClock(other, 400);
  await (await runsOf(t)).end(other, 'ended_by_api');
  const { durationSeconds } = await read(other);
  t.ok(durationSeconds !== null && durationSeconds >= 40 && durationSeconds <= 70, `${durationSeconds} s`);
});

t.test('a takeover goes on counting where the call was', async (t) => {
  const [first, second] = [movable(), movable()];
  const here = await runsOf(t, first);
  const id = await active(here);
  first.advance(30_000);
  await until('its owner says how long it has lasted', () => noted(id, 30_000));
  await here.release(id);
  const there = await runsOf(t, second);
  const taken = await there.takeOver(id);
  t.ok('lastedMs' in taken && taken.lastedMs! >= 30_000);
  second.advance(20_000);
  await there.finish(id, 'hangup');
  const { durationSeconds } = await read(id);
  t.ok(durationSeconds !== null && durationSeconds >= 50 && durationSeconds <= 80, `${durationSeconds} s`);
});

t.test('a call of the previous release has a bounded duration', async (t) => {
  const here = await runsOf(t);
  const id = await active(here);
  await sql`update sessions set measured_ms = null, measured_at = null where id = ${id}`;
  await setClock(id, 400);
  await (await runsOf(t)).end(id, 'ended_by_api');
  t.equal((await read(id)).durationSeconds, 600 + CALL_TIMES.overtimeMs / 1000);
});
