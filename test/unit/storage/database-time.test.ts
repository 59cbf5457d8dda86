/** The database's clock as a process expects it (storage/database-time.ts). */
import t from '../../fixtures/tap.js';
import { ANY_TIME, DatabaseTime } from '../../../storage/database-time.js';
import { SimulatedClock } from '../../fixtures/clock.js';

const NOON = 1_700_000_000_000;

/** Whether rows may be judged, if the database says that it is so many milliseconds after noon. */
const judges = (time: DatabaseTime, ms: number): boolean => {
  const { from, to } = time.expected;
  return from <= NOON + ms && NOON + ms <= to;
};

function told() {
  const clock = new SimulatedClock();
  const time = new DatabaseTime(clock);
  clock.advance(1000);
  time.told(NOON + 1000, clock.monotonic());
  return { clock, time };
}

t.test('before it was told the time, any time is as expected', async (t) => {
  t.equal(new DatabaseTime(new SimulatedClock()).expected, ANY_TIME);
});

t.test('while the database’s clock goes as our own does, rows are judged by it', async (t) => {
  const { clock, time } = told();
  clock.advance(5000);
  t.ok(judges(time, 6000));
  t.ok(judges(time, 7500), 'give or take two seconds');
  for (let second = 7; second < 100; second += 1) {
    clock.advance(1010);
    time.told(NOON + second * 1000, clock.monotonic());
    t.ok(judges(time, second * 1000), 'slow clocks are followed');
  }
});

for (const [what, hour] of [
  ['forward', 3_600_000],
  ['back', -3_600_000],
] as const)
  t.test(`once it was set ${what}, nobody is declared dead until all have beaten again`, async (t) => {
    const { clock, time } = told();
    t.notOk(judges(time, 1000 + hour), 'at the first statement that finds it so');
    clock.advance(1000);
    time.told(NOON + 2000 + hour, clock.monotonic());
    t.notOk(judges(time, 2000 + hour));
    clock.advance(2999);
    t.notOk(judges(time, 4999 + hour));
    clock.advance(1);
    t.ok(judges(time, 5000 + hour));
  });

/** A machine whose clock is wrong by so much, and the database's time as it knows it. */
function wrongBy(ms: number) {
  const clock = new SimulatedClock();
  clock.advance(1000);
  const wrong = { now: () => NOON + clock.now() + ms, monotonic: () => clock.monotonic() };
  return { clock, time: new DatabaseTime(wrong) };
}

t.test('until it was told the time, the time of day is that of the machine', async (t) => {
  t.equal(wrongBy(300_000).time.now(), NOON + 301_000);
});

for (const ms of [-300_000, 300_000])
  t.test(`a machine whose clock is wrong by ${ms} ms has the time of the database`, async (t) => {
    const { clock, time } = wrongBy(ms);
    time.told(NOON + 1000, clock.monotonic());
    clock.advance(60_000);
    t.equal(time.now(), NOON + 61_000);
  });

t.test('the time of day is told in whole milliseconds', async (t) => {
  const clock = { now: () => NOON, monotonic: () => 0.25 };
  const time = new DatabaseTime(clock);
  t.equal(time.now(), NOON);
  time.told(NOON + 10.717, clock.monotonic());
  t.equal(time.now(), NOON + 10);
});

t.test('an answer that may have been on its way moves nothing', async (t) => {
  const { clock, time } = wrongBy(0);
  for (const late of [0, 500, 5000]) {
    const sentAt = clock.monotonic();
    const asked = NOON + sentAt;
    clock.advance(late);
    time.told(asked, sentAt);
    t.equal(time.now(), NOON + clock.monotonic(), `told at once, heard after ${late} ms`);
    time.told(NOON + clock.monotonic(), sentAt);
    t.equal(time.now(), NOON + clock.monotonic(), `told after ${late} ms`);
  }
  t.ok(judges(time, clock.monotonic()), 'nor is it taken for a clock that was set');
});

t.test('what an answer proves wrong is put right as far as that', async (t) => {
  const { clock, time } = wrongBy(10_000);
  const sentAt = clock.monotonic();
  clock.advance(400);
  time.told(NOON + 1100, sentAt);
  t.equal(time.now(), NOON + 1500, 'it is 1100 to 1500 ms after noon: the nearest to what was believed');
});
