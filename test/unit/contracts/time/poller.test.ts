/** Looking for work: when it is announced, and now and then. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../fixtures/tap.js';
import { Poller } from '../../../../contracts/time/poller.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly } from '../../../fixtures/exactly.js';

interface Look {
  resolve(): void;
  reject(error: Error): void;
}

/** A poller whose every poll the test ends. */
function poller() {
  const clock = new SimulatedClock();
  const failures: unknown[] = [];
  const looks: Look[] = [];
  const look = () => new Promise<void>((resolve, reject) => looks.push({ resolve, reject }));
  const out = new Poller({ clock, ms: 1000, poll: look, failed: (error) => failures.push(error) });
  return { clock, failures, looks, out };
}

t.test('it looks when told to, and so long after a look has ended, however it ended', async (t) => {
  const { clock, failures, looks, out } = poller();
  out.poll();
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
  exactly(t, failures, [{ message: 'failed' }]);
  out.poll();
  t.equal(looks.length, 3, 'at once');
  t.equal(clock.pending, 0, 'in place of the look that was due');
});

t.test('what is announced during a look is looked for after it, once', async (t) => {
  const { clock, looks, out } = poller();
  for (let told = 0; told < 3; told++) out.poll();
  looks[0]!.resolve();
  await turn();
  t.equal(looks.length, 2);
  looks[1]!.resolve();
  await turn();
  t.equal(looks.length, 2);
  t.equal(clock.pending, 1);
});

t.test('a poller has stopped when its last poll is over, and polls no more', async (t) => {
  const { clock, looks, out } = poller();
  out.poll();
  out.poll();
  let stopped = false;
  const stopping = out.stop().then(() => (stopped = true));
  await turn();
  t.notOk(stopped);
  looks[0]!.resolve();
  await stopping;
  out.poll();
  t.equal(looks.length, 1);
  t.equal(clock.pending, 0);
});
