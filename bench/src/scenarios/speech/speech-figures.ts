/** The figures of a load of speech requests. */
import { type FigureInput, latencyFigures } from '../../figures.js';
import { latenciesOf, type Percentile } from '../../histogram.js';
import {
  doubtsIn,
  failedFigure,
  latenciesIn,
  type Phase,
  requestsIn,
  valuesIn,
} from '../../measure/phase.js';
import type { Server } from '../../servers/server.js';

export interface Measured {
  readonly server: Server;
  readonly phase: Phase;
}

const share = (values: readonly number[], holds: (value: number) => boolean): number =>
  values.length === 0 ? Number.NaN : (100 * values.filter(holds).length) / values.length;

export function speechFigures(prefix: string, { server, phase }: Measured, bare?: Measured): FigureInput[] {
  const common = { subject: server.name, doubts: doubtsIn(phase, bare?.phase) };
  const against = (reading: string) =>
    bare && { name: bare.server.name, latencies: latenciesIn(bare.phase, reading) };
  const latencies = (reading: string, percentiles?: readonly Percentile[]): FigureInput[] =>
    latencyFigures(
      `${prefix}.${reading}`,
      latenciesIn(phase, reading),
      common,
      against(reading),
      percentiles,
    );
  const underruns = valuesIn(phase, 'underrun');
  const factors = latenciesOf(valuesIn(phase, 'rtf'));
  const middle = factors.percentile(50);
  return [
    ...latencies('ttfa'),
    ...latencies('ttfb', [50, 95]),
    ...latencies('e2e'),
    { name: `${prefix}.rtf.p50`, unit: '×', n: factors.n, value: null, ...middle, ...common },
    {
      name: `${prefix}.underruns`,
      unit: '%',
      n: underruns.length,
      value: share(underruns, (ms) => ms > 0),
      ...common,
    },
    {
      name: `${prefix}.underrun.longest`,
      unit: 'ms',
      n: underruns.length,
      value: Math.max(...underruns),
      ...common,
    },
    failedFigure(`${prefix}.failed`, server.name, phase),
  ];
}

/** Milliseconds of CPU a request in the server's first process. */
export const costOf = (phase: Phase): number => (phase.cost?.process ?? Number.NaN) / requestsIn(phase);
export const familyCostOf = (phase: Phase): number => (phase.cost?.family ?? Number.NaN) / requestsIn(phase);
