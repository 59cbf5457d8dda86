/** A load on one server as it was measured: what came back, what it cost the server, and what speaks against it. */
import type { Generator } from '../generator/generator.js';
import type { Outcome, Progress, Task } from '../generator/protocol.js';
import type { Latencies } from '../histogram.js';
import { latenciesOf } from '../histogram.js';
import type { Server } from '../servers/server.js';
import { type Conditions, conditionsOf, doubtsOf, worst } from './doubts.js';
import { watchMachine } from './machine.js';
import { cpuOf, familyCpu } from './processes.js';

/** Milliseconds of CPU: of the server's first process, and of all of them. */
export interface Cost {
  readonly process: number;
  readonly family: number;
}

export interface Phase {
  /** One for each round. */
  readonly outcomes: readonly Outcome[];
  /** Undefined where the server is elsewhere. */
  readonly cost: Cost | undefined;
  readonly conditions: Conditions;
}

/** Starts to count what a server costs. */
export function meter({ pid }: Pick<Server, 'pid'>): () => Cost | undefined {
  if (pid === undefined) return () => undefined;
  const before = { process: cpuOf(pid), family: familyCpu(pid) };
  return () => ({ process: cpuOf(pid) - before.process, family: familyCpu(pid) - before.family });
}

export async function measure(
  server: Pick<Server, 'pid'>,
  generator: Generator,
  task: Task,
  onProgress?: (progress: Progress) => void,
): Promise<Phase> {
  const [elsewhere, cost] = [watchMachine(), meter(server)];
  const outcome = await generator.run(task, onProgress);
  return { outcomes: [outcome], cost: cost(), conditions: conditionsOf(outcome, elsewhere()) };
}

const addCosts = (one: Cost | undefined, other: Cost | undefined): Cost | undefined =>
  one && other && { process: one.process + other.process, family: one.family + other.family };

/** The rounds of one server as one phase. */
export const merged = (phases: readonly Phase[]): Phase => ({
  outcomes: phases.flatMap(({ outcomes }) => outcomes),
  cost: phases.map(({ cost }) => cost).reduce(addCosts),
  conditions: worst(phases.map(({ conditions }) => conditions)),
});

/** Reasons to doubt figures measured in these phases. */
export const doubtsIn = (...phases: readonly (Phase | undefined)[]): string[] =>
  doubtsOf(worst(phases.flatMap((phase) => phase?.conditions ?? [])));

export const requestsIn = ({ outcomes }: Phase): number =>
  outcomes.reduce((sum, { due }) => sum + due.length, 0);

export function failuresIn({ outcomes }: Phase): Record<string, number> {
  const failures: Record<string, number> = {};
  for (const outcome of outcomes)
    for (const [reason, count] of Object.entries(outcome.failures))
      failures[reason] = (failures[reason] ?? 0) + count;
  return failures;
}

export const failedIn = (phase: Phase): number =>
  Object.values(failuresIn(phase)).reduce((sum, count) => sum + count, 0);

export const secondsOf = ({ outcomes }: Phase): number =>
  outcomes.reduce((sum, { seconds }) => sum + seconds, 0);

/** A count needs no doubts: it holds however busy the machine was. */
export const failedFigure = (name: string, subject: string, phase: Phase) => ({
  name,
  subject,
  unit: '',
  n: requestsIn(phase),
  value: failedIn(phase),
});

/** Requests a second that were answered. */
export const throughputOf = (phase: Phase): number =>
  (requestsIn(phase) - failedIn(phase)) / secondsOf(phase);

/** The latencies of one reading, with every request that failed. */
export function latenciesIn({ outcomes }: Phase, reading: string): Latencies {
  return latenciesOf(outcomes.flatMap(({ due, readings }) => [...(readings[reading] ?? missing(due))]));
}

const missing = (due: Float64Array): Float64Array => new Float64Array(due.length).fill(Number.NaN);

/** The values of one reading of the requests that did not fail. */
export const valuesIn = ({ outcomes }: Phase, reading: string): number[] =>
  outcomes.flatMap(({ readings }) => [...(readings[reading] ?? [])].filter((value) => !Number.isNaN(value)));

/** Each subject in turn, round by round, so that the machine's drift falls on all alike. Resolves with all rounds of each. */
export async function interleaved<S>(
  subjects: readonly S[],
  rounds: number,
  run: (subject: S, round: number) => Promise<Phase>,
): Promise<Map<S, Phase>> {
  const phases = new Map<S, Phase[]>(subjects.map((subject) => [subject, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const subject of subjects) phases.get(subject)?.push(await run(subject, round));
  return new Map([...phases].map(([subject, each]) => [subject, merged(each)]));
}
