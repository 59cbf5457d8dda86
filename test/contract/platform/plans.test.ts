/** Plans as a whole: their bound, one copy for all sessions, and where it goes when nobody needs it any more. */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { Ledger } from '../../../gateway/server/memory/ledger.js';
import { dropUnusedPlans } from '../../../storage/plans/plan-contents.js';
import { createSessionRuns } from '../../../storage/sessions/runs.js';
import { createVersions } from '../../../storage/agents/versions.js';
import { silentLog } from '../../../contracts/log.js';
import { systemClock } from '../../../contracts/clock.js';
import { createSessions } from '../../../storage/sessions.js';
import { randomIds } from '../../../contracts/ids.js';
import { planOf } from '../../../gateway/dialects/platform/sessions/plan.js';
import { RawJson } from '../../../contracts/text/raw-json.js';
import { MiB } from '../../../contracts/limits/units.js';
import { makeAgent } from '../../fixtures/platform/agents.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startSessions } from '../../fixtures/platform/sessions.js';
import { plansOn } from '../../fixtures/platform/plans.js';
import { standIn } from '../../fixtures/stand-in.js';

const { call, sql, workspaceId, create, planOf: stored, endAll } = await startSessions(t);

const url = 'https://api.example.com/orders';
const header = (index: number) => ({ name: `X-${index}`, value: 'v'.repeat(LIMITS.tool.headerValue) });

/** A tool of some 0.4 MB, near its limits. */
async function largeTool(name: string): Promise<string> {
  const body = {
    ...{ name, url, method: 'POST', body_template: 'a'.repeat(LIMITS.tool.bodyTemplate) },
    headers: Array.from({ length: LIMITS.tool.headers }, (_, index) => header(index)),
  };
  const { body: made, status } = await call('tools', { body });
  if (status !== 201) throw new Error(JSON.stringify(made).slice(0, 300));
  return String(made['id'] ?? made['tool_id']);
}

const tools: string[] = [];
for (let index = 0; index < 30; index++) tools.push(await largeTool(`orders ${index}`));

async function attach(agentId: string, count: number): Promise<void> {
  const body = { tools: { enabled: true, tool_ids: tools.slice(0, count) } };
  const { status } = await call(`agents/${agentId}/config`, { method: 'PATCH', body });
  if (status !== 200) throw new Error(`config: ${status}`);
}

t.test('an agent as a whole: what is published, previewed or tested has 8 MiB at most', async (t) => {
  const agentId = await makeAgent(call);
  await attach(agentId, tools.length);
  const scenario = { agent_id: agentId, name: 'Asks', user: { lines: ['Hello'] } };
  t.equal((await call('tests/scenarios', { body: scenario })).status, 201);
  for (const [path, body] of [
    [`agents/${agentId}/publish`, undefined],
    [`agents/${agentId}/preview`, undefined],
    ['tests/runs', { agent_id: agentId }],
  ] as const) {
    const answer = await call(path, { method: 'POST', ...(body && { body }) });
    t.equal(answer.status, 422, path);
    t.match(answer.body['message'], /^The agent has \d+\.\d MiB with its tools, more than 8\.0 MiB; /, path);
    t.match(answer.body['message'], /the largest part is the tool "orders \d+" with 0\.\d MiB$/, path);
    exactly(t, answer.body['errors'], [{ type: 'size', loc: ['tools', 'tool_ids', Number] }], path);
  }
  await attach(agentId, 20);
  t.equal((await call(`agents/${agentId}/publish`, { method: 'POST' })).status, 200, 'within the bound');
});

t.test('a hundred sessions of an agent at its limit share one plan, in rows and in memory', async (t) => {
  const agentId = await makeAgent(call);
  await attach(agentId, 20);
  await call(`agents/${agentId}/publish`, { method: 'POST' });
  const memory = new Ledger(64 * MiB);
  const shared = plansOn(sql, memory);
  const versions = createVersions(shared);
  const sessions = createSessions({ ...shared, ids: randomIds, callsPerWorkspace: null });
  const made = await Promise.all(
    Array.from({ length: 100 }, async () => {
      const found = (await versions.find(agentId, workspaceId))!;
      const plan = planOf(found.version!, { metadata: new RawJson('{}') }, false, { now: new Date() });
      const record = await sessions.create({
        ...{ workspaceId, agentId, agentName: 'Large', versionNumber: 1, source: 'api_key', name: null },
        ...{ endUserId: null, metadata: new RawJson('{}'), overrides: {}, plan },
      });
      return { id: record.id, plan };
    }),
  );
  t.equal(new Set(made.map(({ plan }) => plan.tools)).size, 1, 'one list');
  t.ok(memory.bytesOf('plan') < 9 * MiB, `charged once: ${memory.bytesOf('plan')} bytes`);
  const [rows] = await sql<{ bytes: number }[]>`
    select max(octet_length(plan::text)) as bytes from sessions where agent_id = ${agentId}`;
  t.ok(rows!.bytes < 64_000, `a row has ${rows!.bytes} bytes`);

  const other = plansOn(sql, new Ledger(64 * MiB));
  const node = { dropStale: () => Promise.resolve() };
  const parts = standIn({ database: { sql, events: { listen: async () => () => undefined } }, node });
  const runs = await createSessionRuns(
    standIn({
      ...(parts as object),
      ...{ processId: 'plans-here', clock: systemClock, log: silentLog, ...other },
    }),
  );
  t.teardown(() => runs.stop());
  await sql`insert into session_owners (process_id, address) values ('plans-here', '/tmp/none')`;
  const joined = await Promise.all(made.slice(0, 10).map(({ id }) => runs.join(id)));
  const lists = joined.map((session) => ('plan' in session ? session.plan.tools : undefined));
  t.equal(new Set(lists).size, 1, 'another process reads it once');
  t.strictSame(lists[0], made[0]!.plan.tools, 'and it is the same');
  await sql`delete from session_owners where process_id = 'plans-here'`;
});

t.test(
  'what a process may keep: beyond the budget a plan is refused, and its session stays free',
  async (t) => {
    const agentId = await makeAgent(call);
    await attach(agentId, 5);
    await call(`agents/${agentId}/publish`, { method: 'POST' });
    const { body } = await create({ agent_id: agentId });
    const tight = plansOn(sql, new Ledger(MiB));
    await rejectsExactly(t, createVersions(tight).find(agentId, workspaceId), { code: 'memory_exhausted' });
    t.notOk('tools' in (await stored({ body })), 'its row refers to its version');
  },
);

t.test('a content goes once no session and no test refers to it', async (t) => {
  const agentId = await makeAgent(call);
  await attach(agentId, 1);
  await call(`agents/${agentId}/publish`, { method: 'POST' });
  t.equal((await create({ agent_id: agentId })).status, 201);
  const kept = async () => (await sql`select from plan_tools where agent_id = ${agentId}`).length;
  await sql`update plan_contents set used_at = now() - interval '1 day'`;
  await dropUnusedPlans(sql);
  t.equal(await kept(), 1, 'a waiting session has it');
  await endAll();
  await sql`update sessions set plan = null where agent_id = ${agentId}`;
  await dropUnusedPlans(sql);
  t.equal(await kept(), 0);
  t.equal((await create({ agent_id: agentId })).status, 201, 'a process that still knows it writes it again');
  t.equal(await kept(), 1);
});
