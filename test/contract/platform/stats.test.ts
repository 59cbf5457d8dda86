/** Figures of calls: what ends adds once, what the API tells of it, and when it goes (storage/sessions/figures.ts). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createCallStats } from '../../../storage/sessions/figures.js';
import { endOverdue, removeOld } from '../../../storage/sessions/sweep.js';
import { insertTurn, TURN } from '../../fixtures/calls/turns.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedPlatform } from '../../fixtures/platform/platform.js';
import { startRuns } from '../../fixtures/platform/session-runs.js';

const DAY_MS = 86_400_000;
const STATS = '/v1/agent/stats';

t.test('of sessions, without HTTP', async (t) => {
  const { sql, workspaceId, create, runsOf } = await startRuns(t);
  const stats = createCallStats(sql);
  const groups = () =>
    stats.groups(workspaceId, {
      from: new Date(Date.now() - DAY_MS),
      to: new Date(Date.now() + DAY_MS),
      step: 'week',
    });
  t.beforeEach(() => sql`delete from call_figures`);

  await t.test('an end is counted once, also by two at the same time', async (t) => {
    const [here, there] = [await runsOf(t), await runsOf(t)];
    const id = await create();
    await here.join(id);
    await here.activate(id);
    await insertTurn(sql, id);
    const ends = await Promise.all([
      here.end(id, 'hangup'),
      there.end(id, 'error'),
      here.finish(id, 'timeout'),
    ]);
    t.equal(ends.filter(Boolean).length, 1);
    exactly(t, await groups(), [{ calls: 1, answers: 1, tools: 1, connected: true, currency: '' }]);
  });

  await t.test('a call that another process took over is counted once, as a whole', async (t) => {
    const [here, there] = [await runsOf(t), await runsOf(t)];
    const id = await create();
    await here.join(id);
    await here.activate(id);
    const said = { type: 'message', role: 'user', turnId: 1, createdAt: new Date() } as const;
    await here.append(id, [{ ...said, content: 'one two' }]);
    await here.release(id);
    await there.takeOver(id);
    await there.append(id, [{ ...said, content: 'three', role: 'assistant' }]);
    t.equal(await here.finish(id, 'error'), false);
    t.equal(await there.finish(id, 'hangup'), true);
    exactly(t, await groups(), [{ calls: 1, reason: 'hangup', wordsUser: 2, wordsAgent: 1 }]);
  });

  await t.test('ends of one hour, agent, version and kind add up in one row', async (t) => {
    const runs = await runsOf(t);
    const ids = await Promise.all(Array.from({ length: 8 }, () => create()));
    for (const id of ids) {
      await runs.join(id);
      await runs.activate(id);
      await insertTurn(sql, id);
    }
    await Promise.all(ids.map((id) => runs.end(id, 'hangup')));
    t.equal((await sql`select from call_figures`).length, 1);
    const [group] = await groups();
    t.equal(group?.calls, 8);
    t.strictSame(group?.latencies.filter(Boolean), [8]);
  });

  await t.test('a session that nobody joined is told apart, and a deleted one stays counted', async (t) => {
    const runs = await runsOf(t);
    const [late, deleted] = [await create(), await create()];
    await sql`update sessions set expires_at = now() - interval '1 second' where id = ${late}`;
    await endOverdue(sql);
    await runs.join(deleted);
    await runs.activate(deleted);
    await runs.end(deleted, 'hangup');
    await sql`delete from sessions`;
    const told = (await groups()).map(({ reason, connected, calls }) => ({ reason, connected, calls }));
    t.strictSame(told, [
      { reason: 'hangup', connected: true, calls: 1 },
      { reason: 'not_joined', connected: false, calls: 1 },
    ]);
  });

  await t.test('figures go after STATS_DAYS, and stay for ever with 0', async (t) => {
    const row = (hours: number) => sql`
      insert into call_figures select ${workspaceId}, now() - ${hours}::int * interval '1 hour', 'a', 1, 'api_key', 'hangup', true,
        '', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}'`;
    await row(23);
    await row(25);
    await removeOld(sql);
    t.equal((await sql`select from call_figures`).length, 2);
    await removeOld(sql, { statsDays: 1 });
    t.equal((await sql`select from call_figures`).length, 1);
  });
});

t.test('by the API', async (t) => {
  const platform = await sharedPlatform(t);
  const { call, workspaceId, database, otherKey } = platform;
  const { sql } = database;
  const today = new Date(new Date().toISOString().slice(0, 10));
  const add = (daysAgo: number, more: Record<string, unknown> = {}) => sql`
    insert into call_figures ${sql({
      ...{
        workspace_id: workspaceId,
        hour: new Date(today.getTime() - daysAgo * DAY_MS),
        agent_id: 'agent_a',
      },
      ...{
        version_number: 1,
        kind: 'api_key',
        ended_reason: 'hangup',
        connected: true,
        currency: 'EUR',
        calls: 2,
      },
      ...{ answers: 4, failed_answers: 1, tools: 2, failed_tools: 1, words_user: 30, words_agent: 50 },
      ...{ call_ms: 90_000, cost: 0.25 },
      ...more,
      latencies: sql`'{0,0,0,4}'::int[]` as never,
    })}`;
  await add(0);
  await add(1, { ended_reason: 'transport_lost', agent_id: 'agent_b', calls: 1 });
  await add(1, { version_number: 2, kind: 'public' });
  await add(1, { version_number: 0, kind: 'dashboard' });
  await add(40);

  const read = async (query = '') => (await call('GET', `${STATS}${query}`)).body;

  await t.test('a month by days, with totals; previews are left out', async (t) => {
    const { step, points, total } = await read();
    t.equal(step, 'day');
    t.equal((points as unknown[]).length, 30);
    exactly(t, (points as unknown[]).at(-1), { at: today.toISOString(), calls: 2, failed: 0, success: 1 });
    exactly(t, (points as unknown[]).at(-3), {
      calls: 0,
      success: null,
      latency: { p50_ms: null, p90_ms: null },
    });
    exactly(t, total, {
      ...{ calls: 5, completed: 4, failed: 1, success: 0.8, not_joined: 0, answers: 12, failed_answers: 3 },
      ...{ failures: [{ reason: 'transport_lost', calls: 1 }], tool_calls: 6, failed_tool_calls: 3 },
      ...{ words_user: 90, words_agent: 150, minutes: 4.5, costs: [{ currency: 'EUR', amount: 0.75 }] },
    });
  });

  await t.test('by agent, version and kind', async (t) => {
    const calls = async (query: string) => ((await read(query))['total'] as { calls: number }).calls;
    t.equal(await calls('?agent_id=agent_b'), 1);
    t.equal(await calls('?version=2'), 2);
    t.equal(await calls('?kind=public'), 2);
    t.equal(await calls('?kind=dashboard&version=0'), 2);
    t.equal(await calls('?agent_id=agent_none'), 0);
  });

  await t.test('hours and weeks, and a span of one’s own', async (t) => {
    const { points } = await read('?step=hour');
    t.equal((points as unknown[]).length, 48);
    const weeks = await read(`?step=week&from=${new Date(today.getTime() - 45 * DAY_MS).toISOString()}`);
    t.equal((weeks['total'] as { calls: number }).calls, 7);
    const day = (ago: number): string => new Date(today.getTime() - ago * DAY_MS).toISOString().slice(0, 10);
    const one = await read(`?from=${day(1)}&to=${day(0)}`);
    t.equal((one['total'] as { calls: number }).calls, 3, 'the end is excluded');
  });

  await t.test('another workspace has its own', async (t) => {
    const { body } = await call('GET', STATS, { key: otherKey });
    exactly(t, body['total'], { calls: 0, failures: [] });
    t.notOk('costs' in (body['total'] as object));
  });

  await t.test('what cannot be told is refused', async (t) => {
    const most = LIMITS.stats.points;
    for (const query of [
      '?step=month',
      '?from=yesterday',
      '?from=2026-02-02&to=2026-02-01',
      '?kind=fax',
      '?version=-1',
      '?version=x',
      `?from=2000-01-01`,
    ]) {
      const { status, body } = await call('GET', STATS + query);
      t.equal(status, 400, query);
      t.type(body['message'], 'string');
    }
    const from = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000 - most * 3_600_000);
    const hours = await call('GET', `${STATS}?step=hour&from=${from.toISOString()}`);
    t.equal(hours.status, 200, 'as many as may be');
    t.equal((await call('GET', STATS, { key: null })).status, 401);
  });

  await t.test('a real call is counted when it ends', async (t) => {
    const agentId = await platform.agent();
    await call('POST', `/v1/agent/agents/${agentId}/publish`);
    const { body } = await call('POST', '/v1/agent/sessions', { body: { agent_id: agentId } });
    const id = String(body['session_id']);
    await sql`
      update sessions set status = 'active', joined_at = now(), started_at = now() - interval '61 seconds', measured_ms = 61000,
        measured_at = now(), owner_id = (select process_id from session_owners limit 1) where id = ${id}`;
    await insertTurn(sql, id, { ...TURN, error: 'provider_failed' });
    await call('POST', `/v1/agent/sessions/${id}/end`);
    const { total } = await read(`?agent_id=${agentId}`);
    exactly(t, total, { calls: 1, completed: 1, failed_answers: 1, minutes: 1.02 });
  });
});
