/**
 * Tests of agents (docs/contract/platform.md 6.12): scenarios, suites of them, and runs. A run stores everything that it
 * needs when it is created; each of its scenarios is a row, which one process at a time plays.
 */
import type { Check, EndedBy, ScenarioDefinition, TestMode } from '../../schemas/agent-tests.js';
import type { LastTestStatus, TestStatus } from '../../agents/test-run-states.js';
import type { Listed, PageRequest } from '../page.js';
import type { SessionItem, SessionPlan } from '../sessions/sessions.js';

export interface Scenario {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  readonly definition: ScenarioDefinition;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export interface NewScenario {
  readonly agentId: string;
  readonly name: string;
  readonly definition: ScenarioDefinition;
}

export interface TestFilter {
  readonly agentId?: string;
}

/** Every method is limited to the workspace. */
export interface Scenarios {
  list(workspaceId: string, filter: TestFilter, page: PageRequest): Promise<Listed<Scenario>>;
  read(id: string, workspaceId: string): Promise<Scenario | undefined>;
  /** Undefined if there is no such agent. Errors: `conflict` if the agent has as many as it may. */
  create(scenario: NewScenario, workspaceId: string): Promise<Scenario | undefined>;
  change(
    id: string,
    workspaceId: string,
    revise: (current: Scenario) => Pick<NewScenario, 'name' | 'definition'>,
  ): Promise<Scenario | undefined>;
  /** Also takes it out of its suites; its past results stay. */
  remove(id: string, workspaceId: string): Promise<boolean>;
  /** An agent's scenarios with these ids, in that order, or all of them, oldest first. Unknown ids are skipped. */
  of(agentId: string, workspaceId: string, ids?: readonly string[]): Promise<readonly Scenario[]>;
}

export interface Suite {
  readonly id: string;
  readonly agentId: string;
  readonly name: string;
  readonly scenarioIds: readonly string[];
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

export type NewSuite = Pick<Suite, 'agentId' | 'name' | 'scenarioIds'>;

/** Errors of changes: `conflict` for a name that another suite of the agent has, or one suite too many. */
export interface Suites {
  list(workspaceId: string, filter: TestFilter, page: PageRequest): Promise<Listed<Suite>>;
  read(id: string, workspaceId: string): Promise<Suite | undefined>;
  create(suite: NewSuite, workspaceId: string): Promise<Suite | undefined>;
  change(
    id: string,
    workspaceId: string,
    change: Partial<Pick<Suite, 'name' | 'scenarioIds'>>,
  ): Promise<Suite | undefined>;
  remove(id: string, workspaceId: string): Promise<boolean>;
}

export interface CheckResult {
  readonly name: string;
  readonly type: Check['type'] | 'limit';
  readonly passed: boolean;
  /** Why it passed or failed. */
  readonly evidence: string;
}

export interface TestUsage {
  /** Requests to the language model: as the agent, as the user, as the judge. */
  readonly agentRequests: number;
  readonly userRequests: number;
  readonly judgeRequests: number;
  readonly toolCalls: number;
  readonly turns: number;
}

/** One stretch of speech in a call by voice. */
export interface TranscriptLine {
  readonly speaker: 'caller' | 'agent';
  readonly text: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly interrupts?: boolean;
  readonly backchannel?: boolean;
}

export interface TurnMeasurements {
  /** For each answered turn: from the caller's last sound to the agent's first; negative if that came before. */
  readonly answers: readonly number[];
  /** For each interruption: from its first sound to the agent's last. */
  readonly silences: readonly number[];
  /** Interruptions after which the agent did not fall silent before the caller had finished and been answered. */
  readonly unheeded: number;
  /** The longest time in which both spoke. */
  readonly talkOver: number;
  /** How often the agent began to speak while the caller did. */
  readonly interrupted: number;
  readonly unanswered: number;
}

/** A call of a scenario by voice. Times are milliseconds since the caller was connected. */
export interface VoiceTestReport {
  readonly sessionId: string;
  /** The caller’s words as intended, the agent’s as heard. */
  readonly transcript: readonly TranscriptLine[];
  readonly measured: TurnMeasurements;
}

/** The outcome of a scenario. */
export interface TestOutcome {
  readonly status: LastTestStatus;
  /** Why the test could not be carried out. */
  readonly error: string | null;
  readonly endedBy: EndedBy | null;
  readonly checks: readonly CheckResult[];
  readonly usage: TestUsage | null;
  readonly items: readonly SessionItem[];
  /** Null by text, and if there was no call. */
  readonly call: VoiceTestReport | null;
}

export interface TestResult {
  readonly scenarioId: string;
  readonly scenarioName: string;
  readonly status: TestStatus;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
  /** Null until it has ended, and if it was cancelled before it began. Lists leave the items out. */
  readonly outcome: Omit<TestOutcome, 'items'> | null;
}

export interface TestResultDetail extends TestResult {
  readonly runId: string;
  readonly definition: ScenarioDefinition;
  readonly items: readonly SessionItem[];
}

export interface TestRun {
  readonly id: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly suiteId: string | null;
  readonly suiteName: string | null;
  /** Null for the draft. */
  readonly versionNumber: number | null;
  readonly configHash: string;
  readonly status: TestStatus;
  /** Scenarios by their status. */
  readonly counts: Readonly<Partial<Record<TestStatus, number>>>;
  readonly createdAt: Date;
  readonly startedAt: Date | null;
  readonly endedAt: Date | null;
}

export interface TestRunDetail extends TestRun {
  readonly results: readonly TestResult[];
}

export interface NewTestRun {
  readonly agentId: string;
  readonly agentName: string;
  readonly suite: Pick<Suite, 'id' | 'name'> | undefined;
  readonly versionNumber: number | null;
  readonly configHash: string;
  readonly scenarios: readonly { readonly scenario: Scenario; readonly plan: SessionPlan }[];
}

export type RunRemoval = 'removed' | 'open' | 'unknown';

export interface TestRuns {
  /** Deletes the oldest finished runs beyond `LIMITS.agentTest.keptRuns`. Errors: `conflict` with too many open runs. */
  create(run: NewTestRun, workspaceId: string): Promise<TestRunDetail>;
  list(workspaceId: string, filter: TestFilter, page: PageRequest): Promise<Listed<TestRun>>;
  read(id: string, workspaceId: string): Promise<TestRunDetail | undefined>;
  result(id: string, scenarioId: string, workspaceId: string): Promise<TestResultDetail | undefined>;
  /** Cancels the tests that have not finished; a finished run stays as it is. */
  cancel(id: string, workspaceId: string): Promise<TestRunDetail | undefined>;
  remove(id: string, workspaceId: string): Promise<RunRemoval>;
}

/** One scenario of a run, for the process that plays it. */
export interface QueuedTest {
  readonly runId: string;
  readonly place: number;
  readonly workspaceId: string;
  /** How often it has been taken. Results of earlier attempts are dropped. */
  readonly attempt: number;
  readonly definition: ScenarioDefinition;
  readonly plan: SessionPlan;
  /** The agent under test. `versionNumber` is null for the draft. */
  readonly agent: { readonly id: string; readonly name: string; readonly versionNumber: number | null };
}

export interface TestQueue {
  /** A waiting scenario of these modes, or one whose process died; undefined if none may begin. */
  take(leaseMs: number, modes?: readonly TestMode[]): Promise<QueuedTest | undefined>;
  /** False if it is no longer ours: cancelled, or taken by another process. */
  renew(test: QueuedTest, leaseMs: number): Promise<boolean>;
  /** Stores the session of its call, which is deleted with the run. False if the test is no longer ours: then nothing is stored. */
  began(test: QueuedTest, sessionId: string): Promise<boolean>;
  /** Reports that the call and its session have ended; the session is deleted if its run did not wait for it. */
  over(test: QueuedTest, sessionId: string): Promise<void>;
  /** Stores the outcome. The run ends with its last scenario. */
  finish(test: QueuedTest, outcome: TestOutcome): Promise<void>;
  /** Returns it, because this process stops. It counts as not taken. */
  release(test: QueuedTest): Promise<void>;
  /** Called when scenarios may be waiting. The result ends it. */
  onQueued(listener: () => void): Promise<() => void>;
}
