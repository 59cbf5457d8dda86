/**
 * Test runs, as their workspace sees them (contracts/ports/agents/agent-tests.ts). A run's rows hold copies of everything that it
 * needs, so that changes of the agent or its scenarios do not affect it.
 */
import {
  answeringRun,
  answeringScenario,
  PLAYED_SCENARIO,
  TEST_RUN,
} from '../../contracts/agents/test-run-states.js';
import { ServiceError } from '../../contracts/errors.js';
import type { Ids } from '../../contracts/ids.js';
import { target } from '../../contracts/lifecycle.js';
import { LIMITS } from '../../contracts/limits.js';
import type {
  NewTestRun,
  RunRemoval,
  TestFilter,
  TestOutcome,
  TestResult,
  TestResultDetail,
  TestRun,
  TestRunDetail,
  TestRuns,
} from '../../contracts/ports/agents/agent-tests.js';
import type { Listed, PageRequest } from '../../contracts/ports/page.js';
import type { SessionItem } from '../../contracts/ports/sessions/sessions.js';
import type { ScenarioDefinition } from '../../contracts/schemas/agent-tests.js';
import { listed, positionAfter, wantedRows } from '../page.js';
import { type PlanContents, storedPlan } from '../plans/plan-contents.js';
import type { Sql, Transaction } from '../postgres/sql.js';
import { oneOf } from '../postgres/states.js';
import { announce } from './queue.js';

export interface TestRunParts {
  readonly sql: Sql;
  readonly ids: Ids;
  readonly plans: PlanContents;
}

const columns = (sql: Sql | Transaction) => sql`
  r.id, r.agent_id as "agentId", r.agent_name as "agentName", r.suite_id as "suiteId", r.suite_name as "suiteName",
  r.version_number as "versionNumber", r.config_hash as "configHash", r.status, r.created_at as "createdAt",
  r.started_at as "startedAt", r.ended_at as "endedAt", (
    select coalesce(jsonb_object_agg(c.status, c.count), '{}') from (
      select status, count(*)::int from agent_test_results where run_id = r.id group by status) as c
  ) as counts`;

async function list(
  sql: Sql,
  workspaceId: string,
  { agentId = '' }: TestFilter,
  page: PageRequest,
): Promise<Listed<TestRun>> {
  const where = sql`r.workspace_id = ${workspaceId} and (${agentId} = '' or r.agent_id = ${agentId})`;
  const rows = await sql<(TestRun & { position: string })[]>`
    select ${columns(sql)}, r.position::text as position from agent_test_runs r
    where ${where} and r.position < ${positionAfter(page)}
    order by r.position desc offset ${page.offset} limit ${wantedRows(page)}`;
  const [counted] = page.total
    ? await sql<{ total: number }[]>`select count(*)::int as total from agent_test_runs r where ${where}`
    : [];
  return listed(rows, page, counted?.total ?? null, ({ position: _, ...run }) => run);
}

type ResultRow = Omit<TestResult, 'outcome'> & { readonly outcome: string | null };

const resultColumns = (sql: Sql | Transaction) => sql`
  t.scenario_id as "scenarioId", t.scenario_name as "scenarioName", t.status, t.started_at as "startedAt",
  t.ended_at as "endedAt", t.outcome`;

const resultOf = ({ outcome, ...row }: ResultRow): TestResult => ({
  ...row,
  outcome: outcome === null ? null : (JSON.parse(outcome) as Omit<TestOutcome, 'items'>),
});

async function read(
  sql: Sql | Transaction,
  id: string,
  workspaceId: string,
): Promise<TestRunDetail | undefined> {
  const [run] = await sql<TestRun[]>`
    select ${columns(sql)} from agent_test_runs r where r.id = ${id} and r.workspace_id = ${workspaceId}`;
  if (!run) return undefined;
  const results = await sql<ResultRow[]>`
    select ${resultColumns(sql)} from agent_test_results t where t.run_id = ${id} order by t.place`;
  return { ...run, results: results.map(resultOf) };
}

async function readResult(
  sql: Sql,
  id: string,
  scenarioId: string,
  workspaceId: string,
): Promise<TestResultDetail | undefined> {
  const [row] = await sql<
    (ResultRow & { runId: string; definition: ScenarioDefinition; items: string | null })[]
  >`
    select ${resultColumns(sql)}, t.run_id as "runId", t.definition, t.items
    from agent_test_results t join agent_test_runs r on r.id = t.run_id
    where t.run_id = ${id} and t.scenario_id = ${scenarioId} and r.workspace_id = ${workspaceId}`;
  if (!row) return undefined;
  const { runId, definition, items, ...rest } = row;
  return { ...resultOf(rest), runId, definition, items: itemsIn(items) };
}

const itemsIn = (text: string | null): readonly SessionItem[] =>
  (JSON.parse(text ?? '[]') as (SessionItem & { createdAt: string })[]).map((item) => ({
    ...item,
    createdAt: new Date(item.createdAt),
  }));

