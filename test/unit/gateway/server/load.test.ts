/** The delay of an event loop, by which the edge sheds load. */
import t from '../../../fixtures/tap.js';
import { measureLoopDelay } from '../../../../gateway/server/load.js';

/** Keeps the event loop for 30 ms a turn, for four turns. */
async function keepLoopBusy(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) {
    const until = performance.now() + 30;
    while (performance.now() < until);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

void t.test('the delay of an event loop is measured once it is busy', async (t) => {
  const delay = measureLoopDelay();
  t.teardown(() => delay.stop());
  t.equal(delay.sample(), 0);
  await keepLoopBusy();
  delay.sample();
  await keepLoopBusy();
  t.ok(delay.sample() >= 15);
});
