/**
 * The metrics of all gateway processes of a machine in one scrape (WORKERS): whichever process is asked asks the others
 * over their Unix sockets, and adds them up. A process that does not answer in time is left out, and
 * `gateway_processes` says how many there are.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import { waitUpTo } from '../../contracts/time/timeouts.js';
import { createPool, type Pool } from '../../processes/caller/pool.js';
import type { OperationParts } from '../dialects/operation/index.js';
import { type Minute, summed } from '../server/system/history.js';
import type { Metrics } from '../server/system/metrics.js';

const JOB = 'figures';
const HISTORY_JOB = 'history';
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
  close(): void;
}

export interface FiguresParts {
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

export function shareFigures({ metrics, peers, clock, log }: FiguresParts): SharedFigures {
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

  return {
    jobs: {
      async *[JOB]() {
        yield JSON.stringify(await (await metrics.scraped()).getMetricsAsJSON());
      },
      async *[HISTORY_JOB]() {
        yield JSON.stringify(metrics.history.read());
      },
    },
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
      for (const pool of pools) pool.close();
    },
  };
}
