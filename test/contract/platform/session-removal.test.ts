/**
 * Deleting sessions: one, those of an end user, old ones. Everything that belongs to a session is deleted with it, also the
 * files of its recording, on whichever machine they are.
 */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { removeOld } from '../../../storage/sessions/sweep.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { type Json, startPlatform } from '../../fixtures/platform/platform.js';
import { operator } from '../../fixtures/ops/operator.js';
import { until } from '../../fixtures/until.js';
import { insertTurn } from '../../fixtures/calls/turns.js';
import { folderOf } from '../../fixtures/folders.js';

const platform = await startPlatform(t, { CONCURRENCY: '100' });
const { call, gateway, database, url, otherKey } = platform;
const { sql } = database;
const SESSIONS = '/v1/agent/sessions';

const agentId = await platform.agent({ config: { conversation: { record_audio: true } } });
await call('POST', `/v1/agent/agents/${agentId}/publish`);

const create = async (more: Json = {}): Promise<string> => {
  const { status, text, body } = await call('POST', SESSIONS, { body: { agent_id: agentId, ...more } });
  if (status !== 201) throw new Error(`${status} ${text}`);
  return body['session_id'] as string;
};
/** Makes the session active, owned by a living process. */
const begin = (id: string) => sql`
  update sessions set status = 'active', joined_at = now(), started_at = now(),
    owner_id = (select process_id from session_owners order by seen_at desc limit 1) where id = ${id}`;

const recordingOf = (id: string, dataDir = gateway.dataDir): string => join(dataDir, 'recordings', id);

/** Creates everything that a call leaves behind, with a recording in that data folder, of this or of another machine. */
async function leave(id: string, dataDir = gateway.dataDir): Promise<void> {
  const host = dataDir === gateway.dataDir ? hostname() : 'another machine';
  await sql`
    insert into session_items (session_id, type, turn_id, created_at, content)
    values (${id}, 'message', 1, now(), '{"role":"user","content":"private"}')`;
  await insertTurn(sql, id);
  await sql`
    insert into deliveries (workspace_id, session_id, agent_id, event, url, body, outcome, settled_at)
    values (${platform.workspaceId}, ${id}, ${agentId}, 'call.ended', 'https://a.example/', '{}', 'delivered', now())`;
  await sql`update sessions set analysis = '{"status":"completed","summary":"private"}' where id = ${id}`;
  await sql`insert into recordings (session_id, host, started_at) values (${id}, ${host}, now())`;
  await sql`insert into recording_parts (session_id, part, host, started_at) values (${id}, 2, ${host}, now())`;
  mkdirSync(recordingOf(id, dataDir), { recursive: true });
  writeFileSync(join(recordingOf(id, dataDir), 'agent.ogg'), 'private');
}

async function ended(more: Json = {}, dataDir?: string): Promise<string> {
  const id = await create(more);
  await begin(id);
  await leave(id, dataDir);
  await call('POST', `${SESSIONS}/${id}/end`);
  return id;
}

/** Number of rows that each table still has of a session. */
const traces = async (id: string): Promise<Record<string, number>> => {
  const tables = {
    sessions: 'id',
    session_items: 'session_id',
    session_turns: 'session_id',
    deliveries: 'session_id',
    recording_parts: 'session_id',
  };
  const counts = Object.entries(tables).map(async ([table, column]) => {
    const rows = await sql`select from ${sql(table)} where ${sql(column)} = ${id}`;
    return [table, rows.length] as const;
  });
  return Object.fromEntries(await Promise.all(counts));
};
const NONE = { sessions: 0, session_items: 0, session_turns: 0, deliveries: 0, recording_parts: 0 };
const filesLeft = async (id: string): Promise<boolean> =>
  (await sql`select from deleted_recordings where session_id = ${id}`).length > 0;

const remove = (id: string, key?: string) =>
  call('DELETE', `${SESSIONS}/${id}`, key === undefined ? {} : { key });
const NOT_FOUND = { status: 404, message: 'Session not found' };

