/** Figures of ended calls over time, summed up from their groups: what `GET /v1/agent/stats` and the console's start show. */
import type { CallGroup } from '../../../contracts/sessions/call-figures.js';
import { addedCounts, latencyQuantile } from '../../../contracts/sessions/latency-counts.js';
import { ENDED_REASONS, type EndedReason } from '../../../contracts/ports/sessions/sessions.js';
import type {
  CallFigures,
  CallStats,
  StatsFilter,
  StatsReport,
  StatsReports,
} from '../../../contracts/ports/sessions/stats.js';
import { stepsBetween } from '../../../contracts/time/steps.js';

const rounded = (amount: number): number => Math.round(amount * 1e6) / 1e6;

/** Amounts by name, added up. */
function sumsBy<Name extends string>(
  entries: readonly (readonly [Name, number])[],
): readonly [Name, number][] {
  const sums = new Map<Name, number>();
  for (const [name, amount] of entries) sums.set(name, (sums.get(name) ?? 0) + amount);
  return [...sums];
}

const hasFailed = ({ reason }: CallGroup): boolean => ENDED_REASONS[reason] === 'failed';

const failuresIn = (calls: readonly CallGroup[]): CallFigures['failures'] =>
  sumsBy<EndedReason>(calls.filter(hasFailed).map((group) => [group.reason, group.calls]))
    .map(([reason, count]) => ({ reason, calls: count }))
    .sort((one, other) => other.calls - one.calls);

const costsOf = (calls: readonly CallGroup[]): CallFigures['costs'] =>
  sumsBy(calls.map(({ currency, cost }) => [currency, cost]))
    .filter(([currency]) => currency !== '')
    .map(([currency, amount]) => ({ currency, amount: rounded(amount) }));

const SUMMED = [
  'calls',
  'answers',
  'failedAnswers',
  'tools',
  'failedTools',
  'wordsUser',
  'wordsAgent',
  'callMs',
] as const;

export function figuresOf(groups: readonly CallGroup[]): CallFigures {
  const calls = groups.filter(({ connected }) => connected);
  const sum = (name: (typeof SUMMED)[number], of = calls): number =>
    of.reduce((all, group) => all + group[name], 0);
  const latencies = calls.reduce<readonly number[]>((all, group) => addedCounts(all, group.latencies), []);
  const sums = Object.fromEntries(SUMMED.map((name) => [name, sum(name)])) as Record<
    (typeof SUMMED)[number],
    number
  >;
  return {
    ...sums,
    completed: sum(
      'calls',
      calls.filter((group) => !hasFailed(group)),
    ),
    failures: failuresIn(calls),
    notJoined: sum(
      'calls',
      groups.filter(({ connected }) => !connected),
    ),
    p50Ms: latencyQuantile(latencies, 0.5),
    p90Ms: latencyQuantile(latencies, 0.9),
    costs: costsOf(calls),
  };
}

export function reportOf(groups: readonly CallGroup[], { from, to, step }: StatsFilter): StatsReport {
  const byStep = new Map<number, CallGroup[]>();
  for (const group of groups) {
    const at = group.at.getTime();
    byStep.set(at, [...(byStep.get(at) ?? []), group]);
  }
  const points = stepsBetween(step, from, to).map((at) => ({
    at,
    ...figuresOf(byStep.get(at.getTime()) ?? []),
  }));
  return { total: figuresOf(groups), points };
}

export const createStatsReports = (stats: CallStats): StatsReports => ({
  read: async (workspaceId, filter) => reportOf(await stats.groups(workspaceId, filter), filter),
});
