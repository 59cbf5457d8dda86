/** Counts of latencies by size, and the quantiles that are read from them (contracts/sessions/latency-counts.ts). */
import t from '../../../fixtures/tap.js';
import {
  addedCounts,
  LATENCY_BOUNDS,
  latencyCounts,
  latencyQuantile,
} from '../../../../contracts/sessions/latency-counts.js';

t.test('a quantile is within a twentieth of the latency itself, from 50 ms to two minutes', async (t) => {
  for (const ms of [51, 383, 900, 2259, 9999, 60_000, 110_000]) {
    const shown = latencyQuantile(latencyCounts([ms]), 0.5) ?? 0;
    t.ok(Math.abs(shown - ms) / ms < 0.05, `${ms} is shown as ${shown}`);
  }
});

t.test('half of a hundred answers, and nine of ten', async (t) => {
  const latencies = Array.from({ length: 100 }, (_, index) => (index + 1) * 20);
  const counts = latencyCounts(latencies);
  for (const [part, exact] of [
    [0.5, 1000],
    [0.9, 1800],
  ] as const) {
    const shown = latencyQuantile(counts, part) ?? 0;
    t.ok(Math.abs(shown - exact) / exact < 0.1, `${part}: ${shown}`);
  }
});

t.test('counts that are added up are those of all latencies, in any order', async (t) => {
  const [few, many] = [
    [60, 700],
    [40, 700, 5000, 300_000],
  ];
  t.strictSame(addedCounts(latencyCounts(few), latencyCounts(many)), latencyCounts([...few, ...many]));
  t.strictSame(addedCounts(latencyCounts(many), latencyCounts(few)), latencyCounts([...few, ...many]));
  t.strictSame(addedCounts([], latencyCounts(few)), latencyCounts(few));
});

t.test('a bound belongs to the place below it; what is longer than all is in the last one', async (t) => {
  t.strictSame(latencyCounts([0, 50]), [2]);
  t.strictSame(latencyCounts([50.1]), [0, 1]);
  const longest = latencyCounts([10_000_000]);
  t.equal(longest.length, LATENCY_BOUNDS.length + 1);
  t.equal(latencyQuantile(longest, 0.5), Math.round(LATENCY_BOUNDS.at(-1) ?? 0));
});

t.test('there is no quantile of nothing', async (t) => {
  t.strictSame(latencyCounts([]), []);
  t.equal(latencyQuantile([], 0.5), null);
  t.equal(latencyQuantile([0, 0], 0.9), null);
});
