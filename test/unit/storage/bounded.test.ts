/** Look-ups on the request path are bounded in number (storage/bounded.ts). */
import t from '../../fixtures/tap.js';
import { ServiceError } from '../../../contracts/errors.js';
import { silentLog } from '../../../contracts/log.js';
import { boundedWork } from '../../../storage/bounded.js';
import { rejectsExactly } from '../../fixtures/exactly.js';

const MOST = 256;

/** A bounded worker, and its warnings. */
function bounded() {
  const warnings: unknown[][] = [];
  const work = boundedWork('keys', { ...silentLog, warn: (...line) => warnings.push(line) });
  return { work, warnings };
}

const OVERLOADED = { code: 'overloaded', retryAfter: 1, message: /try again/ };

t.test('256 look-ups are under way at once, each that ends makes room for one', async (t) => {
  const { work, warnings } = bounded();
  const found: ((name: string) => void)[] = [];
  const lookUp = () => work(() => new Promise<string>((resolve) => found.push(resolve)));
  const isRefused = () =>
    rejectsExactly(
      t,
      work(async () => t.fail('is not begun')),
      OVERLOADED,
    );
  const waiting = Array.from({ length: MOST }, lookUp);
  await isRefused();
  t.strictSame(warnings, [[{ reason: 'too many at once' }, 'keys cannot be looked up']]);
  found[0]?.('found');
  t.equal(await waiting[0], 'found');
  waiting.push(lookUp());
  await isRefused();
  for (const resolve of found) resolve('found');
  t.strictSame(new Set(await Promise.all(waiting)), new Set(['found']));
});

t.test('a look-up that fails is refused as overload with its cause, and logged', async (t) => {
  const { work, warnings } = bounded();
  const cause = new Error('connection lost');
  await rejectsExactly(
    t,
    work(() => Promise.reject(cause)),
    { ...OVERLOADED, cause },
  );
  t.strictSame(warnings, [[{ reason: 'connection lost' }, 'keys cannot be looked up']]);
});

t.test('an answer that refuses is passed on as it is', async (t) => {
  const { work, warnings } = bounded();
  const refusal = new ServiceError('rate_limited');
  await rejectsExactly(
    t,
    work(() => Promise.reject(refusal)),
    refusal,
  );
  t.strictSame(warnings, []);
});

t.test('look-ups that have failed leave room for others', async (t) => {
  const { work } = bounded();
  for (let round = 0; round <= MOST; round += 1)
    await rejectsExactly(
      t,
      work(() => Promise.reject(new ServiceError('rate_limited'))),
      { code: 'rate_limited' },
    );
});
