/** `--slo`: the greatest load of a scenario at which the objectives hold, of each server, with the knee. */
import { doubtsIn, latenciesIn, type Phase, secondsOf } from '../measure/phase.js';
import { meets, type Objective, samplesFor } from '../objectives.js';
import type { Chart } from '../report/report.js';
import { searchLoad } from '../search.js';
import type { Server } from '../servers/server.js';
import type { Context } from './context.js';
import type { Scenario, Search } from './scenario.js';

const REFINEMENTS = 4;

const coresOf = (phase: Phase): number | undefined =>
  phase.cost && phase.cost.family / 1000 / secondsOf(phase);

/** The first objective's reading at each load. */
function kneeChart(
  name: string,
  unit: string,
  objectives: readonly Objective[],
  phases: ReadonlyMap<number, Phase>,
): Chart[] {
  const [objective] = objectives.filter((each) => 'percentile' in each);
  if (objective === undefined) return [];
  const { reading, percentile, mostMs } = objective;
  const points = [...phases]
    .sort(([one], [other]) => one - other)
    .flatMap(([load, phase]) => {
      const value = latenciesIn(phase, reading).at(percentile);
      return value === undefined ? [] : [[load, value] as const];
    });
  const lines = [{ name: `${reading}.p${percentile}`, points }];
  return [
    {
      title: `${name}: the knee`,
      kind: 'curve',
      x: { label: unit },
      y: { label: 'ms', log: true },
      lines,
      limit: mostMs,
    },
  ];
}

async function searchServer(
  context: Context,
  search: Search<unknown>,
  parameters: unknown,
  server: Server,
): Promise<void> {
  const { objectives } = context.options;
  const attempt = await search.prepare(context, parameters, server);
  const requests = Math.ceil(samplesFor(objectives) * 1.2);
  const phases = new Map<number, Phase>();
  const found = await searchLoad({ ...search, refinements: REFINEMENTS }, async (load) => {
    const phase = await attempt(load, requests);
    phases.set(load, phase);
    return objectives.every((objective) => meets(phase, objective));
  });
  const best = phases.get(found.load);
  const name = `${context.name}.slo`;
  const common = {
    subject: server.name,
    n: found.steps.length,
    doubts: [
      ...(found.broke ? [] : ['no load was found at which the objectives break']),
      ...doubtsIn(...phases.values()),
    ],
  };
  context.add({ name: `${name}.load`, unit: search.unit, value: found.load, ...common });
  const cores = best && coresOf(best);
  if (cores !== undefined)
    context.add({
      name: `${name}.per_core`,
      unit: `${search.unit} a core`,
      value: found.load / cores,
      ...common,
    });
  context.chart(...kneeChart(`${context.name}, ${server.name}`, search.unit, objectives, phases));
}

export async function searchScenario(
  context: Context,
  { search, environment = () => ({}) }: Scenario,
  parameters: unknown,
): Promise<void> {
  if (search === undefined) throw new Error('it has no load to search');
  const servers = [await context.server(await environment(context)), ...(await context.peers())];
  for (const server of servers) await searchServer(context, search, parameters, server);
}
