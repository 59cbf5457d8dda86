/** Percentiles: right to three digits, withheld if there are too few samples, never improved by failures. */
import t from 'tap';
import type { Latencies } from '../src/histogram.js';
import { latenciesOf, median, samplesNeeded } from '../src/histogram.js';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);
const valueOf = (latencies: Latencies, percentile: number): number | undefined => {
  const reading = latencies.percentile(percentile);
  return 'value' in reading ? reading.value : undefined;
};

t.test('percentiles are exact to three digits', async (t) => {
  const latencies = latenciesOf(upTo(1000));
  for (const percentile of [50, 90, 95, 99]) {
    const value = valueOf(latencies, percentile) ?? 0;
    t.ok(Math.abs(value / (percentile * 10) - 1) < 0.002, `p${percentile}: ${value}`);
  }
  t.equal(latencies.max, 1000);
  t.equal(latencies.n, 1000);
});

t.test('a percentile is withheld until ten samples lie beyond it', async (t) => {
  t.same([50, 90, 95, 99, 99.9].map(samplesNeeded), [20, 100, 200, 1000, 10_000]);
  t.hasStrict(latenciesOf(upTo(999)).percentile(99), { withheld: 'needs 1000 samples, has 999' });
  t.match(latenciesOf(upTo(1000)).percentile(99), { value: Number });
});

t.test('a request that failed counts as slower than any other', async (t) => {
  const clean = latenciesOf(upTo(98));
  const failing = latenciesOf([...upTo(98), ...Array<number>(102).fill(Number.NaN)]);
  t.equal(failing.failed, 102);
  t.equal(failing.n, 200);
  t.match(failing.percentile(90), { withheld: /102 of 200 failed/ });
  const some = latenciesOf([...upTo(98), Number.NaN, Number.NaN]);
  t.ok((valueOf(some, 50) ?? 0) >= (clean.at(50) ?? Infinity), 'never a better one');
  t.match(latenciesOf([Number.NaN]).percentile(50), { withheld: String });
  t.ok(Number.isNaN(latenciesOf([Number.NaN]).max));
});

t.test('the median of rounds', async (t) => {
  t.equal(median([3, 1, 2]), 2);
  t.equal(median([4, 1, 2, 3]), 2.5);
  t.ok(Number.isNaN(median([])));
});
