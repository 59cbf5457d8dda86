import t from '../../../fixtures/tap.js';
import { Deadline } from '../../../../contracts/time/deadline.js';
import { SimulatedClock } from '../../../fixtures/clock.js';

const tick = () => new Promise((resolve) => setImmediate(resolve));

async function passes(clock: SimulatedClock, deadline: Deadline): Promise<number> {
  let passed = false;
  void deadline.passed.then(() => (passed = true));
  for (await tick(); !passed; await tick()) clock.advance(1);
  return clock.monotonic();
}

t.test('a deadline can be brought forward, and never postponed', async (t) => {
  const clock = new SimulatedClock();
  const deadline = new Deadline(clock, 50);
  clock.advance(10);
  deadline.bringForward(45);
  deadline.bringForward(20);
  deadline.bringForward(25);
  t.equal(await passes(clock, deadline), 30);
  t.equal(clock.pending, 0);
});

t.test('a deadline that nobody awaits has no timer', (t) => {
  const clock = new SimulatedClock();
  new Deadline(clock, 50).drop();
  t.equal(clock.pending, 0);
  t.end();
});
