/**
 * The queue of tests in the database (storage/agent-tests): which tests may begin, tests of a process that has died, and
 * stored results. No gateway takes tests meanwhile.
 */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { NewTestRun, QueuedTest, TestOutcome } from '../../../contracts/ports/agents/agent-tests.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { reviseScenario, type ScenarioDefinition } from '../../../contracts/schemas/agent-tests.js';
import { createTestQueue } from '../../../storage/agent-tests/queue.js';
import { createTestRuns } from '../../../storage/agent-tests/runs.js';
import { removeOld } from '../../../storage/sessions/sweep.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';
import { plansOn } from '../../fixtures/platform/plans.js';

const { agentTest: limits } = LIMITS;
const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;
const { plans } = plansOn(sql);
const runs = createTestRuns({ sql, ids: randomIds, plans });
const queue = createTestQueue(database, plans);
const LEASE = 60_000;

const plan = { config: {}, tools: [] } as unknown as SessionPlan;
const PASSED: TestOutcome = {
  ...{ status: 'passed', error: null, endedBy: 'user', checks: [], usage: null, items: [], call: null },
};
const FAILED: TestOutcome = { ...PASSED, status: 'failed' };

/** A new workspace with one agent. */
async function workspace(): Promise<{ workspaceId: string; agentId: string }> {
  const [workspaceId, agentId] = [randomIds.next('workspace'), randomIds.next('agent')];
  await sql`insert into workspaces (id, name) values (${workspaceId}, 'Own')`;
  await sql`insert into agents (id, workspace_id, name, description, config) values (${agentId}, ${workspaceId}, 'A', '', '{}')`;
  return { workspaceId, agentId };
}

const runOf = (agentId: string, count: number, more: Partial<ScenarioDefinition> = {}): NewTestRun => ({
  ...{ agentId, agentName: 'A', suite: undefined, versionNumber: null, configHash: '' },
  scenarios: Array.from({ length: count }, (_, index) => ({
    plan,
    scenario: {
      ...{ id: `scn_${index}`, agentId, name: `${index}`, createdAt: new Date(), updatedAt: new Date() },
      definition: { ...reviseScenario(undefined, { user: { lines: ['a'] } }), ...more },
    },
  })),
});

/** Takes all tests that may begin now. */
async function takeAll(): Promise<QueuedTest[]> {
  const taken: QueuedTest[] = [];
  for (let test; (test = await queue.take(LEASE));) taken.push(test);
  return taken;
}

/** Ends the leases of running tests, as if their processes had died long ago. */
const expire = () =>
  sql`update agent_test_results set taken_until = now() - interval '1 second' where status = 'running'`;

t.afterEach(async () => {
  await sql`delete from agent_test_runs`;
});

t.test(
  'each scenario is taken by one process, at most four of a workspace at once, and the last ends the run',
  async (t) => {
    const { workspaceId, agentId } = await workspace();
    const { id } = await runs.create(runOf(agentId, limits.atOnce.workspace + 1), workspaceId);
    const first = await takeAll();
    t.equal(first.length, limits.atOnce.workspace);
    t.same(new Set(first.map(({ place }) => place)).size, first.length);
    const other = await workspace();
    await runs.create(runOf(other.agentId, 1), other.workspaceId);
    exactly(t, await takeAll(), [{ workspaceId: other.workspaceId }], 'another workspace does not wait');
    exactly(t, await runs.read(id, workspaceId), { status: 'running', counts: { running: 4, queued: 1 } });
    await queue.finish(first[0]!, FAILED);
    const [last] = await takeAll();
    for (const test of [...first.slice(1), last!]) await queue.finish(test, PASSED);
    const over = await runs.read(id, workspaceId);
    exactly(t, over, { status: 'failed', counts: { failed: 1, passed: 4 } });
    t.ok(over?.endedAt);
    exactly(t, await sql`select count(plan)::int as plans from agent_test_results where run_id = ${id}`, [
      { plans: 0 },
    ]);
  },
);

