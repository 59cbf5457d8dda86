/** Runs as clients read them, and the comparison of two runs. */
import type {
  CheckResult,
  TestResult,
  TestResultDetail,
  TestRun,
  TestRunDetail,
} from '../../../../contracts/ports/agents/agent-tests.js';
import { itemOf } from '../sessions/entity.js';
import type { CHANGES } from './run-schema.js';

const moment = (date: Date | null): string | null => date?.toISOString() ?? null;

export const runRow = (run: TestRun): object => ({
  run_id: run.id,
  agent_id: run.agentId,
  agent_name: run.agentName,
  suite_id: run.suiteId,
  suite_name: run.suiteName,
  version_number: run.versionNumber,
  config_hash: run.configHash,
  status: run.status,
  counts: run.counts,
  created_at: moment(run.createdAt),
  started_at: moment(run.startedAt),
  ended_at: moment(run.endedAt),
});

const usageOf = ({ outcome }: TestResult): object | null => {
  const usage = outcome?.usage;
  return usage
    ? {
        agent_requests: usage.agentRequests,
        user_requests: usage.userRequests,
        judge_requests: usage.judgeRequests,
        tool_calls: usage.toolCalls,
        turns: usage.turns,
      }
    : null;
};

const callOf = ({ outcome }: TestResult): object | null => {
  const call = outcome?.call;
  return call
    ? {
        session_id: call.sessionId,
        answers_ms: call.measured.answers,
        silences_ms: call.measured.silences,
        talk_over_ms: call.measured.talkOver,
        interrupted: call.measured.interrupted,
        unanswered: call.measured.unanswered,
      }
    : null;
};

const resultRow = (result: TestResult): object => ({
  scenario_id: result.scenarioId,
  scenario_name: result.scenarioName,
  status: result.status,
  error: result.outcome?.error ?? null,
  ended_by: result.outcome?.endedBy ?? null,
  checks: result.outcome?.checks ?? [],
  usage: usageOf(result),
  call: callOf(result),
  started_at: moment(result.startedAt),
  ended_at: moment(result.endedAt),
});

export const runEntity = (run: TestRunDetail): object => ({
  ...runRow(run),
  results: run.results.map(resultRow),
});

export const resultEntity = (result: TestResultDetail): object => ({
  run_id: result.runId,
  ...resultRow(result),
  scenario: result.definition,
  items: result.items.map(itemOf),
  transcript: (result.outcome?.call?.transcript ?? []).map(({ speaker, text, fromMs, toMs, ...how }) => ({
    speaker,
    text,
    from_ms: fromMs,
    to_ms: toMs,
    ...how,
  })),
});

type Change = (typeof CHANGES)[number];
type Pair = readonly [base: TestResult | undefined, other: TestResult | undefined];

/** Whether each check passed, by its name; of several with one name the last counts. */
const heldBy = (result: TestResult | undefined): ReadonlyMap<string, boolean> =>
  new Map((result?.outcome?.checks ?? []).map(({ name, passed }: CheckResult) => [name, passed]));

function differing([base, other]: Pair): readonly object[] {
  const [before, after] = [heldBy(base), heldBy(other)];
  return [...new Set([...before.keys(), ...after.keys()])]
    .map((name) => ({ name, base: before.get(name) ?? null, other: after.get(name) ?? null }))
    .filter((check) => check.base !== check.other);
}

function changeOf(pair: Pair, checks: readonly object[]): Change {
  const [base, other] = pair;
  if (!base) return 'added';
  if (!other) return 'removed';
  if (base.status !== other.status) {
    if (other.status === 'passed') return 'fixed';
    return base.status === 'passed' ? 'broken' : 'changed';
  }
  return checks.length > 0 ? 'changed' : 'same';
}

function comparedRow(pair: Pair): object {
  const [base, other] = pair;
  const shown = other ?? base;
  const checks = differing(pair);
  return {
    scenario_id: shown?.scenarioId,
    scenario_name: shown?.scenarioName,
    change: changeOf(pair, checks),
    base: base?.status ?? null,
    other: other?.status ?? null,
    checks,
    calls: { base: base ? callOf(base) : null, other: other ? callOf(other) : null },
  };
}

/** Compares by scenario: first those of the base in their order, then new ones. */
export function comparison(base: TestRunDetail, other: TestRunDetail): object {
  const ids = [...base.results, ...other.results].map(({ scenarioId }) => scenarioId);
  const of = ({ results }: TestRunDetail, id: string) => results.find(({ scenarioId }) => scenarioId === id);
  return {
    base: runRow(base),
    other: runRow(other),
    scenarios: [...new Set(ids)].map((id) => comparedRow([of(base, id), of(other, id)])),
  };
}
