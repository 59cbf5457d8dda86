/**
 * How a user pauses within turns, learnt during a call: endpointing waits longer for a user who thinks in mid-sentence
 * and less long for one who does not, within bounds set by `eagerness`.
 */
import type { Eagerness } from '../settings.js';

/** The user's usual pause within a turn, as a factor of the one that the tables assume. */
export type Pace = number;

export const USUAL_PACE: Pace = 1;

/** Words of a turn from which on it shows how its user pauses. */
export const SHOWS_PACE = 4;

interface Bounds {
  /** The pause that the tables assume, a little shorter than what ends a `likely` turn: ms, without the detector's own. */
  readonly usualMs: number;
  /** Bounds of the delays, as factors of those of the tables. */
  readonly least: number;
  readonly most: number;
}

export const PACE_BOUNDS: Readonly<Record<Eagerness, Bounds>> = {
  eager: { usualMs: 300, least: 0.7, most: 1.6 },
  balanced: { usualMs: 525, least: 0.78, most: 2.4 },
  relaxed: { usualMs: 1120, least: 0.8, most: 1.4 },
};

/** Too short a delay interrupts the user, too long a delay only costs a moment: longer pauses are learnt faster. */
const LEARNS = { longer: 0.7, shorter: 0.1, unbroken: 0.08 } as const;
/** Cap of a pause, as a factor of the usual one: a longer pause is not a habit. */
const LONGEST = 3;

/** The pace after a pause within a turn, of `ms` beyond NOTICED_MS (endpointing.ts) from the last sound. */
export function afterPause(pace: Pace, eagerness: Eagerness, ms: number): Pace {
  const seen = Math.min(LONGEST, ms / PACE_BOUNDS[eagerness].usualMs);
  return pace + (seen > pace ? LEARNS.longer : LEARNS.shorter) * (seen - pace);
}

/** The pace after a turn without a pause. */
export const afterUnbroken = (pace: Pace): Pace => pace * (1 - LEARNS.unbroken);

/** Factor of the delays of the tables. */
export function factorOf(pace: Pace, eagerness: Eagerness): number {
  const { least, most } = PACE_BOUNDS[eagerness];
  return Math.min(most, Math.max(least, pace));
}