t.test(
  'a scenario of a dead process goes to another one, once; a late result of the first is dropped',
  async (t) => {
    const { workspaceId, agentId } = await workspace();
    const { id } = await runs.create(runOf(agentId, 1), workspaceId);
    const [dead] = await takeAll();
    t.same(await takeAll(), [], 'while its lease lasts it is nobody else’s');
    t.ok(await queue.renew(dead!, LEASE));
    await expire();
    const [second] = await takeAll();
    exactly(t, second, { runId: id, attempt: limits.attempts });
    t.notOk(await queue.renew(dead!, LEASE));
    await queue.finish(dead!, PASSED);
    exactly(t, await runs.read(id, workspaceId), { status: 'running' });
    await expire();
    t.same(await takeAll(), []);
    exactly(t, await runs.read(id, workspaceId), {
      status: 'error',
      results: [{ status: 'error', outcome: { error: 'The gateway stopped while the scenario was played' } }],
    });
  },
);

t.test('scenarios that may begin are announced to every process', async (t) => {
  const { workspaceId, agentId } = await workspace();
  let announced = 0;
  const stop = await createTestQueue(await postgres.open(), plans).onQueued(() => (announced += 1));
  t.teardown(stop);
  const cases: Readonly<Record<string, (test?: QueuedTest) => Promise<unknown>>> = {
    added: () => runs.create(runOf(agentId, 1), workspaceId),
    'given back': (test) => queue.release(test!),
    'that got room': (test) => runs.cancel(test!.runId, workspaceId),
  };
  for (const [which, work] of Object.entries(cases)) {
    const [test] = await takeAll();
    const before = announced;
    await work(test);
    await until(`scenarios are announced: ${which}`, () => announced > before);
  }
  t.equal(announced, 4, 'at the beginning some may have been missed');
});

t.test('a test that calls real tools is not played twice', async (t) => {
  const { workspaceId, agentId } = await workspace();
  const { id } = await runs.create(runOf(agentId, 1, { unmocked_tools: 'call' }), workspaceId);
  await takeAll();
  await expire();
  t.same(await takeAll(), []);
  exactly(t, await runs.read(id, workspaceId), { status: 'error' });
});

t.test('a call is not played twice, and only by who takes calls', async (t) => {
  const { workspaceId, agentId } = await workspace();
  const { id } = await runs.create(runOf(agentId, 1, { mode: 'voice' }), workspaceId);
  t.equal(await queue.take(LEASE, ['text']), undefined);
  exactly(t, await takeAll(), [{ agent: { id: agentId, name: 'A', versionNumber: null } }]);
  await expire();
  t.same(await takeAll(), []);
  exactly(t, await runs.read(id, workspaceId), { status: 'error' });
});

t.test(
  'the session of a call is deleted with its run, or when it ends if the run was deleted before',
  async (t) => {
    const { workspaceId, agentId } = await workspace();
    const session = async (id: string, ended: boolean): Promise<string> => {
      await sql`
      insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, status, timezone, metadata, overrides,
        max_duration_seconds, expires_at, ended_at)
      values (${id}, ${workspaceId}, ${agentId}, 'A', '', 'dashboard', ${ended ? 'completed' : 'active'}, 'UTC', '{}', '{}',
        600, now(), ${ended ? new Date() : null})`;
      return id;
    };
    const kept = async () => (await sql`select id from sessions where workspace_id = ${workspaceId}`).length;
    const called = async (ended: boolean) => {
      const { id } = await runs.create(runOf(agentId, 1, { mode: 'voice' }), workspaceId);
      const [test] = await takeAll();
      const sessionId = await session(randomIds.next('session'), ended);
      t.ok(await queue.began(test!, sessionId));
      return { id, test: test!, sessionId };
    };
    const over = await called(true);
    await queue.over(over.test, over.sessionId);
    t.equal(await kept(), 1, 'its run has it');
    await queue.finish(over.test, PASSED);
    t.equal(await runs.remove(over.id, workspaceId), 'removed');
    t.equal(await kept(), 0);

    const live = await called(false);
    await runs.cancel(live.id, workspaceId);
    t.equal(await runs.remove(live.id, workspaceId), 'removed');
    t.equal(await kept(), 1, 'a call that is not over is not torn out');
    await sql`update sessions set status = 'completed', ended_at = now() where id = ${live.sessionId}`;
    await queue.over(live.test, live.sessionId);
    t.equal(await kept(), 0);

    const early = await called(false);
    await runs.cancel(early.id, workspaceId);
    const stray = await session(randomIds.next('session'), true);
    t.notOk(await queue.began(early.test, stray), 'cancelled before its call');
    await queue.over(early.test, stray);
    t.same(await sql`select id from sessions where id = ${stray}`, []);
  },
);

