/** A figure: one number that a run gives, what it is held against, and whether it can be relied upon. */
import type { Latencies, Percentile, Reading } from './histogram.js';
import { PERCENTILES } from './histogram.js';
import { type Limit, LIMITS } from './limits.js';

/** As the JSON report holds it; docs in bench/README.md "The JSON report". */
export interface Figure {
  readonly name: string;
  /** The server that it is of: the gateway, or a peer by its name. */
  readonly subject: string;
  /** Null where it is withheld. */
  readonly value: number | null;
  readonly unit: string;
  /** Samples, or rounds. */
  readonly n: number;
  /** The baseline, measured in the same run. */
  readonly baseline: { readonly name: string; readonly value: number } | null;
  /** The value over the baseline's. */
  readonly ratio: number | null;
  /** Such as `ratio <= 1.5`. */
  readonly target: string | null;
  /** Null where there is no target, or nothing to hold against it. */
  readonly met: boolean | null;
  readonly reliable: boolean;
  /** Why it is withheld or not to be relied upon. */
  readonly why?: string;
}

export interface FigureInput {
  readonly name: string;
  readonly subject: string;
  readonly value: number | null;
  readonly unit: string;
  readonly n: number;
  readonly baseline?: { readonly name: string; readonly value: number } | undefined;
  /** Why it cannot be relied upon. */
  readonly doubts?: readonly string[];
  readonly withheld?: string | undefined;
}

const describeLimit = ({ of, most, least }: Limit): string =>
  most === undefined ? `${of} >= ${least}` : `${of} <= ${most}`;

const holds = ({ most = Infinity, least = -Infinity }: Limit, number: number): boolean =>
  number <= most && number >= least;

const finite = (value: number | null): number | null =>
  value !== null && Number.isFinite(value) ? value : null;

/** How a figure stands against its limit, where there is one. */
function judged(
  limit: Limit | undefined,
  value: number | null,
  ratio: number | null,
): Pick<Figure, 'target' | 'met'> {
  if (limit === undefined) return { target: null, met: null };
  const held = limit.of === 'ratio' ? ratio : value;
  return { target: describeLimit(limit), met: held === null ? null : holds(limit, held) };
}

/** Only the gateway is held to the limits; peers are there to be compared with. */
export function figureOf(input: FigureInput, limits: Readonly<Record<string, Limit>> = LIMITS): Figure {
  const { name, subject, unit, n, baseline = null, doubts = [], withheld = '' } = input;
  const value = finite(input.value);
  const ratio = value === null || baseline === null ? null : finite(value / baseline.value);
  const limit = subject === 'gateway' ? limits[name] : undefined;
  const why = [...new Set([withheld, ...doubts])].filter(Boolean).join('; ');
  return {
    name,
    subject,
    value,
    unit,
    n,
    baseline,
    ratio,
    ...judged(limit, value, ratio),
    reliable: why === '',
    ...(why === '' ? {} : { why }),
  };
}

type Common = Pick<FigureInput, 'subject' | 'doubts'>;

const readingOf = (reading: Reading): Pick<FigureInput, 'value' | 'withheld'> =>
  'value' in reading ? { value: reading.value } : { value: null, withheld: reading.withheld };

/** `NAME.p50`, `NAME.p90` … and `NAME.max`, each with the baseline's where there is one. */
export function latencyFigures(
  name: string,
  latencies: Latencies,
  common: Common,
  baseline?: { readonly name: string; readonly latencies: Latencies },
  percentiles: readonly Percentile[] = PERCENTILES,
): FigureInput[] {
  const rows = percentiles.map((percentile) => ({
    name: `${name}.p${percentile}`,
    unit: 'ms',
    n: latencies.n,
    ...common,
    ...readingOf(latencies.percentile(percentile)),
    baseline: againstPercentile(baseline, percentile),
  }));
  return [...rows, { name: `${name}.max`, unit: 'ms', n: latencies.n, ...common, value: latencies.max }];
}

/** The median by the name itself, which is held to a limit, and all percentiles. */
export function medianFigures(name: string, latencies: Latencies, common: Common): FigureInput[] {
  const middle = readingOf(latencies.percentile(50));
  return [
    { name, unit: 'ms', n: latencies.n, ...common, ...middle },
    ...latencyFigures(name, latencies, common),
  ];
}

function againstPercentile(
  baseline: { readonly name: string; readonly latencies: Latencies } | undefined,
  percentile: Percentile,
): { readonly name: string; readonly value: number } | undefined {
  const reading = baseline?.latencies.percentile(percentile);
  return baseline && reading && 'value' in reading
    ? { name: baseline.name, value: reading.value }
    : undefined;
}