/** Locks the workspace, so that open runs are counted one request after the other. Errors: `conflict`. */
async function checkRoom(tx: Transaction, workspaceId: string): Promise<void> {
  await tx`select from workspaces where id = ${workspaceId} for no key update`;
  const [row] = await tx<{ open: number }[]>`
    select count(*)::int as open from agent_test_runs where workspace_id = ${workspaceId} and ended_at is null`;
  const { openRuns: most } = LIMITS.agentTest;
  if ((row?.open ?? 0) >= most)
    throw new ServiceError('conflict', { message: `${most} runs are not over yet; wait, or cancel some` });
}

const dropOldest = (tx: Transaction, agentId: string) => tx`
  delete from agent_test_runs where id in (
    select id from agent_test_runs where agent_id = ${agentId}
    order by position desc offset ${LIMITS.agentTest.keptRuns}) and ended_at is not null`;

async function insertResults(
  tx: Transaction,
  runId: string,
  workspaceId: string,
  scenarios: NewTestRun['scenarios'],
): Promise<void> {
  for (const [place, { scenario, plan }] of scenarios.entries())
    await tx`
      insert into agent_test_results (run_id, place, workspace_id, scenario_id, scenario_name, definition, plan)
      values (${runId}, ${place}, ${workspaceId}, ${scenario.id}, ${scenario.name},
        ${tx.json(scenario.definition as never)}, ${tx.json(storedPlan(plan) as never)})`;
}

async function create(
  { sql, ids, plans }: TestRunParts,
  run: NewTestRun,
  workspaceId: string,
): Promise<TestRunDetail> {
  const { agentId, scenarios } = run;
  // All of them run on one content.
  for (const { plan } of scenarios.slice(0, 1)) await plans.keep(plan, { agentId, workspaceId });
  return insert(sql, ids.next('testRun'), run, workspaceId);
}

const insert = (sql: Sql, id: string, run: NewTestRun, workspaceId: string): Promise<TestRunDetail> =>
  sql.begin(async (tx) => {
    await checkRoom(tx, workspaceId);
    await tx`
      insert into agent_test_runs
        (id, workspace_id, agent_id, agent_name, suite_id, suite_name, version_number, config_hash)
      values (${id}, ${workspaceId}, ${run.agentId}, ${run.agentName}, ${run.suite?.id ?? null},
        ${run.suite?.name ?? null}, ${run.versionNumber}, ${run.configHash})`;
    await insertResults(tx, id, workspaceId, run.scenarios);
    await dropOldest(tx, run.agentId);
    await announce(tx);
    return read(tx, id, workspaceId);
  }) as Promise<TestRunDetail>;

const cancel = (sql: Sql, id: string, workspaceId: string): Promise<TestRunDetail | undefined> =>
  sql.begin(async (tx) => {
    const { count } = await tx`
      update agent_test_runs set status = ${target(TEST_RUN, 'cancelled')}, ended_at = now()
      where id = ${id} and workspace_id = ${workspaceId} and status in ${oneOf(tx, answeringRun('cancelled'))}`;
    if (count > 0) {
      await tx`
        update agent_test_results set status = ${target(PLAYED_SCENARIO, 'run_cancelled')}, plan = null, taken_until = null, ended_at = now()
        where run_id = ${id} and status in ${oneOf(tx, answeringScenario('run_cancelled'))}`;
      await announce(tx);
    }
    return read(tx, id, workspaceId);
  }) as Promise<TestRunDetail | undefined>;

async function remove(sql: Sql, id: string, workspaceId: string): Promise<RunRemoval> {
  const own = sql`id = ${id} and workspace_id = ${workspaceId}`;
  const { count } = await sql`delete from agent_test_runs where ${own} and ended_at is not null`;
  if (count > 0) return 'removed';
  const [row] = await sql`select from agent_test_runs where ${own}`;
  return row ? 'open' : 'unknown';
}

export const createTestRuns = (parts: TestRunParts): TestRuns => ({
  create: (run, workspaceId) => create(parts, run, workspaceId),
  list: (workspaceId, filter, page) => list(parts.sql, workspaceId, filter, page),
  read: (id, workspaceId) => read(parts.sql, id, workspaceId),
  result: (id, scenarioId, workspaceId) => readResult(parts.sql, id, scenarioId, workspaceId),
  cancel: (id, workspaceId) => cancel(parts.sql, id, workspaceId),
  remove: (id, workspaceId) => remove(parts.sql, id, workspaceId),
});

const AT_ONCE = 200;

/** Removes runs that ended more than `days` ago, as with sessions: they hold transcripts too. */
export const removeOldRuns = (sql: Sql, days: number) => sql`
  delete from agent_test_runs where id in (
    select id from agent_test_runs where ended_at < now() - ${days}::int * interval '1 day'
    order by ended_at limit ${AT_ONCE} for update skip locked)`;
