/** How many calls the media workers have places for. */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import type { Config } from '../config.js';

type Places = Pick<Config, 'callPlaces' | 'mediaProcesses' | 'workers'>;

/** One gateway process's share of them. */
export const carriedPlaces = ({ mediaProcesses, workers }: Omit<Places, 'callPlaces'>): number =>
  Math.max(1, Math.floor((mediaProcesses * JOB_PLACES.media.keptForLive) / workers));

/** The calls that a gateway process takes: its share, or fewer if it is told so. */
export const mediaPlaces = ({ callPlaces = Infinity, ...config }: Places): number =>
  Math.min(callPlaces, carriedPlaces(config));
