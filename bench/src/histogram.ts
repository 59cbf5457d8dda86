/**
 * Latencies in an HDR histogram, in milliseconds with three significant digits from a microsecond to an hour. A request
 * that failed counts as slower than any other: errors can make percentiles worse, never better.
 */
import { build, type Histogram } from 'hdr-histogram-js';

export const PERCENTILES = [50, 90, 95, 99, 99.9] as const;
export type Percentile = (typeof PERCENTILES)[number];
export type PercentileName = `p${Percentile}`;

/** Samples that must lie beyond a percentile for it to be told. */
export const SAMPLES_BEYOND = 10;

/** How many samples a percentile needs: 20 for p50, 1,000 for p99, 10,000 for p99.9. */
export const samplesNeeded = (percentile: number): number =>
  Math.ceil((SAMPLES_BEYOND * 100) / (100 - percentile) - 1e-6);

/** A percentile in milliseconds, or why there is none. */
export type Reading = { readonly value: number } | { readonly withheld: string };

const MICROSECONDS = 1000;
const HOUR_MS = 3_600_000;

export class Latencies {
  readonly #histogram: Histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: HOUR_MS * MICROSECONDS,
    numberOfSignificantValueDigits: 3,
  });
  #failed = 0;
  #longest = 0;

  record(ms: number): void {
    this.#longest = Math.max(this.#longest, ms);
    this.#histogram.recordValue(Math.round(Math.min(Math.max(ms, 0), HOUR_MS) * MICROSECONDS));
  }

  /** One that has no latency, because it failed. */
  fail(count = 1): void {
    this.#failed += count;
  }

  /** All requests, those that failed included. */
  get n(): number {
    return this.#histogram.totalCount + this.#failed;
  }

  get failed(): number {
    return this.#failed;
  }

  /** The slowest request that did not fail; NaN if there is none. */
  get max(): number {
    return this.#histogram.totalCount === 0 ? Number.NaN : this.#longest;
  }

  percentile(percentile: number): Reading {
    const needed = samplesNeeded(percentile);
    if (this.n < needed) return { withheld: `needs ${needed} samples, has ${this.n}` };
    const value = this.at(percentile);
    return value === undefined
      ? { withheld: `${this.#failed} of ${this.n} failed, so that this one did` }
      : { value };
  }

  /** Withheld from nobody: for curves. Undefined where the request at this rank failed. */
  at(percentile: number): number | undefined {
    const succeeded = this.#histogram.totalCount;
    const rank = Math.ceil((percentile / 100) * this.n - 1e-9);
    if (succeeded === 0 || rank > succeeded) return undefined;
    return this.#histogram.getValueAtPercentile((100 * rank) / succeeded) / MICROSECONDS;
  }
}

/** The latencies of a list, NaN being a failure. */
export function latenciesOf(values: Iterable<number>): Latencies {
  const latencies = new Latencies();
  for (const value of values) {
    if (Number.isNaN(value)) latencies.fail();
    else latencies.record(value);
  }
  return latencies;
}

/** The middle of a few values, such as the rounds of a measurement; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[middle] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}
