/** How evenly loads are spread. */
export interface Spread {
  readonly mean: number;
  /** Over the mean. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export function countedSpread(loads: readonly number[]): Spread {
  const sorted = Float64Array.from(loads).sort();
  const mean = sorted.reduce((sum, load) => sum + load, 0) / Math.max(1, sorted.length);
  const at = (share: number): number =>
    (sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0) / mean;
  return { mean, p50: at(0.5), p99: at(0.99), max: at(1) };
}
