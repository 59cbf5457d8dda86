/** A child is asked whether it should retire once it has had nothing to do for a while, and once for each such time. */
import t from '../../../fixtures/tap.js';
import { IdleWatch } from '../../../../processes/child/idle-retirement.js';
import { SimulatedClock } from '../../../fixtures/clock.js';

const AFTER_MS = 1000;

function start(isDue: boolean) {
  const clock = new SimulatedClock();
  const seen = { asked: 0, due: 0 };
  const retirement = {
    afterMs: AFTER_MS,
    isDue() {
      seen.asked += 1;
      return isDue;
    },
  };
  const watch = new IdleWatch(retirement, clock, () => void (seen.due += 1));
  return { clock, seen, watch };
}

t.test('a child that has had nothing to do for a while retires, if that is due', (t) => {
  for (const isDue of [true, false]) {
    const { clock, seen, watch } = start(isDue);
    watch.jobs(2);
    clock.advance(5 * AFTER_MS);
    t.same(seen, { asked: 0, due: 0 }, 'not while it works');
    watch.jobs(0);
    clock.advance(AFTER_MS - 1);
    t.same(seen, { asked: 0, due: 0 }, 'not yet');
    clock.advance(1);
    t.same(seen, { asked: 1, due: isDue ? 1 : 0 });
    clock.advance(5 * AFTER_MS);
    t.same(seen, { asked: 1, due: isDue ? 1 : 0 }, 'it is asked once');
  }
  t.end();
});

t.test('a job that comes in time keeps it', (t) => {
  const { clock, seen, watch } = start(true);
  watch.jobs(0);
  clock.advance(AFTER_MS - 1);
  watch.jobs(1);
  clock.advance(AFTER_MS);
  watch.jobs(0);
  clock.advance(AFTER_MS - 1);
  t.same(seen, { asked: 0, due: 0 });
  clock.advance(1);
  t.same(seen, { asked: 1, due: 1 });
  t.end();
});

t.test('a child without such a condition never retires by itself', (t) => {
  const clock = new SimulatedClock();
  let due = 0;
  new IdleWatch(undefined, clock, () => void (due += 1)).jobs(0);
  clock.advance(100 * AFTER_MS);
  t.equal(due, 0);
  t.end();
});
