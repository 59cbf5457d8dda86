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
  time.told(NOON + 1000);
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
    time.told(NOON + second * 1000);
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
    time.told(NOON + 2000 + hour);
    t.notOk(judges(time, 2000 + hour));
    clock.advance(2999);
    t.notOk(judges(time, 4999 + hour));
    clock.advance(1);
    t.ok(judges(time, 5000 + hour));
  });
