/**
 * Upkeep of sessions, without a request: owners learn of ends, time runs out, rows are deleted, calls are analysed
 * (docs/contract/decisions.md 13, 22; docs/contract/platform.md 6.8).
 */
import t from '../../fixtures/tap.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { stateOf } from '../../../contracts/ports/calls/nodes.js';
import type { SessionAnalysis } from '../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../contracts/schemas/agent-config.js';
import { createAnalysisQueue } from '../../../storage/sessions/analyses.js';
import { dropDead } from '../../../storage/nodes.js';
import { listSessions } from '../../../storage/sessions/list.js';
import { keepSaid } from '../../../storage/sessions/said.js';
import { endOverdue, removeOld } from '../../../storage/sessions/sweep.js';
import { exactly } from '../../fixtures/exactly.js';
import { startRuns, storeAgent } from '../../fixtures/platform/session-runs.js';
import { until } from '../../fixtures/until.js';

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

t.test('an end that was announced while no process listened is found', async (t) => {
  const here = await runsOf(t);
  const heard: string[] = [];
  here.onEnded((id) => heard.push(id));
  const id = await create();
  await here.join(id);
  // Other files use the server as well.
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query ilike 'listen %' and pid <> pg_backend_pid()`;
  await sql`alter table sessions disable trigger sessions_ended`;
  await here.end(id, 'error');
  await sql`alter table sessions enable trigger sessions_ended`;
  await until('the owner has looked', () => heard.includes(id));
});

t.test('sessions that nobody joined, connected to or ended end by time', async (t) => {
  const runs = await runsOf(t);
  const overdue = (id: string, column: 'expires_at' | 'started_at', ms: number) => sql`
    update sessions set ${sql(column)} = now() - ${ms}::int * interval '1 millisecond' where id = ${id}`;
  const [fresh, late, connecting, lost, talking, endless, orphan] = await Promise.all(Array.from({ length: 7 }, () => create())) as [string, string, string, string, string, string, string]; // oxfmt-ignore
  await overdue(late, 'expires_at', 0);
  for (const id of [connecting, lost, talking, endless]) await runs.join(id);
  await overdue(connecting, 'expires_at', CALL_TIMES.connectMs - 30_000);
  await overdue(lost, 'expires_at', CALL_TIMES.connectMs);
  for (const id of [talking, endless]) await runs.activate(id);
  await overdue(talking, 'started_at', 600_000);
  await overdue(endless, 'started_at', 661_000);
  await sql`update sessions set owner_id = null where id = ${endless}`;
  await sql`update sessions set status = 'active', started_at = now(), owner_id = 'gone',
    lost_at = now() - ${CALL_TIMES.returnMs}::int * interval '1 millisecond' where id = ${orphan}`;
  await endOverdue(sql);
  const states = await Promise.all([fresh, late, connecting, lost, talking, endless, orphan].map(read));
  t.same(states.map(({ status, endedReason }) => [status, endedReason]), [
    ['pending', null], ['failed', 'not_joined'], ['pending', null], ['failed', 'not_joined'],
    ['active', null], ['completed', 'timeout'], ['failed', 'transport_lost'],
  ]); // oxfmt-ignore
  t.equal((await sql`select 1 from deliveries where session_id = ${late}`).length, 0);
  t.equal(
    (await sql`select 1 from deliveries where session_id = ${orphan}`).length,
    2,
    'a lost call is told of',
  );
});

t.test(
  'a call that outlives its longest duration is ended by its own process, by its own clock',
  async (t) => {
    let aheadMs = 0;
    const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + aheadMs };
    const here = await runsOf(t, clock);
    const [endless, waiting] = [await create(), await create()];
    for (const id of [endless, waiting]) await here.join(id);
    await here.activate(endless);
    const heard: string[] = [];
    here.onEnded((id) => heard.push(id));
    aheadMs = 600_000 + CALL_TIMES.overtimeMs;
    await until('the owner knows', () => heard.includes(endless));
    exactly(t, await read(endless), { status: 'completed', endedReason: 'timeout' });
    t.equal((await read(waiting)).status, 'pending', 'its time begins with its user');
  },
);

/** A session of a process that was last seen `seenMs` ago. */
async function held(seenMs: number): Promise<string> {
  const id = await create();
  await sql`insert into session_owners (process_id, address, lease_ms, seen_at)
    values (${id}, '', ${CALL_TIMES.leaseMs}, now() - ${seenMs}::int * interval '1 millisecond')`;
  await sql`update sessions set status = 'active', joined_at = now(), started_at = now(), owner_id = ${id} where id = ${id}`;
  return id;
}

const rowsOf = async (node: string): Promise<number> =>
  (await sql`select from session_owners where process_id = ${node}`).length;

t.test('a call whose process has died waits for its client, then its session ends as failed', async (t) => {
  const { leaseMs, returnMs } = CALL_TIMES;
  const [alive, dead, longDead] = [await held(0), await held(leaseMs + 11_000), await held(returnMs)];
  await dropDead(sql);
  await endOverdue(sql);
  t.equal((await read(alive)).status, 'active');
  t.equal((await read(dead)).status, 'active', 'its client may return');
  exactly(t, await read(longDead), { status: 'failed', endedReason: 'transport_lost' });
  t.strictSame(
    await Promise.all([alive, dead, longDead].map(rowsOf)),
    [1, 0, 0],
    'rows of dead processes are gone',
  );
  await sql`delete from session_owners where process_id = ${alive}`;
  await dropDead(sql);
  await endOverdue(sql);
  t.equal((await read(alive)).status, 'active', 'also where a process of an older version has left');
});

t.test('a call is taken over once its process is taken for dead, by one other', async (t) => {
  const [here, there] = [await runsOf(t), await runsOf(t)];
  const { leaseMs } = CALL_TIMES;
  const living = await held(leaseMs - 2000);
  exactly(t, await here.takeOver(living), { owner: { nodeId: living, alive: true } });
  t.notOk(await here.isLost(living));
  const lost = await held(leaseMs);
  t.ok(await here.isLost(lost));
  const said = { type: 'message', role: 'user', content: 'hi', turnId: 1, createdAt: new Date() } as const;
  await sql`insert into session_items (session_id, type, turn_id, created_at, content)
    values (${lost}, 'message', 1, '2026-01-01', ${JSON.stringify({ role: 'user', content: 'before' })})`;
  const outcomes = await Promise.all(
    Array.from({ length: 10 }, (_, index) => (index % 2 ? here : there).takeOver(lost)),
  );
  const taken = outcomes.filter((outcome) => 'record' in outcome);
  exactly(t, taken, [{ record: { id: lost, status: 'active' }, said: [{ content: 'before' }] }]);
  t.equal(taken.length, 1);
  const owner = (await here.owner(lost))?.nodeId;
  t.equal(outcomes.filter((outcome) => 'owner' in outcome && outcome.owner.nodeId === owner).length, 9);
  t.equal(await rowsOf(lost), 0, 'the dead one is no node any more');
  const [mine, other] = owner === here.processId ? [here, there] : [there, here];
  t.ok(await mine.isOwner(lost));
  t.equal(await other.finish(lost, 'hangup'), false, 'who is not its owner does not end it');
  await other.append(lost, [said]);
  await mine.append(lost, [{ ...said, content: 'after' }]);
  exactly(t, (await read(lost)).items, [{ content: 'before' }, { content: 'after' }]);
  t.equal((await read(lost)).items.length, 2, 'and adds nothing');
  await endOverdue(sql);
  t.equal((await read(lost)).status, 'active');
  t.equal(await mine.finish(lost, 'hangup'), true);
});

t.test('a process that was taken for dead lets go of its calls before it is a node again', async (t) => {
  const here = await runsOf(t);
  const id = await create();
  await here.join(id);
  await here.activate(id);
  const states: string[] = [];
  here.node.held.onChange((state) => states.push(state));
  await sql`delete from session_owners where process_id = ${here.processId}`;
  await until('it knows', () => states.length >= 2);
  t.strictSame(states, ['lost', 'held']);
  t.notOk(await here.isOwner(id));
  t.ok(await here.isLost(id));
  t.equal(await rowsOf(here.processId), 1);
});

t.test('nodes are listed with what they have room for', async (t) => {
  const here = await runsOf(t);
  here.node.serve('http://10.0.0.1:8080', () => ({
    calls: 3,
    places: 3,
    draining: false,
    load: 0.5,
    callCost: 0.1,
  }));
  const own = () => here.node.list().then((all) => all.find(({ id }) => id === here.processId));
  await until('it has said so', async () => (await own())?.url ?? undefined);
  const listed = (await own())!;
  exactly(t, listed, { url: 'http://10.0.0.1:8080', calls: 3, places: 3, version: '1', alive: true });
  t.equal(stateOf(listed), 'full');
  t.equal(stateOf({ ...listed, calls: 2 }), 'up');
  t.equal(stateOf({ ...listed, draining: true }), 'draining');
  t.equal(stateOf({ ...listed, alive: false, draining: true }), 'silent');
});

t.test('unneeded rows are deleted', async (t) => {
  await sql`insert into public_limits (kind, subject, minute, taken) values
    ('agent', 'old', date_trunc('minute', now()) - interval '5 minutes', 1), ('agent', 'new', date_trunc('minute', now()), 1)`;
  const id = await create();
  await sql`insert into deliveries (workspace_id, session_id, agent_id, event, url, body, outcome, settled_at)
    values (${workspaceId}, ${id}, 'a', 'call.ended', 'old', '', 'delivered', now() - interval '8 days'),
      (${workspaceId}, ${id}, 'a', 'call.ended', 'new', '', 'delivered', now())`;
  await removeOld(sql);
  t.same(
    (await sql`select subject from public_limits`).map(({ subject }) => subject as string),
    ['new'],
  );
  t.same(
    (await sql`select url from deliveries where session_id = ${id}`).map(({ url }) => url as string),
    ['new'],
  );
});

t.test(
  'the words of a call are found once it has ended, one by one, in any language, in its workspace',
  async (t) => {
    const says = async (ago: string, texts: readonly string[], more: Parameters<typeof create>[0] = {}) => {
      const id = await create(more);
      for (const content of texts)
        await sql`
        insert into session_items (session_id, type, turn_id, created_at, content)
        values (${id}, 'message', 1, now(), ${JSON.stringify({ role: 'user', content })})`;
      await sql`
      update sessions set status = 'completed', ended_at = now() - ${ago}::interval, ended_reason = 'hangup' where id = ${id}`;
      return id;
    };
    const lamps = await says('1 minute', ['I ordered three Lamps.', "Don't you have a café?"]);
    const hours = await says('1 hour', ['営業時間は何時ですか', 'Die Öffnungszeiten']);
    const odd = await says('1 day', [
      "\0'quoted' \\ back & forth | <b>tag</b> :*",
      'x'.repeat(70_000),
      'unfindable',
    ]);
    const silent = await says('2 days', []);
    const fresh = await says('0 seconds', ['I ordered a table.']);
    const preview = await says('1 minute', ['I ordered chairs.'], { source: 'dashboard' });
    const workspace = randomIds.next('workspace');
    await sql`insert into workspaces (id, name) values (${workspace}, 'Neighbour')`;
    await storeAgent({ sql }, workspace, 'agent_2');
    const theirs = { workspaceId: workspace, agentId: 'agent_2' };
    const foreign = await says('1 minute', ['I ordered three lamps.'], theirs);
    // More than one batch, by two processes at once.
    const many = await Promise.all(Array.from({ length: 120 }, () => says('3 days', ['The same again.'])));
    await Promise.all([keepSaid(sql), keepSaid(sql)]);
    await keepSaid(sql);
    const [row] = await sql<{ ids: string[] }[]>`
    select array_agg(id) as ids from sessions where terms is null and id = any(${[lamps, hours, odd, silent, fresh, preview, foreign, ...many]})`; // oxfmt-ignore
    t.strictSame(
      new Set(row?.ids),
      new Set([fresh, preview]),
      'last words may still come, and previews are in no list',
    );

    const page = { size: 100, offset: 0, total: true };
    const find = async (search: string, workspaceId_ = workspaceId) => {
      const { rows, total } = await listSessions(
        sql,
        { workspaceId: workspaceId_, filter: { search } },
        page,
      );
      if (rows.length < page.size) t.equal(total, rows.length);
      return rows.map(({ id }) => id);
    };
    const found: readonly (readonly [string, readonly string[]])[] = [
      ['ordered lamps', [lamps]],
      ['LAMP', [lamps]],
      ['lam three', [lamps]],
      ['la', []],
      ['lamps chairs', []],
      ['cafe', [lamps]],
      ["don't", [lamps]],
      ['営業', [hours]],
      ['時間は', [hours]],
      ['offnungszeiten', [hours]],
      ['quoted forth', [odd]],
      ["' \\ & | ! :* ( <->", []],
      ['unfindable', []],
      ['table', []],
      [' ', []],
    ];
    for (const [search, ids] of found) t.strictSame(await find(search), ids, search);
    t.strictSame(await find('lamps', workspace), [foreign]);
    t.equal((await find('same')).length, 100);
    await sql`update sessions set ended_at = now() - interval '10 seconds' where id = ${fresh}`;
    await keepSaid(sql);
    t.strictSame(new Set(await find('ordered')), new Set([lamps, fresh]));
  },
);

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
  exactly(t, taken, {
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
  exactly(t, JSON.parse(rows[2]!.body), {
    event: 'call.analyzed',
    session: { id },
    analysis: { status: 'completed', summary: 'They talked.', data: ANALYSIS.data, criteria_results: ANALYSIS.criteriaResults, error: null, finished_at: /Z$/ },
  }); // oxfmt-ignore
  t.equal(
    (await sql`select 1 from sessions where id = ${id} and plan is not null`).length,
    0,
    'what it ran is forgotten',
  );

  const failing = await talk();
  for (let attempt = 0; attempt < LIMITS.session.analysisAttempts; attempt++) {
    exactly(t, await analyses.take(60_000), { record: { id: failing } });
    t.equal(await analyses.take(60_000), undefined, 'not while it is taken');
    await sql`update sessions set analysis_due_at = now() where id = ${failing}`;
  }
  t.equal(await analyses.take(60_000), undefined, 'three times in all');
  exactly(t, (await read(failing)).analysis, { status: 'error' });
  const told = await sql`select 1 from deliveries where session_id = ${failing} and event = 'call.analyzed'`;
  t.equal(told.length, 2, 'and it is told all the same');
});
