/** The life of a session behind its routes: who joins, what is recorded, who ends it (fine points 13, 22; 6.7, 6.8). */
import t, { type Test } from 'tap';
import { systemClock } from '../../contracts/clock.js';
import { randomIds } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import { silentLog } from '../../contracts/log.js';
import type {
  NewSession,
  SessionAnalysis,
  SessionItem,
  SessionPlan,
} from '../../contracts/ports/sessions.js';
import { DEFAULT_CONFIG } from '../../contracts/schemas/agent-config.js';
import { createSessions } from '../../storage/sessions.js';
import { createAnalysisQueue } from '../../storage/sessions/analyses.js';
import { createSessionRuns } from '../../storage/sessions/runs.js';
import { endOverdue, removeOld } from '../../storage/sessions/sweep.js';
import { ensureDefaultWorkspace } from '../../storage/workspaces.js';
import { startPostgres } from '../fixtures/postgres.js';
import { until } from '../fixtures/until.js';

t.setTimeout(120_000);

const postgres = await startPostgres(t);
const database = await postgres.migrated();
const { sql } = database;
const workspaceId = await ensureDefaultWorkspace(sql, randomIds);
const sessions = createSessions({ sql, ids: randomIds, defaultLimit: 1000 });
const analyses = createAnalysisQueue(sql);

const URLS = ['https://a.example.com/hook', 'https://b.example.com/hook'];
const plan: SessionPlan = {
  config: {
    ...DEFAULT_CONFIG,
    prompt: { ...DEFAULT_CONFIG.prompt, system_prompt: 'You help Ada.' },
    webhooks: { post_call: URLS.map((url) => ({ url, has_secret: false })) },
  },
  tools: [],
  knowledge: [],
  configHash: 'sha256:00',
  maxDurationSeconds: 600,
  recordAudio: true,
  toolEvents: true,
  worldContext: true,
  timezone: 'UTC',
};

const wanted: NewSession = {
  workspaceId,
  agentId: 'agent_1',
  agentName: 'Bakery',
  versionNumber: 3,
  source: 'api_key',
  name: null,
  endUserId: 'customer-42',
  metadata: { b: 1, a: 2 },
  overrides: {},
  plan,
};

const create = async (more: Partial<NewSession> = {}): Promise<string> =>
  (await sessions.create({ ...wanted, ...more })).id;

let processes = 0;
/** A process of its own on the same database. */
async function runsOf(t: Pick<Test, 'teardown'>) {
  const processId = `process-${processes++}`;
  const own = await postgres.open();
  const runs = await createSessionRuns({
    database: own,
    processId,
    address: `/tmp/${processId}.sock`,
    clock: systemClock,
    log: silentLog,
  });
  t.teardown(() => runs.stop());
  return { ...runs, processId, address: `/tmp/${processId}.sock` };
}

const read = async (id: string) => (await sessions.read(id, workspaceId))!;

t.test('a token is spent once, whoever asks at the same time', async (t) => {
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
  t.match(joined, [{ record: { id, status: 'pending', agentName: 'Bakery' }, plan }]);
  t.match(await here.owner(id), /^\/tmp\/process-\d+\.sock$/);
  t.equal(await here.owner(id), await there.owner(id));
});

t.test('who may not join is told why', async (t) => {
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

t.test('a token comes back where its client has gone before it was connected', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const id = await create();
  await here.join(id);
  await there.unjoin(id);
  t.same(await there.join(id), { refused: 'used' }, 'only its owner gives it back');
  await here.unjoin(id);
  t.ok('plan' in (await there.join(id)));
  t.equal(await there.owner(id), there.address);
  t.equal(await here.activate(id), false, 'the former owner has no say');
  t.equal(await there.activate(id), true);
  t.equal(await there.activate(id), false);
  await there.unjoin(id);
  t.same(await here.join(id), { refused: 'used' }, 'a call that has begun keeps its token spent');
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
  }; // prettier-ignore
  await runs.append(id, [result, said('third', 5), said('first', 1)]);
  await runs.append(id, [used, said('second', 1), said('last', 9)]);
  await runs.append(id, []);
  const { items } = await read(id);
  t.same(items, [said('first', 1), said('second', 1), said('third', 5), used, result, said('last', 9)]);
});

t.test("a tool's output and error are kept up to their bound, its input whole", async (t) => {
  const runs = await runsOf(t);
  const id = await create();
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
  t.same(kept.map(({ output, outputTruncated }) => [Buffer.byteLength(output), outputTruncated]), [[most, false], [most, true], [most - 1, true]]); // prettier-ignore
  t.ok(kept.every(({ output, error }) => output === error && !output.includes('\ufffd')));
});