t.test('a session goes with its items, analysis, deliveries and audio', async (t) => {
  const id = await create();
  t.strictSame(
    [(await remove(id)).status, (await remove(id)).body],
    [409, { status: 409, message: 'Session has not ended; end it first' }],
    'it may still be joined',
  );
  await begin(id);
  await leave(id);
  t.equal((await remove(id)).status, 409, 'it goes on');
  t.equal((await call('GET', `${SESSIONS}/${id}`)).status, 200);
  await call('POST', `${SESSIONS}/${id}/end`);
  t.strictSame([(await remove(id, otherKey)).status, (await remove(id, otherKey)).body], [404, NOT_FOUND]);
  t.ok(existsSync(recordingOf(id)), "another workspace's is not touched");
  const answer = await remove(id);
  t.strictSame([answer.status, answer.text], [204, '']);
  await until('its files are gone', () => !existsSync(recordingOf(id)));
  t.strictSame(await traces(id), NONE);
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/recording'],
    ['POST', '/end'],
    ['DELETE', ''],
  ] as const)
    // oxfmt-ignore
    t.strictSame((await call(method, `${SESSIONS}/${id}${path}`)).body, NOT_FOUND, `${method} ${path}`);
  t.notMatch((await call('GET', `${SESSIONS}?status=pending,active,completed,failed`)).text, id);
});

t.test('a session that can no longer be joined is deleted before its end is recorded', async (t) => {
  const [late, connecting] = [await create(), await create()];
  await sql`update sessions set expires_at = now() - interval '1 second', joined_at = case when id = ${connecting} then now() end
    where id in (${late}, ${connecting})`;
  t.equal((await remove(connecting)).status, 409, 'somebody has spent its token');
  t.ok([204, 404].includes((await remove(late)).status));
  t.strictSame(await traces(late), NONE);
});

t.test('writes after a deletion are lost, and break nothing', async (t) => {
  const id = await ended();
  await sql`update sessions set analysis_due_at = now() where id = ${id}`;
  t.equal((await remove(id)).status, 204);
  t.equal((await remove('sess_unknown')).status, 404);
  t.equal((await remove('no%00id')).status, 404);
  t.equal((await call('DELETE', `${SESSIONS}/${id}`, { key: null })).status, 401);
});

t.test('beside a gateway on another machine', async (t) => {
  const dataDir = folderOf(t);
  const remote = await ended({}, dataDir);
  t.equal((await remove(remote)).status, 204);
  t.ok(existsSync(recordingOf(remote, dataDir)), 'this machine cannot reach its audio');
  t.ok(await filesLeft(remote), 'but it is remembered');
  await sql`update deleted_recordings set deleted_at = now() - interval '2 minutes' where session_id = ${remote}`;
  const shared = { DATABASE_URL: url, SECRETS_KEY: TEST_SECRET };
  const there = await startGateway({ ...shared, DATA_DIR: dataDir, SESSION_DAYS: '7' });
  t.teardown(() => there.stop());

  t.test('audio on that machine is removed there', async () => {
    await until('its machine has removed it', () => !existsSync(recordingOf(remote, dataDir)));
    await until('nothing is left to do', async () => !(await filesLeft(remote)));
  });

  t.test("an end user's sessions go, in batches, from two gateways at once", async (t) => {
    const user = 'customer/42 ü';
    const recorded = await ended({ end_user_id: user });
    const [others, pending, active] = [await ended({ end_user_id: 'customer/42' }), await create({ end_user_id: user }), await create({ end_user_id: user })]; // oxfmt-ignore
    await begin(active);
    const many = 2 * LIMITS.session.removedAtOnce;
    await sql`
      insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides, end_user_id,
        expires_at, ended_at, status, max_duration_seconds)
      select w.id || '_' || n, w.id, 'a', 'A', '', 'api_key', 'UTC', '{}', '{}', ${user}, now(), now(), 'completed', 60
      from generate_series(1, ${many}::int) n, workspaces w`;
    const listed = await call(
      'GET',
      `${SESSIONS}?end_user_id=${encodeURIComponent(user)}&page=1&page_size=1`,
    );
    t.equal(listed.body['total'], many + 2, 'all but the pending one are listed');
    const ask = (base: string) =>
      fetch(`${base}${SESSIONS}?end_user_id=${encodeURIComponent(user)}`, { method: 'DELETE', headers: gateway.authorization }).then((response) => response.json() as Promise<{ deleted: number; kept: number }>); // oxfmt-ignore
    const answers = await Promise.all([ask(gateway.base), ask(there.base), ask(gateway.base)]);
    t.equal(
      answers.reduce((sum, { deleted }) => sum + deleted, 0),
      many + 1,
      'each once',
    );
    t.strictSame(await ask(there.base), { deleted: 0, kept: 2 });
    t.strictSame(await traces(recorded), NONE);
    await until('its audio is gone', () => !existsSync(recordingOf(recorded)));
    for (const id of [others, pending, active]) t.equal((await traces(id))['sessions'], 1);
    const left =
      await sql`select from sessions where end_user_id = ${user} and workspace_id <> ${platform.workspaceId}`;
    t.equal(left.length, many, "another workspace's customer of that name is another one");
  });
});

