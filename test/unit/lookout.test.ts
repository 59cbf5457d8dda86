/** Looking for work: when it is announced, and now and then. */
import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { Lookout } from '../../contracts/time/lookout.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';

interface Look {
  resolve(): void;
  reject(error: Error): void;
}

/** A lookout whose every look the test ends. */
function lookout() {
  const clock = new SimulatedClock();
  const failures: unknown[] = [];
  const looks: Look[] = [];
  const look = () => new Promise<void>((resolve, reject) => looks.push({ resolve, reject }));
  const out = new Lookout({ clock, ms: 1000, look, failed: (error) => failures.push(error) });
  return { clock, failures, looks, out };
}

t.test('it looks when told to, and so long after a look has ended, however it ended', async (t) => {
  const { clock, failures, looks, out } = lookout();
  out.look();
  clock.advance(5000);
  t.equal(looks.length, 1, 'never twice at a time');
  looks[0]!.resolve();
  await turn();
  clock.advance(999);
  t.equal(looks.length, 1);
  clock.advance(1);
  t.equal(looks.length, 2);
  looks[1]!.reject(new Error('failed'));
  await turn();
  t.match(failures, [{ message: 'failed' }]);
  out.look();
  t.equal(looks.length, 3, 'at once');
  t.equal(clock.pending, 0, 'in place of the look that was due');
});

t.test('what is announced during a look is looked for after it, once', async (t) => {
  const { clock, looks, out } = lookout();
  for (let told = 0; told < 3; told++) out.look();
  looks[0]!.resolve();
  await turn();
  t.equal(looks.length, 2);
  looks[1]!.resolve();
  await turn();
  t.equal(looks.length, 2);
  t.equal(clock.pending, 1);
});

t.test('it has stopped when the last look is over, and then looks no more', async (t) => {
  const { clock, looks, out } = lookout();
  out.look();
  out.look();
  let stopped = false;
  const stopping = out.stop().then(() => (stopped = true));
  await turn();
  t.notOk(stopped);
  looks[0]!.resolve();
  await stopping;
  out.look();
  t.equal(looks.length, 1);
  t.equal(clock.pending, 0);
});
