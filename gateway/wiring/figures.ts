/**
 * The metrics of all gateway processes of a machine in one scrape (WORKERS): whichever process is asked asks the others
 * over their Unix sockets, and adds them up. A process that does not answer in time is left out, and
 * `gateway_processes` says how many there are.
 */
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import type { JobHandlers } from '../../contracts/ports/jobs.js';
import type { OperationParts } from '../dialects/operation/index.js';
import { type HistoryMinute, summed } from '../server/system/history.js';
import type { PartKeeper } from '../server/parts/keeper.js';
import type { PartReport } from '../server/parts/part-state.js';
import type { Metrics } from '../server/system/metrics.js';
import { shareReports } from './part-reports.js';
import { Peers } from './peers.js';

const JOB = 'figures';
const HISTORY_JOB = 'history';

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

export function shareFigures({ metrics, keeper, peers: sockets, clock, log }: FiguresParts): SharedFigures {
  metrics.gauge('processes', 'Gateway processes that these figures cover', () => 1);
  const peers = new Peers(sockets, clock, log);
  const reports = shareReports(keeper, peers, clock);
  const failed = (err: unknown): void => log.warn({ err }, 'a gateway process did not tell its figures');

  return {
    jobs: {
      async *[JOB]() {
        yield JSON.stringify(await (await metrics.scraped()).getMetricsAsJSON());
      },
      async *[HISTORY_JOB]() {
        yield JSON.stringify(metrics.history.read());
      },
      ...reports.jobs,
    },
    partReports: reports.read,
    async read() {
      const registry = await metrics.scraped();
      if (peers.isEmpty) return registry.metrics();
      const told = await peers.told<Figures>(JOB, failed);
      return AggregatorRegistry.aggregate([await registry.getMetricsAsJSON(), ...told]).metrics();
    },
    async history() {
      const told = [
        ...(await peers.told<readonly HistoryMinute[]>(HISTORY_JOB, failed)),
        metrics.history.read(),
      ];
      return { processes: told.length, minutes: summed(told, clock.now()) };
    },
    close() {
      reports.stop();
      peers.close();
    },
  };
}