t.test('an id of 256 characters is one wherever it stands, whatever they are', async (t) => {
  const id = '\u{1F642}'.repeat(256);
  await ended({ end_user_id: id });
  const whose = `${SESSIONS}?end_user_id=${encodeURIComponent(id)}`;
  t.equal(((await call('GET', whose)).body['sessions'] as Json[]).length, 1);
  t.strictSame((await call('DELETE', whose)).body, { deleted: 1, kept: 0 });
  t.equal((await call('DELETE', `${whose}x`)).status, 400);
  t.equal((await call('GET', `${whose}x`)).status, 400);
});

t.test('a deletion names whose sessions it means, and nothing else', async (t) => {
  const long = 'x'.repeat(LIMITS.session.endUserId);
  const queries = ['', '?end_user_id=', `?end_user_id=${long}x`, '?end_user_id=a&end_user_id=b', '?end_user_id=a&agent_id=b', '?status=failed', '?end_user_id=%00']; // oxfmt-ignore
  for (const query of queries) t.equal((await call('DELETE', SESSIONS + query)).status, 400, query);
  t.strictSame((await call('DELETE', `${SESSIONS}?end_user_id=${long}`)).body, { deleted: 0, kept: 0 });
});

t.test('the command deletes them as well, beside a running gateway', async (t) => {
  const sessions = operator('sessions', { DATABASE_URL: url, DATA_DIR: gateway.dataDir });
  const [gone, others, waiting] = [await ended({ end_user_id: '-x y' }), await ended({ end_user_id: 'x' }), await create({ end_user_id: '-x y' })]; // oxfmt-ignore
  const { code, out } = await sessions('delete', '--end-user-id=-x y', '--workspace', 'Default');
  t.strictSame([code, out.split('\n').slice(0, 2)], [0, ['Deleted 1 session of -x y.', 'Kept 1 session, not ended yet: try again after the end.']]); // oxfmt-ignore
  t.strictSame(await traces(gone), NONE);
  t.notOk(existsSync(recordingOf(gone)));
  for (const id of [others, waiting]) t.equal((await traces(id))['sessions'], 1);
  exactly(t, await sessions('delete', '--end-user-id', 'nobody'), {
    code: 0,
    out: /^Deleted 0 sessions of nobody/,
  });
  for (const words of [[], ['delete'], ['delete', '--end-user-id', ''], ['delete', 'x'], ['remove']])
    exactly(t, await sessions(...words), { code: 2, err: /^.+\n\nUsage: npm run sessions/ });
  exactly(t, await sessions('delete', '--end-user-id', 'x', '--workspace', 'Nowhere'), {
    code: 1,
    err: /Nowhere/,
  });
});

