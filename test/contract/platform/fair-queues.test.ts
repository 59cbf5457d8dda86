/**
 * Queues in the database (contracts/admission, "workspaces take turns"): post-call events, analyses and tests of agents of a
 * workspace with few are not behind those of one with many. No gateway takes any meanwhile.
 */
import { plansOn } from '../../fixtures/platform/plans.js';
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { reviseScenario } from '../../../contracts/schemas/agent-tests.js';
import { createTestQueue } from '../../../storage/agent-tests/queue.js';
import { createTestRuns } from '../../../storage/agent-tests/runs.js';
import { createDeliveryQueue } from '../../../storage/deliveries.js';
import { createAnalysisQueue } from '../../../storage/sessions/analyses.js';
import { startPostgres } from '../../fixtures/database/postgres.js';

const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;
const LEASE = 60_000;

/** A new workspace with one agent. */
async function workspace(): Promise<{ workspaceId: string; agentId: string }> {
  const [workspaceId, agentId] = [randomIds.next('workspace'), randomIds.next('agent')];
  await sql`insert into workspaces (id, name) values (${workspaceId}, 'Own')`;
  await sql`insert into agents (id, workspace_id, name, description, config) values (${agentId}, ${workspaceId}, 'A', '', '{}')`;
  return { workspaceId, agentId };
}

/** Ended sessions whose analyses are due, the first before the next. */
const ended = (workspaceId: string, count: number, analysed: boolean) => sql<{ id: string }[]>`
  insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides, plan,
    status, expires_at, ended_at, ended_reason, max_duration_seconds, analysis_due_at)
  select ${randomIds.next('session')} || '_' || n, ${workspaceId}, 'agent', 'A', '', 'api_key', 'UTC', '{}', '{}', '{"config":{}}', 'completed', now(),
    now(), 'hangup', 60, case when ${analysed} then now() - interval '1 hour' + n * interval '1 second' end
  from generate_series(1, ${count}::int) n
  returning id`;

t.afterEach(async () => {
  await sql`delete from workspaces`;
});

const countBy = (owners: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1);
  return counts;
};

const { atOnce, spare } = LIMITS.postCallWebhook;

t.test(
  'deliveries: workspaces take turns, and none has more than sixteen under way, twelve to one webhook',
  async (t) => {
    const queue = createDeliveryQueue(database);
    const [many, few] = await Promise.all([workspace(), workspace()]);
    const deliver = async (
      { workspaceId, agentId }: typeof many,
      count: number,
      ageMinutes: number,
      url = 'https://a.example',
    ) => {
      const sessions = await ended(workspaceId, count, false);
      await sql`
      insert into deliveries (workspace_id, session_id, agent_id, event, url, body, due_at)
      select ${workspaceId}, id, ${agentId}, 'call.ended', ${url}, ${workspaceId},
        now() - ${ageMinutes}::int * interval '1 minute'
      from unnest(${sessions.map(({ id }) => id)}::text[]) as s (id)`;
    };
    await deliver(many, 60, 60);
    await deliver(few, 3, 1);
    const first = (await queue.take(8, LEASE)).map(({ body }) => body);
    t.equal(countBy(first).get(few.workspaceId), 3, 'whoever has few is not behind who has many');
    const taken = [...first];
    for (let more; (more = await queue.take(8, LEASE)).length > 0;)
      taken.push(...more.map(({ body }) => body));
    t.same(
      countBy(taken),
      new Map([
        [many.workspaceId, atOnce - spare],
        [few.workspaceId, 3],
      ]),
    );
    const others = Array.from({ length: spare + 1 }, (_, nth) => `https://${nth}.example`);
    for (const url of others) await deliver(many, 2, 1, url);
    const more = await queue.take(8, LEASE);
    t.same(
      more.map(({ url }) => url),
      others.slice(0, spare),
      'the others are one each of webhooks to which nothing is under way',
    );
    t.same(await queue.take(8, LEASE), []);
    const third = await workspace();
    await deliver(third, 2, 1);
    const idle = (): Promise<string[]> =>
      queue.take(8, LEASE, true).then((all) => all.map(({ body }) => body));
    t.same([await idle(), await idle()], [[third.workspaceId], []], 'one, and no more while it is under way');
  },
);

t.test('analyses: the next is one of the workspace with the fewest under way', async (t) => {
  const queue = createAnalysisQueue(sql);
  const [many, few] = await Promise.all([workspace(), workspace()]);
  await ended(many.workspaceId, 10, true);
  const [first] = [await queue.take(LEASE)];
  await ended(few.workspaceId, 2, true);
  const order: (string | undefined)[] = [];
  for (let count = 0; count < 4; count += 1) order.push((await queue.take(LEASE))?.record.workspaceId);
  t.equal(first?.record.workspaceId, many.workspaceId);
  t.same(order, [few.workspaceId, many.workspaceId, few.workspaceId, many.workspaceId]);
});

t.test('tests of agents: workspaces take turns, however many scenarios one has', async (t) => {
  const queue = createTestQueue(database, plansOn(sql).plans);
  const runs = createTestRuns({ ...plansOn(sql), ids: randomIds });
  const plan = { config: {}, tools: [] } as unknown as SessionPlan;
  const definition = reviseScenario(undefined, { user: { lines: ['a'] } });
  const run = ({ workspaceId, agentId }: { workspaceId: string; agentId: string }, count: number) =>
    runs.create(
      {
        ...{ agentId, agentName: 'A', suite: undefined, versionNumber: null, configHash: '' },
        scenarios: Array.from({ length: count }, (_, index) => ({
          plan,
          scenario: {
            ...{
              id: `scn_${index}`,
              agentId,
              name: `${index}`,
              createdAt: new Date(),
              updatedAt: new Date(),
            },
            definition,
          },
        })),
      },
      workspaceId,
    );
  const [many, few, last] = [await workspace(), await workspace(), await workspace()];
  await run(many, 20);
  const begun = [await queue.take(LEASE)];
  await run(few, 2);
  await run(last, 1);
  for (let test; (test = await queue.take(LEASE));) begun.push(test);
  const order = begun.map((test) => test?.workspaceId);
  t.same(order.slice(0, 4), [many.workspaceId, few.workspaceId, last.workspaceId, many.workspaceId]);
  t.equal(order.filter((id) => id === many.workspaceId).length, LIMITS.agentTest.atOnce.workspace);
  t.ok(LIMITS.agentTest.atOnce.workspace < LIMITS.agentTest.atOnce.process, 'one workspace leaves places');
});