t.test('a test that a stopping process gives back counts as not taken', async (t) => {
  const { workspaceId, agentId } = await workspace();
  await runs.create(runOf(agentId, 1, { unmocked_tools: 'call' }), workspaceId);
  for (let round = 0; round < 3; round += 1) {
    const [test] = await takeAll();
    exactly(t, test, { attempt: 1 });
    await queue.release(test!);
  }
});

t.test('a cancelled run ends at once: its running test cannot go on, and no other begins', async (t) => {
  const { workspaceId, agentId } = await workspace();
  const { id } = await runs.create(runOf(agentId, limits.atOnce.workspace + 1), workspaceId);
  const [test] = await takeAll();
  exactly(t, await runs.cancel(id, workspaceId), { status: 'cancelled', counts: { cancelled: 5 } });
  t.notOk(await queue.renew(test!, LEASE));
  await queue.finish(test!, PASSED);
  t.same(await takeAll(), []);
  exactly(t, await runs.read(id, workspaceId), { status: 'cancelled', counts: { cancelled: 5 } });
});

t.test('a workspace may have a limited number of unfinished runs', async (t) => {
  const { workspaceId, agentId } = await workspace();
  for (let run = 0; run < limits.openRuns; run += 1) await runs.create(runOf(agentId, 1), workspaceId);
  await rejectsExactly(t, runs.create(runOf(agentId, 1), workspaceId), {
    code: 'conflict',
    message: /20 runs are not over/,
  });
  const [oldest] = await sql<{ id: string }[]>`select id from agent_test_runs order by position limit 1`;
  await runs.cancel(oldest!.id, workspaceId);
  await t.resolves(runs.create(runOf(agentId, 1), workspaceId), 'once one is over');
});

t.test('a limited number of runs of an agent is kept: the oldest finished ones are deleted', async (t) => {
  const { workspaceId, agentId } = await workspace();
  const ended = (count: number) => sql`
    insert into agent_test_runs (id, workspace_id, agent_id, agent_name, config_hash, status, ended_at)
    select ${agentId} || i, ${workspaceId}, ${agentId}, 'A', '', 'passed', now() from generate_series(1, ${count}::int) as i`;
  await ended(limits.keptRuns);
  await runs.create(runOf(agentId, 1), workspaceId);
  const kept = await sql<
    { id: string }[]
  >`select id from agent_test_runs where agent_id = ${agentId} order by position`;
  t.equal(kept.length, limits.keptRuns);
  t.equal(kept[0]?.id, `${agentId}2`);
});

t.test('SESSION_DAYS: old runs go as old sessions do; an agent takes its tests with it', async (t) => {
  const { workspaceId, agentId } = await workspace();
  const old = await runs.create(runOf(agentId, 1), workspaceId);
  await runs.cancel(old.id, workspaceId);
  await sql`update agent_test_runs set ended_at = now() - interval '8 days'`;
  const open = await runs.create(runOf(agentId, 1), workspaceId);
  await removeOld(sql);
  t.ok(await runs.read(old.id, workspaceId), 'kept where nothing is configured');
  await removeOld(sql, { sessionDays: 7 });
  t.equal(await runs.read(old.id, workspaceId), undefined);
  t.ok(await runs.read(open.id, workspaceId));
  await sql`delete from agents where id = ${agentId}`;
  t.equal(await runs.read(open.id, workspaceId), undefined);
});
