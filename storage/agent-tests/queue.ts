/**
 * The queue of scenarios to be played (contracts/ports/agents/agent-tests.ts `TestQueue`): SKIP LOCKED gives each row to one process
 * at a time. If a process dies, its rows are free again when their leases end; the row's count of attempts decides whose
 * result counts. A scenario that calls real tools, or is a call, is not played twice: its effects cannot be undone.
 */
import {
  answeringRun,
  answeringScenario,
  OPEN_TESTS,
  PLAYED_SCENARIO,
} from '../../contracts/agents/test-run-states.js';
import { target } from '../../contracts/lifecycle.js';
import { LIMITS } from '../../contracts/limits.js';
import type { QueuedTest, TestOutcome, TestQueue } from '../../contracts/ports/agents/agent-tests.js';
import { TEST_MODES, type TestMode } from '../../contracts/schemas/agent-tests.js';
import type { Database } from '../postgres/database.js';
import type { PlanContents, StoredPlan } from '../plans/plan-contents.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { oneOf } from '../postgres/states.js';

const { atOnce, attempts: MOST_ATTEMPTS } = LIMITS.agentTest;

const GIVEN_UP: TestOutcome = {
  status: 'error',
  error: 'The gateway stopped while the scenario was played',
  endedBy: null,
  checks: [],
  usage: null,
  items: [],
  call: null,
};

const PLAYING = target(PLAYED_SCENARIO, 'taken');
const RELEASED = target(PLAYED_SCENARIO, 'released');

/** As its row has it. */
type StoredTest = Omit<QueuedTest, 'plan'> & { readonly plan: StoredPlan };

/**
 * Workspaces take turns: the next scenario is one of the workspace that has the fewest running, and of those the one whose
 * last turn is longest ago.
 */
const takeNext = (sql: Sql, leaseMs: number, modes: readonly TestMode[]) => sql<StoredTest[]>`
  with turns as (
    select w.workspace_id, max(w.started_at) as last,
      count(*) filter (where w.status = 'running' and w.taken_until > now()) as running
    from agent_test_runs o join agent_test_results w on w.run_id = o.id
    where o.ended_at is null group by w.workspace_id)
  update agent_test_results t set status = ${PLAYING}, attempts = t.attempts + 1,
    started_at = coalesce(t.started_at, now()), taken_until = now() + ${leaseMs}::int * interval '1 millisecond'
  where (t.run_id, t.place) = (
    select q.run_id, q.place from agent_test_results q join turns on turns.workspace_id = q.workspace_id
    where q.status in ${oneOf(sql, answeringScenario('taken'))} and (q.taken_until is null or q.taken_until <= now())
      and q.definition ->> 'mode' = any(${modes as string[]})
      and turns.running < ${atOnce.workspace}
    order by turns.running, turns.last nulls first, q.position limit 1 for update of q skip locked)
  returning t.run_id as "runId", t.place, t.workspace_id as "workspaceId", t.attempts as attempt, t.definition, t.plan,
    (select json_build_object('id', r.agent_id, 'name', r.agent_name, 'versionNumber', r.version_number)
      from agent_test_runs r where r.id = t.run_id) as agent`;

/** Tells all processes that scenarios may begin: some were added, or others have made room. */
export const announce = (sql: Sql | Transaction) => sql`notify agent_tests`;

/** How often a scenario may begin. */
const mostAttempts = ({ definition }: StoredTest): number =>
  definition.unmocked_tools === 'call' || definition.mode === 'voice' ? 1 : MOST_ATTEMPTS;

/** In two statements: ending or cancelling a run locks the run before its scenarios. */
async function take(sql: Sql, leaseMs: number, modes: readonly TestMode[]): Promise<StoredTest | undefined> {
  const [test] = await takeNext(sql, leaseMs, modes);
  if (test)
    await sql`
      update agent_test_runs set status = ${PLAYING}, started_at = now()
      where id = ${test.runId} and status in ${oneOf(sql, answeringRun('taken'))}`;
  return test;
}

/** The condition that the row is still leased by this process. */
const isLeased = (sql: Sql | Transaction, { runId, place, attempt }: StoredTest) => sql`
  run_id = ${runId} and place = ${place} and status = ${PLAYING} and attempts = ${attempt}`;

/** Ends the run if none of its scenarios is left. The worst result becomes the run's status. */
const endRun = (tx: Transaction, runId: string) => tx`
  update agent_test_runs r set ended_at = now(), status = case
    when t.errors > 0 then 'error' when t.failures > 0 then 'failed' else 'passed' end
  from (
    select count(*) filter (where status in ${oneOf(tx, OPEN_TESTS)}) as open,
      count(*) filter (where status = 'error') as errors, count(*) filter (where status = 'failed') as failures
    from agent_test_results where run_id = ${runId}) as t
  where r.id = ${runId} and r.status in ${oneOf(tx, OPEN_TESTS)} and t.open = 0`;

const finish = (sql: Sql, test: StoredTest, { items, ...outcome }: TestOutcome): Promise<void> =>
  sql.begin(async (tx) => {
    // Locked first: if the last two scenarios end at once, the second sees the first.
    await tx`select from agent_test_runs where id = ${test.runId} for no key update`;
    await tx`
      update agent_test_results set status = ${outcome.status}, outcome = ${JSON.stringify(outcome)},
        items = ${JSON.stringify(items)}, plan = null, taken_until = null, ended_at = now()
      where ${isLeased(tx, test)}`;
    await endRun(tx, test.runId);
  }) as Promise<unknown> as Promise<void>;

/** Locks the result, to wait for a deletion that runs at the same time. */
const removeStray = (sql: Sql, { runId, place }: QueuedTest, sessionId: string): Promise<void> =>
  sql.begin(async (tx) => {
    const [kept] = await tx`
      select from agent_test_results
      where run_id = ${runId} and place = ${place} and session_id = ${sessionId} for key share`;
    if (!kept) await tx`delete from sessions where id = ${sessionId}`;
  }) as Promise<unknown> as Promise<void>;

/** Errors: `memory_exhausted`; the test is free again when its lease ends. */
async function planned({ plan, ...test }: StoredTest, plans: PlanContents): Promise<QueuedTest> {
  return {
    ...test,
    plan: await plans.planOf(plan, { agentId: test.agent.id, workspaceId: test.workspaceId }),
  };
}

export const createTestQueue = (
  { sql, events }: Pick<Database, 'sql' | 'events'>,
  plans: PlanContents,
): TestQueue => ({
  async take(leaseMs, modes = TEST_MODES) {
    for (;;) {
      const test = await take(sql, leaseMs, modes);
      if (!test) return undefined;
      if (test.attempt <= mostAttempts(test)) return planned(test, plans);
      await finish(sql, test, GIVEN_UP);
    }
  },
  async began(test, sessionId) {
    const { count } = await sql`
      update agent_test_results set session_id = ${sessionId} where ${isLeased(sql, test)}`;
    return count > 0;
  },
  over: (test, sessionId) => removeStray(sql, test, sessionId),
  async renew(test, leaseMs) {
    const { count } = await sql`
      update agent_test_results set taken_until = now() + ${leaseMs}::int * interval '1 millisecond'
      where ${isLeased(sql, test)}`;
    return count > 0;
  },
  finish: (test, outcome) => finish(sql, test, outcome),
  async release(test) {
    await sql`
      update agent_test_results set status = ${RELEASED}, attempts = attempts - 1, taken_until = null
      where ${isLeased(sql, test)}`;
    await announce(sql);
  },
  onQueued: (listener) => events.listen('agent_tests', { heard: listener, missed: listener }),
});
