/** When a curve of growing load ends, and what of it counts as growing faster than linearly. */
import t from 'tap';
import { LIMITS } from '../src/limits.js';
import { isBroken, riseOf, turnOf } from '../src/scenarios/growth.js';
import { SCENARIO_KINDS } from '../src/scenarios/growth-kinds.js';

t.test('the rise is the greatest cost over the least before it, wherever it is', async (t) => {
  t.equal(riseOf([4, 2, 1, 1]), 1, 'what an idle server needs is shared by more and more');
  t.equal(riseOf([4, 2, 3, 2]), 1.5, 'in the middle');
  t.equal(riseOf([1, 1, 2]), 2, 'at the end');
  t.equal(riseOf([1]), null, 'one step tells nothing');
});

t.test(
  'the slope turns at the first load that costs more than a quarter above the least before it',
  async (t) => {
    t.equal(turnOf([4, 2, 2.5, 2.6, 2]), 3);
    t.equal(turnOf([4, 2, 1, 1.25]), -1, 'nowhere');
    t.equal(turnOf([]), -1);
  },
);

t.test('the kinds of work are requests, sockets and calls of every sort', async (t) => {
  t.strictSame(Object.keys(SCENARIO_KINDS), [
    'speech',
    'live',
    'transcription',
    'calls',
    'phone',
    'sockets',
    'sessions',
  ]);
});

t.test('a curve ends where requests fail or come too late', async (t) => {
  const before = [{ p95: 4 }, { p95: 2 }];
  t.notOk(isBroken({ failed: 0.01, p95: 100 }, before));
  t.ok(isBroken({ failed: 0.011, p95: 2 }, before));
  t.ok(isBroken({ failed: 0, p95: 101 }, before));
  t.notOk(isBroken({ failed: 0, p95: 10_000 }, []), 'the first one is late beside nothing');
  t.notOk(isBroken({ failed: 0, p95: undefined }, before));
});

t.test('no kind of work may grow faster than linearly', async (t) => {
  for (const kind of Object.keys(SCENARIO_KINDS))
    t.strictSame(LIMITS[`growth.${kind}.rise`], { of: 'value', most: 1.25 }, kind);
});
