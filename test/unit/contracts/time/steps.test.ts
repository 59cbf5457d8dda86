/** Hours, days and weeks in UTC (contracts/time/steps.ts). */
import t from '../../../fixtures/tap.js';
import { stepOf, stepsBetween } from '../../../../contracts/time/steps.js';

const at = (text: string): Date => new Date(`${text}Z`);

t.test('a moment lies in its hour, its day, and the week that begins on Monday', async (t) => {
  const sunday = at('2026-11-29T23:59:59.999');
  t.strictSame(stepOf('hour', sunday), at('2026-11-29T23:00'));
  t.strictSame(stepOf('day', sunday), at('2026-11-29T00:00'));
  t.strictSame(stepOf('week', sunday), at('2026-11-23T00:00'));
  t.strictSame(stepOf('week', at('2026-11-30T00:00')), at('2026-11-30T00:00'));
});

t.test('steps reach up to the end, which is excluded', async (t) => {
  const from = at('2026-11-28T00:00');
  t.strictSame(stepsBetween('day', from, at('2026-11-30T00:00')), [from, at('2026-11-29T00:00')]);
  t.equal(stepsBetween('day', from, at('2026-11-30T00:01')).length, 3);
  t.strictSame(stepsBetween('hour', from, from), []);
});
