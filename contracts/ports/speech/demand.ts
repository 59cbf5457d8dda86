import { type JobOwner, NOBODY } from '../jobs.js';

/** Priority of a piece of work among those that wait for the same engine (engines/scheduling/). */
export interface Demand extends JobOwner {
  /** Seconds until its listener has heard all available speech; 0 if there is none, as for a first piece. */
  readonly aheadSeconds: number;
}

/** The demand of work without one. */
export const NO_DEMAND: Demand = { ...NOBODY, aheadSeconds: 0 };
