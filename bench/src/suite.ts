/** Runs scenarios, one by one, and makes the report. */
import { describeMachine } from './measure/machine.js';
import type { Options } from './options.js';
import { type Report, type ScenarioReport, VERSION } from './report/report.js';
import { Context } from './scenarios/context.js';
import { searchScenario } from './scenarios/objective-search.js';
import type { Scenario } from './scenarios/scenario.js';

/**
 * The scenarios whose name is one of the arguments, else those whose name holds one; without any all but those only by name. Kinds of a
 * scenario that is named are no parts of others' names.
 */
export function chooseScenarios(all: readonly Scenario[], names: readonly string[]): Scenario[] {
  const holds = (name: string, part: string): boolean =>
    all.some((each) => each.name === part) ? name === part : name.includes(part);
  const kinds = all.filter(({ name }) => names.includes(name)).flatMap(({ kinds: own = [] }) => own);
  const parts = names.filter((name) => !kinds.includes(name));
  return all.filter(({ name, onlyByName = false }) =>
    names.length === 0 ? !onlyByName : parts.some((part) => holds(name, part)),
  );
}

/** Of the names those that are kinds of the scenario. */
export const chooseKinds = ({ kinds = [] }: Pick<Scenario, 'kinds'>, names: readonly string[]): string[] =>
  kinds.filter((kind) => names.includes(kind));

/** The names that name neither a scenario nor a kind of one that is chosen. */
export const strayNames = (
  all: readonly Scenario[],
  chosen: readonly Scenario[],
  names: readonly string[],
): string[] =>
  names.filter(
    (name) =>
      chooseScenarios(all, [name]).length === 0 && chosen.every(({ kinds = [] }) => !kinds.includes(name)),
  );

const skipReason = (
  { isLocal, search, doors = [] }: Scenario,
  { url, objectives, door }: Options,
): string | undefined => {
  if (isLocal && url !== undefined) return 'it needs a gateway of its own, which --url is not';
  if (door !== undefined && !doors.includes(door)) return '--door: its callers come by no such door';
  if (door !== undefined && objectives.length > 0) return '--slo: the calls of --door are no load to search';
  if (objectives.length > 0 && search === undefined) return '--slo: it has no load to search';
  return undefined;
};

/** Rejects once the run is interrupted. */
const untilInterrupted = (interruption: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const stop = (): void => reject(new Error('interrupted'));
    if (interruption.aborted) stop();
    else interruption.addEventListener('abort', stop, { once: true });
  });

async function runScenario(
  scenario: Scenario,
  options: Options,
  say: (text: string) => void,
  interruption: AbortSignal,
): Promise<ScenarioReport> {
  const { name, title } = scenario;
  const parameters = options.isQuick ? scenario.parameters.quick : scenario.parameters.full;
  const context = new Context(name, options, say, chooseKinds(scenario, options.names));
  const begun = performance.now();
  const skipped = skipReason(scenario, options);
  let error: string | undefined;
  const measure = async (): Promise<void> => {
    if (skipped !== undefined) return;
    if (options.objectives.length > 0) await searchScenario(context, scenario, parameters);
    else await scenario.run(context, parameters);
  };
  try {
    await Promise.race([measure(), untilInterrupted(interruption)]);
  } catch (thrown) {
    error = thrown instanceof Error ? thrown.message : String(thrown);
  } finally {
    await context.close();
  }
  const seconds = (performance.now() - begun) / 1000;
  const { figures, failures, charts, clips, tables, remarks } = context;
  const why = { ...(error === undefined ? {} : { error }), ...(skipped === undefined ? {} : { skipped }) };
  const told = {
    ...(clips.length > 0 && { clips }),
    ...(tables.length > 0 && { tables }),
    ...(remarks.length > 0 && { remarks }),
  };
  return { name, title, parameters, seconds, figures, failures, charts, ...told, ...why };
}

/** Addresses and keys are no part of it: two runs of one server may be compared wherever it was. */
const runOf = ({ url, peers, objectives, ...options }: Options) => ({
  server: url === undefined ? 'started here' : 'given',
  peers: peers.map(({ name }) => name),
  model: options.model,
  voice: options.voice,
  rate: options.rate ?? null,
  arrivals: options.arrivals,
  text: options.text ?? null,
  minutes: options.minutes ?? null,
  pcmRate: options.pcmRate ?? null,
  objectives: objectives.map(({ text: objective }) => objective),
  quick: options.isQuick,
  // Absent where they are not so: a run may be compared with one of before there was a choice.
  ...(options.isTuning && { list: 'tuning' }),
  ...(options.door !== undefined && { door: options.door }),
  ...(options.rounds !== undefined && { rounds: options.rounds }),
});

/**
 * `say` shows progress: the scenario's name, and what it does. An interruption ends the scenario that runs, with all that it
 * started; the report has what was measured until then.
 */
export async function runSuite(
  chosen: readonly Scenario[],
  options: Options,
  say: (scenario: string, text: string) => void,
  interruption: AbortSignal = new AbortController().signal,
): Promise<Report> {
  const scenarios: ScenarioReport[] = [];
  for (const scenario of chosen) {
    if (interruption.aborted) break;
    const tell = (text: string): void => say(scenario.name, text);
    scenarios.push(await runScenario(scenario, options, tell, interruption));
  }
  return {
    version: VERSION,
    at: new Date().toISOString(),
    machine: describeMachine(),
    run: runOf(options),
    figures: scenarios.flatMap(({ figures }) => figures),
    scenarios,
  };
}
