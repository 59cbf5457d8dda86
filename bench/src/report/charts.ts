/** Charts of phases. */
import { latenciesOf, type Latencies } from '../histogram.js';
import type { Phase } from '../measure/phase.js';
import { latenciesIn } from '../measure/phase.js';
import type { Chart, Line } from './report.js';

/** Up to three nines, as far as there are samples. */
const CURVE = [
  0, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 92.5, 95, 97.5, 98, 99, 99.5, 99.8, 99.9, 99.95, 99.99,
];

function percentileLine(name: string, latencies: Latencies): Line {
  const within = CURVE.filter((percentile) => latencies.n * (1 - percentile / 100) >= 1);
  const points = within.flatMap((percentile) => {
    const value = latencies.at(percentile);
    return value === undefined ? [] : [[1 / (1 - percentile / 100), value] as const];
  });
  return { name, points };
}

/** The latencies of several servers by percentile. A curve that ends early has failures behind its end. */
export const percentileChart = (
  title: string,
  phases: Readonly<Record<string, Phase>>,
  reading: string,
): Chart => ({
  title,
  kind: 'percentiles',
  x: { label: 'percentile', log: true },
  y: { label: 'ms', log: true },
  lines: Object.entries(phases).map(([name, phase]) => percentileLine(name, latenciesIn(phase, reading))),
});

const BUCKET_MS = 500;

/** Medians and longest of half seconds, by when the requests were due; rounds follow one another. */
export function timeChart(title: string, phase: Phase, reading: string): Chart {
  const buckets = new Map<number, number[]>();
  let before = 0;
  for (const { due, readings, seconds } of phase.outcomes) {
    const values = readings[reading] ?? [];
    due.forEach((at, index) => {
      const bucket = Math.floor((before + at) / BUCKET_MS);
      buckets.set(bucket, [...(buckets.get(bucket) ?? []), values[index] ?? Number.NaN]);
    });
    before += seconds * 1000;
  }
  const points = (pick: (latencies: Latencies) => number | undefined) =>
    [...buckets].flatMap(([bucket, values]) => {
      const value = pick(latenciesOf(values));
      return value === undefined || Number.isNaN(value)
        ? []
        : [[(bucket * BUCKET_MS) / 1000, value] as const];
    });
  const lines = [
    { name: 'p50', points: points((latencies) => latencies.at(50)) },
    { name: 'max', points: points((latencies) => latencies.max) },
  ];
  return { title, kind: 'time', x: { label: 's' }, y: { label: 'ms' }, lines };
}