t.test('sessions chosen by number, metadata or session are shown first, then deleted', async (t) => {
  const sessions = operator('sessions', { DATABASE_URL: url, DATA_DIR: gateway.dataDir });
  const [called, dialled, customer, other] = [
    await ended(),
    await ended(),
    await ended({ metadata: { customer: 42, 'a=b': 'c' } }),
    await ended({ metadata: { customer: 'forty-two' } }),
  ];
  await sql`update sessions set caller_number = '+4930123' where id = ${called}`;
  // A person whom an agent has called, from a number of ours that identifies nobody.
  await sql`
    update sessions set caller_number = '+4930999', dialed_number = '+4930456', direction = 'outbound' where id = ${dialled}`;
  exactly(t, await sessions('list', '--caller-number', '+4930999'), { out: /^Nothing is kept of / });
  const cases: readonly (readonly [option: string, value: string, id: string])[] = [
    ['--caller-number', '+4930123', called],
    ['--caller-number', '+4930456', dialled],
    ['--metadata', 'customer=42', customer],
    ['--session-id', other, other],
  ];
  for (const [option, value, id] of cases) {
    const shown = await sessions('list', option, value);
    exactly(
      t,
      shown,
      { code: 0, out: new RegExp(`^ID .*RECORDED\\n${id} .* completed .* 1 +yes\\n$`) },
      option,
    );
    exactly(t, await sessions('delete', option, value), { code: 0, out: /^Deleted 1 session of / });
    t.strictSame(await traces(id), NONE);
    exactly(t, await sessions('list', option, value), { code: 0, out: /^Nothing is kept of / });
  }
  // Postgres cannot store these numbers and texts as jsonb: a query that converted them would fail for all sessions.
  const metadata =
    '{"n":1e999999,"a":"\\u0000","a":"","b":"\\ud800","b":"","id":12345678901234567890,"who":"Ada"}';
  const made = await call('POST', SESSIONS, {
    raw: `{"agent_id":"${agentId}","metadata":${metadata}}`,
    headers: { 'content-type': 'application/json' },
  });
  const odd = made.body['session_id'] as string;
  await begin(odd);
  await leave(odd);
  await call('POST', `${SESSIONS}/${odd}/end`);
  const plain = await ended({ metadata: { who: 'Ada' } });
  const both = await sessions('list', '--metadata', 'who=Ada');
  exactly(t, both, { code: 0, out: new RegExp(`\n${plain} [^]*\n${odd} `) });
  exactly(t, await sessions('delete', '--metadata', 'id=12345678901234567890'), {
    out: /^Deleted 1 session of /,
  });
  exactly(t, await sessions('delete', '--metadata', 'who=Ada'), { code: 0, out: /^Deleted 1 session of / });
  t.strictSame([await traces(odd), await traces(plain)], [NONE, NONE]);
  for (const words of [
    ['--metadata', 'customer'],
    ['--caller-number', '1', '--session-id', 'x'],
    ['--metadata', '=x'],
  ])
    exactly(
      t,
      await sessions('delete', ...words),
      { code: 2, err: /^.+\n\nUsage: / },
      'one of them, and whole',
    );
});

t.test('SESSION_DAYS after its end a session goes', async (t) => {
  const [old, young, going] = [await ended(), await ended(), await create()];
  await begin(going);
  await sql`update sessions set ended_at = now() - interval '8 days' where id = ${old}`;
  await sql`update sessions set ended_at = now() - interval '6 days' where id = ${young}`;
  await sql`update sessions set created_at = now() - interval '8 days' where id = ${going}`;
  await removeOld(sql);
  t.equal((await traces(old))['sessions'], 1, '0 keeps them');
  await Promise.all([removeOld(sql, { sessionDays: 7 }), removeOld(sql, { sessionDays: 7 })]);
  t.strictSame(await traces(old), NONE);
  t.ok(await filesLeft(old), 'its audio follows');
  for (const id of [young, going]) t.equal((await traces(id))['sessions'], 1);
});
