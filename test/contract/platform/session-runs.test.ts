/** The life of a session below its routes: joining, recording, ending (decisions 13, 22; 6.7, 6.8). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CUT_MARK } from '../../../contracts/tools/cut.js';
import { SESSION_STATUSES, type SessionItem } from '../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../contracts/schemas/agent-config.js';
import {
  answeringSession,
  CALLED,
  CONVERSING,
  SESSION_REPORTS,
  SESSION_STATES,
  type SessionState,
  UNCONNECTED,
} from '../../../contracts/sessions/session-states.js';
import { isIn } from '../../../storage/sessions/states.js';
import { exactly } from '../../fixtures/exactly.js';
import { plan, startRuns, URLS } from '../../fixtures/platform/session-runs.js';
import { TURN } from '../../fixtures/calls/turns.js';

const { sql, create, runsOf, read } = await startRuns(t);

t.test('a token is spent once, also by requests at the same time', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const id = await create();
  const joins = await Promise.all(
    Array.from({ length: 20 }, (_, index) => (index % 2 ? here : there).join(id)),
  );
  const joined = joins.filter((join) => 'plan' in join);
  t.equal(joined.length, 1);
  t.same(
    joins.filter((join) => 'refused' in join),
    Array(19).fill({ refused: 'used' }),
  );
  exactly(t, joined, [{ record: { id, status: 'pending', agentName: 'Bakery' }, plan }]);
  exactly(t, await here.owner(id), { address: /^\/tmp\/process-\d+\.sock$/, alive: true });
  t.strictSame(await here.owner(id), await there.owner(id));
});

t.test('a session that an older gateway has made is joined with defaults for what is newer', async (t) => {
  const runs = await runsOf(t);
  const id = await create();
  const tools = [
    { toolId: 'tool_1', functionName: 'look', definition: { name: 'look', tool_type: 'webhook' } },
  ];
  await sql`update sessions set plan = jsonb_set(plan #- '{config,tools}', '{tools}', ${sql.json(tools)}) where id = ${id}`;
  const joined = await runs.join(id);
  if (!('plan' in joined)) throw new Error(joined.refused);
  t.strictSame(joined.plan.config.tools, DEFAULT_CONFIG.tools);
  exactly(t, joined.plan.tools[0]?.definition, { name: 'look', while_speaking: false, allowed_tools: [] });
});

t.test('a client that may not join gets the reason', async (t) => {
  const runs = await runsOf(t);
  const late = await create();
  await sql`update sessions set expires_at = now() - interval '1 millisecond' where id = ${late}`;
  t.same(await runs.join(late), { refused: 'expired' });
  const ended = await create();
  await runs.end(ended, 'ended_by_api');
  t.same(await runs.join(ended), { refused: 'ended' });
  t.same(await runs.join('sess_none'), { refused: 'unknown' });
  t.equal(await runs.owner(late), undefined);
});

t.test('a token can be used again if its client left before it was connected', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const id = await create();
  await here.join(id);
  await there.release(id);
  t.same(await there.join(id), { refused: 'used' }, 'only its owner gives it back');
  await here.release(id);
  t.ok('plan' in (await there.join(id)));
  exactly(t, await there.owner(id), { nodeId: there.processId, address: there.address });
  t.equal(await here.activate(id), false, 'the former owner has no say');
  t.equal(await there.activate(id), true);
  t.equal(await there.activate(id), false);
  await there.release(id);
  t.same(await here.join(id), { refused: 'used' }, 'a call that has begun keeps its token spent');
  t.ok('said' in (await here.takeOver(id)), 'and goes on with whoever has its client');
});

t.test('a session that is leased or joined again is not lost any more', async (t) => {
  const runs = await runsOf(t);
  const id = await create();
  for (const again of [() => runs.lease(id), () => runs.join(id)]) {
    await sql`update sessions set lost_at = now(), owner_id = null where id = ${id}`;
    await again();
    const [row] = await sql`select lost_at from sessions where id = ${id}`;
    t.strictSame({ ...row }, { lost_at: null });
  }
});

t.test('the record is read in the order in which it happened', async (t) => {
  const runs = await runsOf(t);
  const id = await create();
  await runs.join(id);
  await runs.activate(id);
  const at = (ms: number): Date => new Date(Date.UTC(2026, 0, 1) + ms);
  const tool = { callId: 'tool_1', toolName: 'look_up', toolSource: 'webhook', turnId: 2 };
  const said = (content: string, ms: number): SessionItem => ({
    type: 'message',
    role: 'user',
    content,
    turnId: 1,
    createdAt: at(ms),
  });
  const used: SessionItem = { type: 'tool_call', input: '{"a":"ü\\u0000"}', ...tool, createdAt: at(5) };
  const result: SessionItem = {
    type: 'tool_result', status: 'completed', output: 'x', outputTruncated: false, error: null, latencyMs: 812, ...tool, createdAt: at(5),
  }; // oxfmt-ignore
  await runs.append(id, [result, said('third', 5), said('first', 1)]);
  await runs.append(id, [used, said('second', 1), said('last', 9)]);
  // As after a connection that died before its answer arrived.
  await runs.append(id, [used, said('second', 1), said('last', 9)]);
  await runs.append(id, []);
  const { items } = await read(id);
  t.same(
    items,
    [said('first', 1), said('second', 1), said('third', 5), used, result, said('last', 9)],
    'each once',
  );
  await sql`delete from sessions where id = ${id}`;
  await runs.append(id, [said('late', 10)]);
  t.equal(
    (await sql`select from session_items where session_id = ${id}`).length,
    0,
    'deleted, nothing is added',
  );
});

t.test("a tool's output and error are kept up to their bound, its input whole", async (t) => {
  const runs = await runsOf(t);
  const id = await create();
  await runs.join(id);
  const most = LIMITS.session.toolOutputBytes;
  const tool = { callId: 'c', toolName: 'n', toolSource: 'client', turnId: 1, createdAt: new Date() };
  const result = {
    type: 'tool_result',
    status: 'failed',
    outputTruncated: false,
    latencyMs: 1,
    ...tool,
  } as const;
  const outputs = ['x'.repeat(most), 'x'.repeat(most + 1), `x${'ü'.repeat(most)}`];
  for (const output of outputs) await runs.append(id, [{ ...result, output, error: output }]);
  await runs.append(id, [{ type: 'tool_call', input: 'y'.repeat(most * 2), ...tool }]);
  const { items } = await read(id);
  t.equal((items[0] as { input: string }).input.length, most * 2);
  const kept = items.slice(1) as { output: string; error: string; outputTruncated: boolean }[];
  t.same(
    kept.map(({ outputTruncated }) => outputTruncated),
    [false, true, true],
  );
  t.ok(
    kept.every(({ output }) => Buffer.byteLength(output) <= most && Buffer.byteLength(output) >= most - 1),
  );
  t.same(
    kept.map(({ output }) => output.endsWith(CUT_MARK)),
    [false, true, true],
  );
  t.ok(kept.every(({ output, error }) => output === error && !output.includes('\ufffd')));
});

t.test('a session ends once, and its end is one with what it causes', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const id = await create();
  await here.join(id);
  await here.activate(id);
  await sql`update sessions set measured_ms = 184600, measured_at = now() where id = ${id}`;
  const ends = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? here : there).end(id, 'hangup')),
  );
  t.equal(ends.filter(Boolean).length, 1);
  const [times] = await sql<{ seconds: number }[]>`
    select measured_ms / 1000.0::float8 as seconds from sessions where id = ${id}`;
  const durationSeconds = Math.floor(times!.seconds);
  t.ok(durationSeconds >= 184, 'as its owner said, and what has passed since');
  const record = await read(id);
  exactly(t, record, { status: 'completed', endedReason: 'hangup', durationSeconds, analysis: null });
  const rows = await sql<{ url: string; event: string; body: string }[]>`
    select url, event, body from deliveries where session_id = ${id} order by url`;
  t.same(
    rows.map(({ url, event }) => [url, event]),
    URLS.map((url) => [url, 'call.ended']),
  );
  const { event_id: eventId, ...body } = JSON.parse(rows[0]!.body) as Record<string, unknown>;
  t.match(eventId, /^evt_[0-9a-f]{24}$/);
  t.same(body, {
    event: 'call.ended',
    session: {
      id,
      agent_id: 'agent_1',
      branch_id: '',
      source: 'api_key',
      status: 'completed',
      conversation_started_at: record.startedAt!.toISOString(),
      conversation_ended_at: record.endedAt!.toISOString(),
      duration_seconds: durationSeconds,
      failed_answers: 0,
      end_user_id: 'customer-42',
      metadata: { b: 1, a: 2 },
      ...{ direction: 'inbound', dial_status: null, answered_by: null, batch_call_id: null },
      agent_name: 'Bakery',
      config_hash: 'sha256:00',
    },
    ended_reason: 'hangup',
    turns: [],
    turns_total: 0,
    usage: {
      ...{ input_tokens: 0, output_tokens: 0, tokens_estimated: false, characters: 0, models: [] },
      ...{ recognised_seconds: 0, engines: [], call_seconds: durationSeconds },
    },
    cost: null,
  });
  t.match(rows[0]!.body, /"metadata":\{"b":1,"a":2\}/, 'metadata in its own order');
  t.equal(rows[0]!.body, rows[1]!.body);
});

t.test('a turn is kept in the place of what was kept of it before, and goes with its session', async (t) => {
  const runs = await runsOf(t);
  const id = await create();
  await runs.join(id);
  await runs.activate(id);
  await runs.keepTurn(id, { ...TURN, complete: false });
  await runs.keepTurn(id, { ...TURN, number: 2 });
  await runs.keepTurn(id, TURN);
  t.same((await read(id)).turns, [TURN, { ...TURN, number: 2 }]);
  for (let number = 3; number <= LIMITS.session.deliveredTurns + 2; number += 1)
    await runs.keepTurn(id, { ...TURN, number });
  await runs.end(id, 'hangup');
  const [row] = await sql<{ body: string }[]>`select body from deliveries where session_id = ${id}`;
  const { turns, turns_total: total } = JSON.parse(row!.body) as {
    turns: { number: number }[];
    turns_total: number;
  };
  t.same([turns.length, total], [LIMITS.session.deliveredTurns, LIMITS.session.deliveredTurns + 2]);
  t.equal(turns[0]?.number, 3, 'the last of them');
  t.notMatch(row!.body, /private/);
  await sql`delete from sessions where id = ${id}`;
  await runs.keepTurn(id, TURN);
  t.equal((await sql`select from session_turns where session_id = ${id}`).length, 0, 'nothing comes back');
});

t.test('each reason has its status, and only conversations have events (decision 13)', async (t) => {
  const runs = await runsOf(t);
  const cases = [
    ['hangup', 'completed'], ['timeout', 'completed'], ['ended_by_api', 'completed'], ['error', 'failed'],
  ] as const; // oxfmt-ignore
  const eventsOf = async (id: string) =>
    (await sql`select 1 from deliveries where session_id = ${id}`).length;
  for (const [reason, status] of cases) {
    const talked = await create();
    await runs.join(talked);
    await runs.activate(talked);
    await runs.end(talked, reason);
    exactly(t, await read(talked), { status, endedReason: reason });
    t.equal(await eventsOf(talked), 2);
    const waited = await create();
    await runs.end(waited, reason);
    exactly(t, await read(waited), {
      status: 'failed',
      endedReason: reason,
      startedAt: null,
      durationSeconds: null,
    });
    t.equal(await eventsOf(waited), 0);
  }
  const preview = await create({ source: 'dashboard', versionNumber: null });
  await runs.join(preview);
  await runs.activate(preview);
  await runs.end(preview, 'hangup');
  t.equal(await eventsOf(preview), 0, 'a preview tells nobody');
  t.equal(
    (
      await sql`select 1 from sessions where id = ${preview} and (plan is not null or analysis_due_at is not null)`
    ).length,
    0,
  );
});

t.test(
  'whatever its columns say, a session is in one state, and sets of states hold what they list',
  async (t) => {
    const sets = [UNCONNECTED, CONVERSING, CALLED, ...SESSION_REPORTS.map(answeringSession)];
    for (const status of SESSION_STATUSES)
      for (const bits of [0, 1, 2, 3, 4, 5, 6, 7]) {
        const [joined, owner, lost] = [1, 2, 4].map((bit) => (bits & bit) > 0) as [boolean, boolean, boolean];
        const row = sql`
        (select ${status}::text as status, case when ${joined} then now() end as joined_at,
          case when ${owner} then 'process' end as owner_id, case when ${lost} then now() end as lost_at) as s`;
        const states: SessionState[] = [];
        for (const state of SESSION_STATES)
          if ((await sql`select from ${row} where ${isIn(sql, [state])}`).length > 0) states.push(state);
        t.equal(states.length, 1, `${status} ${bits}`);
        for (const set of sets) {
          const found = await sql`select from ${row} where ${isIn(sql, set)}`;
          t.equal(found.length > 0, set.includes(states[0]!), `${status} ${bits}: ${set.join()}`);
        }
      }
  },
);
