/**
 * The lifecycles of a test run and of each of its scenarios (ops/adr/0032-tests-of-agents.md;
 * ops/adr/0058-tables-for-rows.md). Which process plays a scenario is a lease in its row, and no state.
 */
import { answering, type Lifecycle, to } from '../lifecycle.js';

const OPEN = ['queued', 'running'] as const;

export const TEST_STATUSES = [...OPEN, 'passed', 'failed', 'error', 'cancelled'] as const;
/** `error`: the test could not be carried out. */
export type TestStatus = (typeof TEST_STATUSES)[number];

/** Of a scenario, and of a run: the worst of its scenarios. */
export type LastTestStatus = Exclude<TestStatus, 'queued' | 'running'>;

export const OPEN_TESTS: readonly TestStatus[] = OPEN;

/** What is reported about a scenario. */
export const SCENARIO_REPORTS = [
  /** A process begins to play it: for the first time, or after the lease of another one. */
  'taken',
  'passed',
  'failed',
  'error',
  /** The player found that it was cancelled. */
  'cancelled',
  /** The process that plays it stops: another one begins anew. */
  'released',
  'run_cancelled',
] as const;
export type ScenarioReport = (typeof SCENARIO_REPORTS)[number];

export const PLAYED_SCENARIO: Lifecycle<TestStatus, ScenarioReport> = {
  queued: { taken: to('running'), run_cancelled: to('cancelled') },
  running: {
    taken: to('running'),
    passed: to('passed'),
    failed: to('failed'),
    error: to('error'),
    cancelled: to('cancelled'),
    released: to('queued'),
    run_cancelled: to('cancelled'),
  },
  passed: {},
  failed: {},
  error: {},
  cancelled: {},
};

/** What is reported about a run. */
export const RUN_REPORTS = [
  /** The first of its scenarios begins. */
  'taken',
  /** None of its scenarios is left, and this is the worst result of them. */
  'passed',
  'failed',
  'error',
  'cancelled',
] as const;
export type RunReport = (typeof RUN_REPORTS)[number];

const RUN_ENDS = {
  passed: to('passed'),
  failed: to('failed'),
  error: to('error'),
  cancelled: to('cancelled'),
} as const;

export const TEST_RUN: Lifecycle<TestStatus, RunReport> = {
  queued: { taken: to('running'), ...RUN_ENDS },
  running: RUN_ENDS,
  passed: {},
  failed: {},
  error: {},
  cancelled: {},
};

/** The states in which a report does something, for SQL. */
export const answeringScenario = (report: ScenarioReport): readonly TestStatus[] =>
  answering(report, PLAYED_SCENARIO);
export const answeringRun = (report: RunReport): readonly TestStatus[] => answering(report, TEST_RUN);
