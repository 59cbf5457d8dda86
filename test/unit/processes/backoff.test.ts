/** Waits between restarts. */
import t from '../../fixtures/tap.js';
import { Backoff } from '../../../processes/backoff.js';

t.test('waits double up to their cap until a success', (t) => {
  const backoff = new Backoff({ initialMs: 100, maxMs: 1000 });
  t.same(
    Array.from({ length: 6 }, () => backoff.next()),
    [100, 200, 400, 800, 1000, 1000],
  );
  backoff.reset();
  t.equal(backoff.next(), 100);
  t.end();
});
