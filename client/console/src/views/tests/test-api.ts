/** Tests of agents as the gateway sends them (docs/agent-tests.md). */
import { ask } from '../../api.js';
import { allRows } from '../../lists.js';

const TESTS = 'v1/agent/tests';

export const scenarioPath = (id: string): string => `${TESTS}/scenarios/${encodeURIComponent(id)}`;
export const suitePath = (id: string): string => `${TESTS}/suites/${encodeURIComponent(id)}`;
export const runPath = (id: string): string => `${TESTS}/runs/${encodeURIComponent(id)}`;

/** Path of the list of an agent's scenarios, suites or runs; more query parameters may be appended. */
export const listPath = (plural: string, agent: string): string =>
  `${TESTS}/${plural}?page_size=50&agent_id=${encodeURIComponent(agent)}`;

export type Scenario = Readonly<Record<string, unknown>> & {
  readonly scenario_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly mode: string;
  readonly checks: readonly object[];
  readonly updated_at: string;
};

export type Suite = Readonly<Record<string, unknown>> & {
  readonly suite_id: string;
  readonly agent_id: string;
  readonly name: string;
  readonly scenario_ids: readonly string[];
  readonly updated_at: string;
};

export interface CheckResult {
  readonly name: string;
  readonly type: string;
  readonly passed: boolean;
  readonly evidence: string;
}

export interface CallFigures {
  readonly session_id: string;
  readonly answers_ms: readonly number[];
  readonly silences_ms: readonly number[];
  readonly talk_over_ms: number;
  readonly interrupted: number;
  readonly unanswered: number;
}

export interface Result {
  readonly scenario_id: string;
  readonly scenario_name: string;
  readonly status: string;
  readonly error: string | null;
  readonly ended_by: string | null;
  readonly checks: readonly CheckResult[];
  readonly usage: Readonly<Record<string, number>> | null;
  readonly call: CallFigures | null;
  readonly started_at: string | null;
  readonly ended_at: string | null;
}

export interface Item {
  readonly type: string;
  readonly role?: string;
  readonly content?: string;
  readonly tool_name?: string;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string | null;
}

export interface Heard {
  readonly speaker: 'caller' | 'agent';
  readonly text: string;
  readonly from_ms: number;
}

export interface WholeResult extends Result {
  readonly items: readonly Item[];
  readonly transcript: readonly Heard[];
}

export interface RunRow {
  readonly run_id: string;
  readonly agent_id: string;
  readonly agent_name: string;
  readonly suite_id: string | null;
  readonly suite_name: string | null;
  readonly version_number: number | null;
  readonly status: string;
  readonly counts: Readonly<Record<string, number>>;
  readonly created_at: string;
  readonly ended_at: string | null;
}

export interface Run extends RunRow {
  readonly results: readonly Result[];
}

export interface Compared {
  readonly scenario_id: string;
  readonly scenario_name: string;
  readonly change: string;
  readonly base: string | null;
  readonly other: string | null;
  readonly checks: readonly {
    readonly name: string;
    readonly base: boolean | null;
    readonly other: boolean | null;
  }[];
  readonly calls: { readonly base: CallFigures | null; readonly other: CallFigures | null };
}

export interface Comparison {
  readonly base: RunRow;
  readonly other: RunRow;
  readonly scenarios: readonly Compared[];
}

export const readResult = (run: string, scenario: string, signal: AbortSignal): Promise<WholeResult> =>
  ask<WholeResult>(`${runPath(run)}/results/${encodeURIComponent(scenario)}`, { signal });

export const compare = (base: string, other: string, signal: AbortSignal): Promise<Comparison> =>
  ask<Comparison>(`${TESTS}/runs/compare?${new URLSearchParams({ base, other }).toString()}`, { signal });

export const createScenario = (body: object, signal: AbortSignal): Promise<Scenario> =>
  ask<Scenario>(`${TESTS}/scenarios`, { body, signal });

export const allScenarios = (agent: string, signal: AbortSignal): Promise<readonly Scenario[]> =>
  allRows<Scenario>(listPath('scenarios', agent), 'scenarios', signal);

export const createSuite = (body: object, signal: AbortSignal): Promise<Suite> =>
  ask<Suite>(`${TESTS}/suites`, { body, signal });

export const startRun = (body: object, signal: AbortSignal): Promise<Run> =>
  ask<Run>(`${TESTS}/runs`, { body, signal });

/** Whether a run or result is queued or running, and so changes by itself. */
export const goesOn = ({ ended_at: ended }: { readonly ended_at: string | null }): boolean => ended === null;
