/** A bucket of tokens: a burst, and then so many a second. */
import t from '../../../fixtures/tap.js';
import { TokenBucket } from '../../../../contracts/limits/token-bucket.js';

t.test('a token bucket allows a burst, and then so many a second', async (t) => {
  let now = 86_400_000;
  const bucket = new TokenBucket({ burst: 3, perSecond: 2 }, () => now);
  const taken = (times: number): number =>
    Array.from({ length: times }, () => bucket.take()).filter(Boolean).length;
  t.equal(taken(10), 3);
  now += 1000;
  t.equal(taken(10), 2);
  now += 499;
  t.equal(taken(1), 0, 'nothing before a whole one is back');
  now += 1;
  t.equal(taken(10), 1);
  now += 60_000;
  t.equal(taken(10), 3, 'never more than a burst');
});