t.test('a session ends once, and its end is one with what it causes', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const id = await create();
  await here.join(id);
  await here.activate(id);
  await sql`update sessions set started_at = started_at - interval '184.9 seconds' where id = ${id}`;
  const ends = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? here : there).end(id, 'hangup')),
  );
  t.equal(ends.filter(Boolean).length, 1);
  const record = await read(id);
  t.match(record, { status: 'completed', endedReason: 'hangup', durationSeconds: 184, analysis: null });
  const rows = await sql<{ url: string; event: string; body: string }[]>`
    select url, event, body from deliveries where session_id = ${id} order by url`;
  t.same(
    rows.map(({ url, event }) => [url, event]),
    URLS.map((url) => [url, 'call.ended']),
  );
  t.same(JSON.parse(rows[0]!.body), {
    event: 'call.ended',
    session: {
      id,
      agent_id: 'agent_1',
      branch_id: null,
      source: 'api_key',
      status: 'completed',
      conversation_started_at: record.startedAt!.toISOString(),
      conversation_ended_at: record.endedAt!.toISOString(),
      duration_seconds: 184,
      end_user_id: 'customer-42',
      metadata: { b: 1, a: 2 },
      agent_name: 'Bakery',
      config_hash: 'sha256:00',
    },
    ended_reason: 'hangup',
  });
  t.match(rows[0]!.body, /"metadata":\{"b":1,"a":2\}/, 'metadata in its own order');
  t.equal(rows[0]!.body, rows[1]!.body);
});

