/** A player that starts at the first byte and plays in real time: when it runs dry, and for how long. */
import type { Shape } from './shape.js';

/** When so many bytes in all had come, in milliseconds; in order. */
export type Timeline = readonly (readonly [at: number, bytes: number])[];

export interface Underruns {
  readonly count: number;
  /** Milliseconds, in all and of the longest. */
  readonly total: number;
  readonly longest: number;
}

/** Less is what a sound card's buffer hides. */
const HIDDEN_MS = 20;

export function underrunsOf(timeline: Timeline, shape: Pick<Shape, 'secondsIn'>): Underruns {
  const [first = 0] = timeline[0] ?? [];
  let [count, total, longest, playable] = [0, 0, 0, 0];
  for (const [at, bytes] of timeline) {
    const dry = at - first - total - playable * 1000;
    if (dry > HIDDEN_MS) {
      count += 1;
      total += dry;
      longest = Math.max(longest, dry);
    }
    playable = shape.secondsIn(bytes);
  }
  return { count, total, longest };
}

/** When the byte at this position had come; undefined where it never did. */
export const arrivalOf = (timeline: Timeline, bytes: number): number | undefined =>
  timeline.find(([, total]) => total >= bytes)?.[0];
