/** What must hold of a fleet whose calls are placed. */
import type { Fleet } from './fleet.js';

/** The most loaded machine of a hundred over the mean, in the mean of all seconds; calls of lost nodes go on wherever their clients come. */
const MOST_P99 = 1.4;
const MOST_SECONDS = 60;

/** The mean over all seconds of a part of the spread. */
export const meanOf = ({ samples }: Fleet, part: 'p50' | 'p99' | 'max'): number =>
  samples.reduce((sum, { spread }) => sum + spread[part], 0) / samples.length;

/** What does not hold. */
export function broken(fleet: Fleet): readonly string[] {
  const { counts, added } = fleet;
  const late = added.filter(({ seconds = Infinity }) => seconds > MOST_SECONDS);
  const p99 = meanOf(fleet, 'p99');
  return [
    ...(counts.misplaced > 0 ? [`${counts.misplaced} calls began at nodes that drain or have died`] : []),
    ...(counts.refused > 0 ? [`${counts.refused} calls were refused, while there was room`] : []),
    ...late.map(
      ({ at, seconds = '?' }) => `nodes that were added at ${at} s had their share after ${seconds} s`,
    ),
    ...(p99 > MOST_P99 ? [`one machine of a hundred has ${p99.toFixed(2)} times the mean load`] : []),
  ];
}
