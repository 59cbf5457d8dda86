/**
 * Counts of latencies by size, of which any number can be added up: what is kept in place of each latency. A place holds latencies up
 * to its bound, and bounds grow by a tenth, so that a quantile is off by 5 % at most.
 */
const FIRST_MS = 50;
const GROWTH = 1.1;
/** The last place holds everything from two minutes on. */
const PLACES = 83;

export const LATENCY_BOUNDS: readonly number[] = Array.from(
  { length: PLACES - 1 },
  (_, place) => FIRST_MS * GROWTH ** place,
);

const placeOf = (ms: number): number => {
  const found = LATENCY_BOUNDS.findIndex((bound) => ms <= bound);
  return found < 0 ? PLACES - 1 : found;
};

/** Without the empty places at the end. */
export function latencyCounts(latencies: readonly number[]): readonly number[] {
  const places = latencies.map(placeOf);
  const counts = new Array<number>(places.length === 0 ? 0 : Math.max(...places) + 1).fill(0);
  for (const place of places) counts[place] = (counts[place] ?? 0) + 1;
  return counts;
}

export const addedCounts = (one: readonly number[], other: readonly number[]): readonly number[] =>
  Array.from(
    { length: Math.max(one.length, other.length) },
    (_, place) => (one[place] ?? 0) + (other[place] ?? 0),
  );

/** The middle of a place by its bounds' proportion, whole ms. */
const middleOf = (place: number): number => {
  const [low, high] = [LATENCY_BOUNDS[place - 1] ?? 0, LATENCY_BOUNDS[place]];
  return Math.round(high === undefined ? low : (low + high) / 2);
};

/** The latency within which that part of all lies, in ms; null of none. `part` is from 0 to 1. */
export function latencyQuantile(counts: readonly number[], part: number): number | null {
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all === 0) return null;
  let seen = 0;
  const place = counts.findIndex((count) => (seen += count) >= Math.max(1, all * part));
  return middleOf(place < 0 ? counts.length - 1 : place);
}
