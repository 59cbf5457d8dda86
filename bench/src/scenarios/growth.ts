/**
 * What a unit of load costs as there is more of it: 1, 2, 4 … times the first load, until requests fail or come late. Work that grows
 * faster than linearly shows as a cost that rises.
 */
import { SCENARIO_KINDS, type Searchable } from './growth-kinds.js';
import { doubtsIn, failedIn, latenciesIn, type Phase, requestsIn } from '../measure/phase.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';

interface Parameters {
  /** The least requests of a step. */
  readonly requests: number;
  /** How often the load is doubled at most. */
  readonly doublings: number;
}

/** 95th percentiles need so many samples. */
const FULL: Parameters = { requests: 200, doublings: 12 };
const QUICK: Parameters = { requests: 20, doublings: 1 };

/** Of the requests; beyond it the curve ends. */
const MOST_FAILED = 0.01;
/** A p95 of so many times the least one is behind the knee; of so many, it has come too late. */
const [KNEE, LATE] = [2, 50];
/** A unit that costs so many times the least one before it: the slope has turned. The same as the limits of `growth.KIND.rise`. */
const TURNED = 1.25;

interface Step {
  readonly load: number;
  readonly phase: Phase;
  /** Milliseconds of CPU of all processes, for a request or for a second of what stays open. */
  readonly cost: number;
  /** Milliseconds; undefined where there are too few samples. */
  readonly p95: number | undefined;
  /** Of what was asked, or of the readings where these are fewer. */
  readonly failed: number;
}

function stepOf(load: number, phase: Phase, { reading, work }: Searchable): Step {
  const latencies = latenciesIn(phase, reading);
  const p95 = latencies.percentile(95);
  return {
    load,
    phase,
    cost: (phase.cost?.family ?? Number.NaN) / work(phase, load),
    p95: 'value' in p95 ? p95.value : undefined,
    failed: Math.max(failedIn(phase) / requestsIn(phase), latencies.failed / latencies.n),
  };
}

const lowest = (values: readonly (number | undefined)[]): number =>
  Math.min(...values.filter((value) => value !== undefined));

/** Whether it fails, or comes too late beside the steps before. */
export const isBroken = (
  { failed, p95 = 0 }: Pick<Step, 'failed' | 'p95'>,
  before: readonly Pick<Step, 'p95'>[],
): boolean => failed > MOST_FAILED || p95 > LATE * lowest(before.map((step) => step.p95));

/** The greatest cost over the least of all steps before it; null where there are fewer than two. */
export function riseOf(costs: readonly number[]): number | null {
  const rises = costs.slice(1).map((cost, at) => cost / lowest(costs.slice(0, at + 1)));
  return rises.length === 0 ? null : Math.max(...rises);
}

/** Where costs begin to rise faster than linearly: the index of the first such step; -1 if there is none. */
export const turnOf = (costs: readonly number[]): number =>
  costs.findIndex((cost, at) => at > 0 && cost > TURNED * lowest(costs.slice(0, at)));

async function curveOf(
  context: Context,
  server: Server,
  searchable: Searchable,
  { requests, doublings }: Parameters,
): Promise<Step[]> {
  const { search, parameters: all } = searchable;
  const attempt = await search.prepare(context, context.options.isQuick ? all.quick : all.full, server);
  const steps: Step[] = [];
  for (let doubled = 0; doubled <= doublings; doubled += 1) {
    const load = search.first * 2 ** doubled;
    if (load > search.most) break;
    const step = stepOf(load, await attempt(load, requests), searchable);
    if (isBroken(step, steps)) break;
    steps.push(step);
  }
  return steps;
}

/** The first load whose p95 is behind the knee. */
function kneeOf(steps: readonly Step[]): number | undefined {
  const least = lowest(steps.map(({ p95 }) => p95));
  return steps.find(({ p95 }) => p95 !== undefined && p95 > KNEE * least)?.load;
}

function report(context: Context, kind: string, unit: string, steps: readonly Step[]): void {
  const common = { subject: 'gateway', doubts: doubtsIn(...steps.map(({ phase }) => phase)) };
  const name = `growth.${kind}`;
  const last = steps.at(-1);
  for (const { load, phase, cost, p95 } of steps) {
    const one = { subject: 'gateway', n: requestsIn(phase), doubts: doubtsIn(phase) };
    context.add({ ...one, name: `${name}.${load}.cost`, unit: 'ms', value: cost });
    if (p95 !== undefined) context.add({ ...one, name: `${name}.${load}.p95`, unit: 'ms', value: p95 });
  }
  const n = steps.length;
  const costs = steps.map(({ cost }) => cost);
  const at = (point: string, load: number | undefined) => ({
    ...{ ...common, name: `${name}.${point}`, n, unit, value: load ?? null },
    withheld: load === undefined ? 'no load was behind it' : '',
  });
  context.add(
    {
      ...common,
      name: `${name}.rise`,
      n,
      unit: '×',
      value: riseOf(costs),
      withheld: last === undefined ? 'not even the first load held' : '',
    },
    { ...common, name: `${name}.most`, n, unit, value: last?.load ?? 0 },
    at('knee', kneeOf(steps)),
    at('turn', steps[turnOf(costs)]?.load),
  );
  const points = (of: (step: Step) => number | undefined) =>
    steps.flatMap((step) => {
      const value = of(step);
      return value === undefined ? [] : [[step.load, value] as const];
    });
  const x = { label: unit, log: true };
  context.chart(
    {
      title: `${kind}: CPU of a unit of load`,
      kind: 'curve',
      x,
      y: { label: 'ms' },
      lines: [{ name: 'cost', points: points(({ cost }) => cost) }],
    },
    {
      title: `${kind}: p95`,
      kind: 'curve',
      x,
      y: { label: 'ms', log: true },
      lines: [{ name: 'p95', points: points(({ p95 }) => p95) }],
    },
  );
}

export default scenario<Parameters>({
  name: 'growth',
  title: 'What a unit of load costs, and how late it is served, as the load doubles',
  isLocal: true,
  onlyByName: true,
  kinds: Object.keys(SCENARIO_KINDS).map((kind) => `growth-${kind}`),
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    for (const [kind, searchable] of Object.entries(SCENARIO_KINDS)) {
      if (context.kinds.length > 0 && !context.kinds.includes(`growth-${kind}`)) continue;
      const server = await context.start((await searchable.environment?.(context)) ?? {});
      report(context, kind, searchable.search.unit, await curveOf(context, server, searchable, parameters));
      await server.stop();
    }
  },
});
