/** What all gateway processes of a machine know of the operator's parts. `/health` waits for none of them. */
import type { Clock } from '../../contracts/clock.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { repeat } from '../../contracts/time/repeat.js';
import type { PartKeeper } from '../server/parts/keeper.js';
import type { PartReport } from '../server/parts/part-state.js';
import { mergedReports } from '../server/parts/reports.js';
import type { Peers } from './peers.js';

const JOB = 'parts';
/** Between two looks at what the others know. */
const LOOK_MS = 5000;

/** A process that restarts has nothing to say, which others report. */
const quiet = (): void => undefined;

export interface SharedReports {
  readonly jobs: JobHandlers;
  /** Of the others, as of the last few seconds. */
  readonly read: () => readonly PartReport[];
  stop(): void;
}

export function shareReports(
  keeper: Pick<PartKeeper, 'reports' | 'heard'>,
  peers: Peers,
  clock: Clock,
): SharedReports {
  let elsewhere: readonly (readonly PartReport[])[] = [];
  const look = async (): Promise<void> => {
    elsewhere = await peers.told<readonly PartReport[]>(JOB, quiet);
    for (const reports of elsewhere) keeper.heard(reports);
  };
  return {
    jobs: {
      async *[JOB]() {
        yield JSON.stringify(keeper.reports());
      },
    },
    read: () => mergedReports([keeper.reports(), ...elsewhere]),
    // No look rejects.
    stop: peers.isEmpty ? quiet : repeat(clock, LOOK_MS, look, quiet),
  };
}
