/**
 * Upkeep of sessions, without a request: owners hear of ends, time runs out, rows go, calls are analysed (fine
 * points 13, 22; 6.8).
 */
import t from 'tap';
import { CALL_TIMES } from '../../contracts/call-times.js';
import { LIMITS } from '../../contracts/limits.js';
import type { SessionAnalysis } from '../../contracts/ports/sessions.js';
import { DEFAULT_CONFIG } from '../../contracts/schemas/agent-config.js';
import { createAnalysisQueue } from '../../storage/sessions/analyses.js';
import { endOverdue, removeOld } from '../../storage/sessions/sweep.js';
import { startRuns } from '../fixtures/session-runs.js';
import { until } from '../fixtures/until.js';

const { sql, workspaceId, create, runsOf, read } = await startRuns(t);
const analyses = createAnalysisQueue(sql);

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
  await overdue(connecting, 'expires_at', CALL_TIMES.connectMs - 30_000);
  await overdue(lost, 'expires_at', CALL_TIMES.connectMs);
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
  await sql`update session_owners set seen_at = now() - ${CALL_TIMES.ownerMs}::int * interval '1 millisecond'
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