t.test('each reason has its status, and only conversations have events (fine point 13)', async (t) => {
  const runs = await runsOf(t);
  const cases = [
    ['hangup', 'completed'], ['timeout', 'completed'], ['ended_by_api', 'completed'], ['error', 'failed'],
  ] as const; // prettier-ignore
  const eventsOf = async (id: string) =>
    (await sql`select 1 from deliveries where session_id = ${id}`).length;
  for (const [reason, status] of cases) {
    const talked = await create();
    await runs.join(talked);
    await runs.activate(talked);
    await runs.end(talked, reason);
    t.match(await read(talked), { status, endedReason: reason });
    t.equal(await eventsOf(talked), 2);
    const waited = await create();
    await runs.end(waited, reason);
    t.match(await read(waited), {
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

t.test('the owner hears of an end, whichever process makes it', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const heard: string[] = [];
  const stop = here.onEnded((id) => heard.push(id));
  const foreign: string[] = [];
  there.onEnded((id) => foreign.push(id));
  const [one, two, three] = [await create(), await create(), await create()];
  for (const id of [one, two, three]) await here.join(id);
  await here.activate(one);
  await there.end(one, 'ended_by_api');
  await until('the owner knows', () => heard.includes(one));
  await here.end(two, 'hangup');
  await until('of its own ends as well', () => heard.includes(two));
  await sql`update sessions set status = 'failed', ended_at = now(), ended_reason = 'error' where id = ${three}`;
  await until('also of one by hand', () => heard.includes(three));
  t.same(heard, [one, two, three]);
  t.same(foreign, [], 'and nobody else');
  stop();
});

t.test('an end that was announced while nobody listened is found', async (t) => {
  const here = await runsOf(t);
  const heard: string[] = [];
  here.onEnded((id) => heard.push(id));
  const id = await create();
  await here.join(id);
  await sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %' and pid <> pg_backend_pid()`;
  await sql`alter table sessions disable trigger sessions_ended`;
  await here.end(id, 'error');
  await sql`alter table sessions enable trigger sessions_ended`;
  await until('the owner has looked', () => heard.includes(id));
});

t.test('time ends what nobody joined, connected or ended', async (t) => {
  const runs = await runsOf(t);
  const overdue = (id: string, column: 'expires_at' | 'started_at', ms: number) => sql`
    update sessions set ${sql(column)} = now() - ${ms}::int * interval '1 millisecond' where id = ${id}`;
  const [fresh, late, connecting, lost, talking, endless, orphan] = await Promise.all(Array.from({ length: 7 }, () => create())) as [string, string, string, string, string, string, string]; // prettier-ignore
  await overdue(late, 'expires_at', 0);
  for (const id of [connecting, lost, talking, endless]) await runs.join(id);
  await overdue(connecting, 'expires_at', LIMITS.session.connectMs - 30_000);
  await overdue(lost, 'expires_at', LIMITS.session.connectMs);
  for (const id of [talking, endless]) await runs.activate(id);
  await overdue(talking, 'started_at', 600_000);
  await overdue(endless, 'started_at', 661_000);
  await sql`update sessions set status = 'active', started_at = now(), owner_id = 'gone' where id = ${orphan}`;
  await endOverdue(sql);
  const states = await Promise.all([fresh, late, connecting, lost, talking, endless, orphan].map(read));
  t.same(states.map(({ status, endedReason }) => [status, endedReason]), [
    ['pending', null], ['failed', 'not_joined'], ['pending', null], ['failed', 'not_joined'],
    ['active', null], ['completed', 'timeout'], ['failed', 'error'],
  ]); // prettier-ignore
  t.equal((await sql`select 1 from deliveries where session_id = ${late}`).length, 0);
  t.equal(
    (await sql`select 1 from deliveries where session_id = ${orphan}`).length,
    2,
    'a lost call is told of',
  );
});

t.test('a process that is not seen any more has lost its conversations', async (t) => {
  const here = await runsOf(t);
  const id = await create();
  await here.join(id);
  await here.activate(id);
  await endOverdue(sql);
  t.equal((await read(id)).status, 'active');
  await sql`update session_owners set seen_at = now() - ${LIMITS.session.ownerMs}::int * interval '1 millisecond'
    where process_id = ${here.processId}`;
  await endOverdue(sql);
  t.match(await read(id), { status: 'failed', endedReason: 'error' });
});

t.test('rows that nobody needs go', async (t) => {
  await sql`insert into public_limits (kind, subject, minute, taken) values
    ('agent', 'old', date_trunc('minute', now()) - interval '5 minutes', 1), ('agent', 'new', date_trunc('minute', now()), 1)`;
  await sql`insert into session_owners (process_id, address, seen_at) values ('old', '', now() - interval '2 days')`;
  const id = await create();
  await sql`insert into deliveries (workspace_id, session_id, agent_id, event, url, body, outcome, settled_at)
    values (${workspaceId}, ${id}, 'a', 'call.ended', 'old', '', 'delivered', now() - interval '8 days'),
      (${workspaceId}, ${id}, 'a', 'call.ended', 'new', '', 'delivered', now())`;
  await removeOld(sql);
  t.same(
    (await sql`select subject from public_limits`).map(({ subject }) => subject as string),
    ['new'],
  );
  t.equal((await sql`select 1 from session_owners where process_id = 'old'`).length, 0);
  t.same(
    (await sql`select url from deliveries where session_id = ${id}`).map(({ url }) => url as string),
    ['new'],
  );
});

const ANALYSIS: SessionAnalysis = {
  status: 'completed',
  summary: 'They talked.',
  data: [{ name: 'order', type: 'text', value: 'A-17', rationale: 'said so' }],
  criteriaResults: [{ name: 'polite', result: 'success', rationale: 'yes' }],
  error: null,
};

t.test('every ended call is followed by an analysed one', async (t) => {
  const runs = await runsOf(t);
  const talk = async () => {
    const id = await create();
    await runs.join(id);
    await runs.activate(id);
    await runs.append(id, [
      { type: 'message', role: 'user', content: 'hi', turnId: 1, createdAt: new Date() },
    ]);
    await runs.end(id, 'hangup');
    const [due] = await sql`select analysis_due_at > ended_at as later from sessions where id = ${id}`;
    t.ok(due!['later'], 'not before the last words are in');
    await sql`update sessions set analysis_due_at = now() where id = ${id}`;
    return id;
  };
  await sql`update sessions set analysis_due_at = null`;
  const id = await talk();
  const [one, other] = await Promise.all([analyses.take(60_000), analyses.take(60_000)]);
  const taken = one ?? other;
  t.ok(taken && !(one && other), 'one process gets it');
  t.match(taken, {
    record: { id },
    items: [{ content: 'hi' }],
    plan: { config: { analysis: DEFAULT_CONFIG.analysis } },
  });
  t.notOk(taken!.plan.config.prompt, 'the rendered prompt is gone');
  await analyses.finish(id, ANALYSIS);
  await analyses.finish(id, { ...ANALYSIS, summary: 'again' });
  t.same((await read(id)).analysis, ANALYSIS);
  const rows = await sql<{ event: string; body: string }[]>`
    select event, body from deliveries where session_id = ${id} order by id`;
  t.same(
    rows.map(({ event }) => event),
    ['call.ended', 'call.ended', 'call.analyzed', 'call.analyzed'],
  );
  t.match(JSON.parse(rows[2]!.body), {
    event: 'call.analyzed',
    session: { id },
    analysis: { status: 'completed', summary: 'They talked.', data: ANALYSIS.data, criteria_results: ANALYSIS.criteriaResults, error: null, finished_at: /Z$/ },
  }); // prettier-ignore
  t.equal(
    (await sql`select 1 from sessions where id = ${id} and plan is not null`).length,
    0,
    'what it ran is forgotten',
  );

  const failing = await talk();
  for (let attempt = 0; attempt < LIMITS.session.analysisAttempts; attempt++) {
    t.match(await analyses.take(60_000), { record: { id: failing } });
    t.equal(await analyses.take(60_000), undefined, 'not while it is taken');
    await sql`update sessions set analysis_due_at = now() where id = ${failing}`;
  }
  t.equal(await analyses.take(60_000), undefined, 'three times in all');
  t.match((await read(failing)).analysis, { status: 'error' });
  const told = await sql`select 1 from deliveries where session_id = ${failing} and event = 'call.analyzed'`;
  t.equal(told.length, 2, 'and it is told all the same');
});
