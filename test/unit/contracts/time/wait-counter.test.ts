/** The counter of waits. */
import t from '../../../fixtures/tap.js';
import { MOST_UNTOLD, WaitCounter } from '../../../../contracts/time/wait-counter.js';

t.test('waits that are not read are bounded', (t) => {
  const waits = new WaitCounter();
  for (let count = 0; count < 2 * MOST_UNTOLD; count += 1) waits.enter()(true);
  t.equal(waits.take().length, MOST_UNTOLD);
  t.end();
});
