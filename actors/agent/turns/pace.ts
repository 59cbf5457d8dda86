/**
 * How a user pauses inside of turns, learnt within a call: endpointing waits longer for one who thinks in the middle of
 * sentences and less long for one who does not, between bounds that `eagerness` sets.
 */
import type { Eagerness } from '../settings.js';

/** The user's usual pause inside of a turn, as a part of the one that the tables were made for. */
export type Pace = number;

export const USUAL_PACE: Pace = 1;

interface Bounds {
  /** The pause that the tables were made for, a little shorter than what ends a likely turn: ms, without the detector's own. */
  readonly usualMs: number;
  /** The shortest and the longest delays, as parts of those of the tables. */
  readonly least: number;
  readonly most: number;
}

export const PACE_BOUNDS: Readonly<Record<Eagerness, Bounds>> = {
  eager: { usualMs: 220, least: 0.7, most: 1.6 },
  balanced: { usualMs: 600, least: 0.75, most: 2 },
  relaxed: { usualMs: 1040, least: 0.8, most: 1.4 },
};

/** A pause that was too long costs an interruption, one that was too short a moment: the longer one is learnt faster. */
const LEARNS = { longer: 0.7, shorter: 0.1, unbroken: 0.08 } as const;
/** A longer pause is no habit. */
const LONGEST = 3;

/** After a pause inside of a turn, `ms` behind the detector's own silence. */
export function afterPause(pace: Pace, eagerness: Eagerness, ms: number): Pace {
  const seen = Math.min(LONGEST, ms / PACE_BOUNDS[eagerness].usualMs);
  return pace + (seen > pace ? LEARNS.longer : LEARNS.shorter) * (seen - pace);
}

/** After a turn without one. */
export const afterUnbroken = (pace: Pace): Pace => pace * (1 - LEARNS.unbroken);

/** How much longer, or less long, than by the tables a silence has to be. */
export function factorOf(pace: Pace, eagerness: Eagerness): number {
  const { least, most } = PACE_BOUNDS[eagerness];
  return Math.min(most, Math.max(least, pace));
}
