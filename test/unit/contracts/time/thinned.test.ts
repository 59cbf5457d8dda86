/** Work that few processes do for all (contracts/time/thinned.ts). */
import t from '../../../fixtures/tap.js';
import { thinned } from '../../../../contracts/time/thinned.js';

/** The times of twenty at which it is done. */
async function doneAt(often: () => boolean, times: number): Promise<number[]> {
  const done: number[] = [];
  let now = 0;
  const work = thinned(
    often,
    () => times,
    async () => void done.push(now),
  );
  for (now = 1; now <= 20; now += 1) await work();
  return done;
}

t.test('who does it often does it each time, everybody else once in so many', async (t) => {
  t.equal((await doneAt(() => true, 5)).length, 20);
  t.strictSame(await doneAt(() => false, 5), [5, 10, 15, 20]);
});

t.test('who has just become one of those who do it often begins at once', async (t) => {
  let asked = 0;
  t.strictSame((await doneAt(() => (asked += 1) >= 18, 10)).slice(0, 3), [10, 18, 19]);
});
