/** Arrivals: the number and the instants follow the rate, and are the same for the same seed. */
import t from 'tap';
import { type Arrivals, instants } from '../src/arrivals.js';

const all = (arrivals: Arrivals): number[] => [...instants(arrivals)];
const within = (times: readonly number[], from: number, to: number): number =>
  times.filter((at) => at >= from && at < to).length;

t.test('constant arrivals are evenly spaced', async (t) => {
  const times = all({ kind: 'constant', rate: 4, seconds: 2 });
  t.same(times, [0, 250, 500, 750, 1000, 1250, 1500, 1750]);
});

t.test('Poisson arrivals have the rate on average and gaps that vary like their mean', async (t) => {
  const times = all({ kind: 'poisson', rate: 100, seconds: 100, seed: 7 });
  t.ok(Math.abs(times.length - 10_000) < 400, `${times.length}`);
  const gaps = times.map((at, index) => at - (times[index - 1] ?? 0));
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length;
  const deviation = Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length);
  t.ok(Math.abs(deviation / mean - 1) < 0.05, `${deviation / mean}`);
  t.ok(
    gaps.every((gap) => gap >= 0),
    'in order',
  );
});

t.test('the same seed gives the same arrivals, another one others', async (t) => {
  const of = (seed: number) => all({ kind: 'poisson', rate: 50, seconds: 2, seed });
  t.same(of(1), of(1));
  t.notSame(of(1), of(2));
});

t.test('a ramp grows from one rate to the other', async (t) => {
  const times = all({ kind: 'ramp', from: 10, to: 50, seconds: 10 });
  t.equal(times.length, 300);
  t.ok(Math.abs(within(times, 0, 1000) - 12) <= 1);
  t.ok(Math.abs(within(times, 9000, 10_000) - 48) <= 1);
  t.equal(all({ kind: 'ramp', from: 5, to: 5, seconds: 2 }).length, 10, 'a flat one');
});

t.test('a spike is at its peak for its length, and at the rate elsewhere', async (t) => {
  const times = all({ kind: 'spike', rate: 10, peak: 100, at: 2, length: 1, seconds: 5 });
  t.equal(within(times, 0, 2000), 20);
  t.equal(within(times, 2000, 3000), 100);
  t.equal(within(times, 3000, 5000), 20);
  t.equal(times.length, 140);
});
