/**
 * The metrics of all gateway processes of a machine in one scrape (WORKERS): whichever process is asked asks the others
 * over their Unix sockets, and adds them up. A process that does not answer in time is left out, and
 * `gateway_processes` says how many there are.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { repeat } from '../../contracts/time/repeat.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { createPool, type Pool } from '../../processes/caller/pool.js';
import type { OperationParts } from '../dialects/operation/index.js';
import { type Minute, summed } from '../server/system/history.js';
import type { PartKeeper } from '../server/parts/keeper.js';
import type { PartReport } from '../server/parts/part-state.js';
import { mergedReports } from '../server/parts/reports.js';
import type { Metrics } from '../server/system/metrics.js';

const JOB = 'figures';
const HISTORY_JOB = 'history';
const PARTS_JOB = 'parts';
/** Between two looks at what the other processes know of their parts. `/health` waits for none of them. */
const PARTS_MS = 5000;
/** Long enough for a process that is just restarting. */
const WAIT_MS = 2000;

type Figures = MetricObjectWithValues<MetricValue<string>>[];

export interface SharedFigures {
  /** The jobs by which this process answers the others. */
  readonly jobs: JobHandlers;
  /** The metrics of all processes, in Prometheus' text format. */
  readonly read: () => Promise<string>;
  /** The last hour of all processes, minute by minute. */
  readonly history: OperationParts['history'];
  /** What all processes know of the operator's parts; of the others, as of the last few seconds. */
  readonly partReports: () => readonly PartReport[];
  close(): void;
}

export interface FiguresParts {
  readonly keeper: Pick<PartKeeper, 'reports' | 'heard'>;
  readonly metrics: Metrics;
  /** The sockets of the other gateway processes. */
  readonly peers: readonly string[];
  readonly clock: Clock;
  readonly log: Log;
}

/** Jobs cannot be left without being cancelled, so a late one ends by itself. */
async function ask<Told>(pool: Pool, job: string): Promise<Told> {
  for await (const answer of pool.run(job, null, { signal: new AbortController().signal }))
    return JSON.parse(answer as string) as Told;
  throw new Error('a gateway process told no figures');
}

export function shareFigures({ metrics, keeper, peers, clock, log }: FiguresParts): SharedFigures {
  metrics.gauge('processes', 'Gateway processes that these figures cover', () => 1);
  const pools = peers.map((socket) => createPool({ sockets: [socket], log, waitMs: WAIT_MS }));

  const failed = (err: unknown): undefined => {
    log.warn({ err }, 'a gateway process did not tell its figures');
  };

  /** The answers of the others that came in time. */
  const others = async <Told>(job: string): Promise<readonly Told[]> => {
    const asked = pools.map((pool) => waitUpTo(clock, WAIT_MS, ask<Told>(pool, job).catch(failed)));
    return (await Promise.all(asked)).filter((told) => told !== undefined) as Told[];
  };

  let elsewhere: readonly (readonly PartReport[])[] = [];
  const look = async (): Promise<void> => {
    elsewhere = await others<readonly PartReport[]>(PARTS_JOB);
    for (const reports of elsewhere) keeper.heard(reports);
  };
  // No look rejects.
  const stop = pools.length === 0 ? () => undefined : repeat(clock, PARTS_MS, look, () => undefined);

  return {
    jobs: {
      async *[JOB]() {
        yield JSON.stringify(await (await metrics.scraped()).getMetricsAsJSON());
      },
      async *[HISTORY_JOB]() {
        yield JSON.stringify(metrics.history.read());
      },
      async *[PARTS_JOB]() {
        yield JSON.stringify(keeper.reports());
      },
    },
    partReports: () => mergedReports([keeper.reports(), ...elsewhere]),
    async read() {
      const registry = await metrics.scraped();
      if (pools.length === 0) return registry.metrics();
      const told = await others<Figures>(JOB);
      return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...told]).metrics();
    },
    async history() {
      const told = [...(await others<readonly Minute[]>(HISTORY_JOB)), metrics.history.read()];
      return { processes: told.length, minutes: summed(told, clock.now()) };
    },
    close() {
      stop();
      for (const pool of pools) pool.close();
    },
  };
}
