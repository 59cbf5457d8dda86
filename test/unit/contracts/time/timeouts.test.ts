/** Waiting for work, up to a time or a signal. */
import { getEventListeners } from 'node:events';
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../fixtures/tap.js';
import { waitUpTo, withTimeout } from '../../../../contracts/time/timeouts.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';

/** Work that the test ends as it likes. */
function work() {
  let end: { resolve(value: string): void; reject(error: Error): void } | undefined;
  const promise = new Promise<string>((resolve, reject) => (end = { resolve, reject }));
  return { promise, end: end! };
}

t.test('work is waited for so long and no longer, and leaves no timer', async (t) => {
  const outcomes: readonly [(end: ReturnType<typeof work>['end'], clock: SimulatedClock) => void, unknown, unknown][] = [
    [(end) => end.resolve('done'), 'done', 'done'],
    [(end) => end.reject(new Error('broken')), new Error('broken'), new Error('broken')],
    [(end, clock) => (clock.advance(99), end.resolve('late')), 'late', 'late'],
    [(_, clock) => clock.advance(100), undefined, new Error('no answer in 100 ms')],
  ]; // oxfmt-ignore
  for (const [happens, ...wanted] of outcomes)
    for (const [index, waits] of [waitUpTo<string>, withTimeout<string>].entries()) {
      const clock = new SimulatedClock();
      const { promise, end } = work();
      const outcome = waits(clock, 100, promise).catch((error: unknown) => error);
      happens(end, clock);
      t.strictSame(await outcome, wanted[index]);
      t.equal(clock.pending, 0);
    }
});

t.test('waiting ends with its signal, before it begins or in the middle', async (t) => {
  const clock = new SimulatedClock();
  const abort = new AbortController();
  t.equal(await withTimeout(clock, 100, Promise.resolve('done'), abort.signal), 'done');
  t.strictSame(getEventListeners(abort.signal, 'abort'), [], 'a signal that lives on is left');
  const waiting = withTimeout(clock, 100, work().promise, abort.signal).catch((error: unknown) => error);
  await turn();
  const reason = new Error('left');
  abort.abort(reason);
  t.equal(await waiting, reason);
  t.equal(clock.pending, 0);
  await rejectsExactly(t, withTimeout(clock, 100, Promise.resolve('done'), abort.signal), reason);
});
