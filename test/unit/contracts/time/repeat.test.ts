/** Repeated work: its interval, reports of its failures, and its end. */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../fixtures/tap.js';
import { repeat } from '../../../../contracts/time/repeat.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { exactly } from '../../../fixtures/exactly.js';

/** Repeated work whose every run the test ends. */
function repeated() {
  const clock = new SimulatedClock();
  const failures: unknown[] = [];
  const runs: Run[] = [];
  const work = () =>
    new Promise<void>((resolve, reject) => {
      runs.push({ resolve, reject });
    });
  const stop = repeat(clock, 1000, work, (error) => failures.push(error));
  return { clock, failures, runs, stop };
}

interface Run {
  resolve(): void;
  reject(error: Error): void;
}

t.test('it runs at once, and again so long after it has ended, however it ended', async (t) => {
  const { clock, failures, runs, stop } = repeated();
  t.equal(runs.length, 1);
  clock.advance(5000);
  t.equal(runs.length, 1, 'never twice at a time');
  runs[0]!.resolve();
  await turn();
  clock.advance(999);
  t.equal(runs.length, 1);
  clock.advance(1);
  t.equal(runs.length, 2);
  runs[1]!.reject(new Error('failed'));
  await turn();
  exactly(t, failures, [{ message: 'failed' }]);
  clock.advance(1000);
  t.equal(runs.length, 3, 'a failure does not end it');
  stop();
});

t.test('once it has ended nothing runs, and a failure is told to nobody', async (t) => {
  const { clock, failures, runs, stop } = repeated();
  stop();
  runs[0]!.reject(new Error('the database has gone'));
  await turn();
  t.same(failures, []);
  clock.advance(5000);
  t.equal(runs.length, 1);
  t.equal(clock.pending, 0);
});
