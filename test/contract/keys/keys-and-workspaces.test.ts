/** Keys with roles and expiry, and workspaces, managed by an operator while a gateway runs. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { silentLog } from '../../../contracts/log.js';
import { expiryOf } from '../../../gateway/commands/expiry.js';
import { createKey, createKeyAuthority } from '../../../storage/keys/keys.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { operator } from '../../fixtures/ops/operator.js';
import { startPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';
import { insertTurn } from '../../fixtures/calls/turns.js';

const platform = await startPlatform(t);
const { gateway, database, workspaceId, call } = platform;
const { sql } = database;
const env = { DATABASE_URL: platform.url, DATA_DIR: gateway.dataDir };
const [keys, workspaces] = [operator('keys', env), operator('workspaces', env)];

const keyIn = (out: string): string => /\bsk_[\w-]{43}/.exec(out)?.[0] ?? '';

t.test('a key is made with its workspace, role and expiry, and listed with them', async (t) => {
  const made = await keys(
    'create',
    'for calls',
    '--workspace',
    'Other',
    '--role',
    'sessions',
    '--expires',
    '30d',
  );
  t.equal(made.code, 0, made.err);
  t.match(made.out, /role sessions, workspace Other, until 20/);
  const key = keyIn(made.out);
  t.equal((await call('GET', '/v1/agent/sessions', { key })).status, 200);
  t.equal((await call('GET', '/v1/agent/agents', { key })).status, 403);
  const [row] = await sql<{ days: number }[]>`
    select extract(epoch from expires_at - now())::float8 / 86400 as days from api_keys where name = 'for calls'`;
  t.ok((row?.days ?? 0) > 29.9 && (row?.days ?? 0) <= 30);
  await until('its use is noted', async () => {
    const [used] = await sql`select 1 from api_keys where name = 'for calls' and last_used_at is not null`;
    return used !== undefined;
  });
  const { out } = await keys('list');
  t.match(out, /ID .*WORKSPACE .*ROLE .*STATE .*EXPIRES .*LAST USED .*NAME/);
  t.match(out, /Other +sessions +valid +20\S+Z +20\S+Z +20\S+Z +for calls/);
  t.notMatch(out, key);

  const plain = await keys('create');
  t.match(plain.out, /role full, workspace Default\./, 'full by default');
});

t.test('a command with unknown options or values makes nothing', async (t) => {
  const misuse = [
    ['create', 'a', '--role', 'owner'],
    ['create', 'a', '--expires', 'soon'],
    ['create', 'a', '--expires', '0d'],
    ['create', 'a', '--expires', '2001-01-01'],
    ['create', 'a', '--colour', 'red'],
    ['create', 'a', '--role'],
    ['list', '--role', 'full'],
  ];
  for (const words of misuse) {
    const { code, err } = await keys(...words);
    t.equal(code, 2, words.join(' '));
    t.match(err, 'Usage:');
  }
  const unknown = await keys('create', 'a', '--workspace', 'Nowhere');
  exactly(t, unknown, { code: 1, out: '', err: /No workspace is named Nowhere/ });
  t.equal((await sql`select 1 from api_keys where name = 'a'`).length, 0);
  for (const words of [[], ['create'], ['remove'], ['create', 'a', 'b'], ['create', 'x', '--force']])
    t.equal((await workspaces(...words)).code, 2, words.join(' '));
});

t.test('an expiry is a time from now or a day to come', (t) => {
  const now = Date.parse('2026-01-01T00:00:00Z');
  const cases: readonly [string, string | undefined][] = [
    ['30m', '2026-01-01T00:30:00.000Z'],
    ['12h', '2026-01-01T12:00:00.000Z'],
    ['30d', '2026-01-31T00:00:00.000Z'],
    ['8w', '2026-02-26T00:00:00.000Z'],
    ['2030-01-31', '2030-01-31T00:00:00.000Z'],
    ['2030-01-31T12:00Z', '2030-01-31T12:00:00.000Z'],
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ...['2030-02-31', '2027-02-29', '2030-02-30T12:00Z', '2030-04-31'].map((text): [string, undefined] => [
      text,
      undefined,
    ]),
    ...['', '0d', '-1d', '1.5d', '1y', '2025-12-31', '2026-01-01', '2030-13-01', '999999999w', '30 d'].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ];
  for (const [text, at] of cases) t.equal(expiryOf(text, now)?.toISOString(), at, text);
  t.end();
});

t.test('a key that a process knows ends by the clock, without a look-up', async (t) => {
  let ahead = 0;
  const clock = { ...systemClock, now: () => Date.now() + ahead };
  const authority = await createKeyAuthority({ database, clock, log: silentLog });
  t.teardown(() => authority.stop());
  const wanted = { workspaceId, name: 'short', expiresAt: new Date(Date.now() + 30_000) };
  const { id, key } = await createKey(sql, randomIds, wanted);
  exactly(t, await authority.authenticate(key), { keyId: id });
  ahead = 30_000;
  await rejectsExactly(t, authority.authenticate(key), { code: 'expired_key', status: 401 });
  ahead = 0;
  exactly(t, await authority.authenticate(key), { keyId: id });
  await sql`update api_keys set expires_at = now() where id = ${id}`;
  await until('a change of its expiry is announced', () =>
    authority.authenticate(key).then(
      () => false,
      () => true,
    ),
  );
});

t.test('workspaces are made and listed', async (t) => {
  exactly(t, await workspaces('create', 'Acme'), { code: 0, out: /Made workspace Acme \(ws_\w+\)/ });
  exactly(t, await workspaces('create', 'Acme'), { code: 1, err: /There is a workspace Acme already/ });
  const { out } = await workspaces('list');
  t.match(out, /ID .*KEYS .*AGENTS .*SESSIONS .*LIVE .*NAME/);
  t.match(out, /Default \(default\)/);
  t.match(out, /ws_\w+ +0 +0 +0 +0 +\S+ +Acme/);
});

t.test('a workspace has its own limits if they were set', async (t) => {
  await workspaces('create', 'Limited');
  const shown = async (...options: string[]): Promise<readonly string[]> => {
    const { code, out } = await workspaces('limits', 'Limited', ...options);
    t.equal(code, 0);
    return out.trim().split('\n').slice(1).map((line) => line.replace(/.*: /, '')); // oxfmt-ignore
  };
  t.strictSame(await shown(), ['default', 'default', 'default', 'default', 'default', 'on']);
  const given = ['--concurrency', '3', '--calls', '2', '--characters', '1000', '--conversation-seconds', '0'];
  t.strictSame(await shown(...given, '--outbound', 'off'), ['3', '2', '1000', 'default', '0', 'off']);
  t.strictSame(await shown('--characters', 'default', '--transcription-seconds', '60'), [
    '3',
    '2',
    'default',
    '60',
    '0',
    'off',
  ]);
  t.equal((await shown('--outbound', 'on')).at(-1), 'on');
  const [row] = await sql`select transcription_ms::int as ms from workspaces where name = 'Limited'`;
  t.equal(row!['ms'], 60_000);
  const key = (await keys('create', 'k', '--workspace', 'Limited')).out.trim().split('\n').at(-1)!;
  await workspaces('limits', 'Limited', '--characters', '0');
  const refused = await call('POST', '/v1/tts', { key, body: { text: 'Hello there.' } });
  exactly(t, refused, { status: 402 }, 'and they hold in a running gateway');
  exactly(t, await workspaces('limits', 'Nowhere'), { code: 1, err: /No workspace is named Nowhere/ });
  exactly(t, await workspaces('limits', 'Limited', '--characters', 'many'), {
    code: 2,
    err: /^Wrong arguments: limits Limited --characters many\n\nUsage/,
  });
  t.equal((await workspaces('limits', 'Limited', '--outbound', 'perhaps')).code, 2);
  await workspaces('remove', 'Limited');
});

const SECRET_HEADER = { name: 'Authorization', value: 'abc', kind: 'authorization_bearer' };

/** Inserts tests of an agent, and a finished run of them. */
async function fillTests(workspace: string, agent: string): Promise<void> {
  const owner = { workspace_id: workspace, agent_id: agent, name: 'Tests' };
  await sql`insert into agent_test_scenarios ${sql({ id: 'scen_1', ...owner, definition: '{}' })}`;
  await sql`insert into agent_test_suites ${sql({ id: 'suite_1', ...owner })}`;
  await sql`insert into agent_test_suite_scenarios values ('suite_1', 'scen_1', 0)`;
  await sql`
    insert into agent_test_runs (id, workspace_id, agent_id, agent_name, config_hash, status, ended_at)
    values ('run_1', ${workspace}, ${agent}, 'Agent', '', 'passed', now())`;
  await sql`
    insert into agent_test_results (run_id, place, workspace_id, scenario_id, scenario_name, definition, status)
    values ('run_1', 0, ${workspace}, 'scen_1', 'Tests', '{}', 'passed')`;
}

/** Creates one of everything that a workspace may own. */
async function fill(key: string, id: string): Promise<{ sessionId: string; recording: string }> {
  const post = async (path: string, body: object) => (await call('POST', path, { body, key })).body;
  const tool = await post('/v1/agent/tools', { name: 'Tool', headers: [SECRET_HEADER] });
  const form = new FormData();
  form.set('source', new File(['# Hours\n\nOpen at seven.'], 'hours.md'));
  const { body: source } = await call('POST', '/v1/agent/knowledge-sources', { raw: form, key });
  const { agent_id: agentId } = await post('/v1/agent/agents', { name: 'Agent' });
  const config = {
    llm: { custom: { base_url: 'https://llm.example/v1', model: 'm', api_key: 'k' } },
    tools: { tool_ids: [tool['tool_id']] },
    knowledge_base: { knowledge_source_ids: [source['knowledge_source_id']] },
  };
  const attached = await call('PATCH', `/v1/agent/agents/${String(agentId)}/config`, { body: config, key });
  if (attached.status !== 200) throw new Error(attached.text);
  await post(`/v1/agent/agents/${String(agentId)}/publish`, {});
  const { session_id: sessionId } = await post('/v1/agent/sessions', { agent_id: agentId });
  await post('/compat/elevenlabs/v1/single-use-token/tts_websocket', {});
  await post('/compat/v1/realtime/client_secrets', {});
  const session = String(sessionId);
  await sql`insert into recordings (session_id, host, started_at) values (${session}, ${hostname()}, now())`;
  await sql`
    insert into recording_parts (session_id, part, host, started_at) values (${session}, 2, ${hostname()}, now())`;
  await sql`
    insert into session_items (session_id, type, turn_id, created_at, content)
    values (${session}, 'message', 1, now(), '{}')`;
  await sql`
    insert into session_events (session_id, type, turn_id, created_at, content)
    values (${session}, 'llm.endpoint_error', 1, now(), '{}')`;
  await insertTurn(sql, session);
  await sql`
    insert into knowledge_vectors (source_id, revision, position, model, embedding)
    select source_id, revision, position, 'm', '{1}' from knowledge_chunks where source_id = ${String(source['knowledge_source_id'])}`;
  await sql`insert into placed_call_attempts values (${id}, '2026-01-01', 1)`;
  await sql`insert into usage values (${id}, 'conversation_ms', '2026-01-01', 1)`;
  await sql`
    with sent as (
      insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
      values (${id}, ${session}, ${String(agentId)}, 'call.ended', 'https://a.example', '{}') returning id)
    insert into delivery_attempts select id, 1, now(), 10, 200, null, false from sent`;
  await sql`
    insert into voices (id, workspace_id, title, visibility) values (${'0'.repeat(32)}, ${id}, 'v', 'private')`;
  await sql`insert into voice_references values (${'0'.repeat(32)}, 0, '', '')`;
  await fillTests(id, String(agentId));
  await sql`
    insert into phone_numbers (id, workspace_id, provider, address, enabled, sealed)
    values ('phone_1', ${id}, 'twilio', '+493012345678', true, '')`;
  await sql`insert into phone_calls values ('phone_1', 'CA1')`;
  await sql`
    insert into placed_calls
      (id, workspace_id, number_id, provider, from_address, to_address, agent_id, session_id, max_ring_seconds, due_at)
    values ('call_1', ${id}, 'phone_1', 'twilio', '+493012345678', '+14155550123', ${String(agentId)}, ${session}, 30,
      now() + interval '1 hour')`;
  await sql`
    insert into phone_transfers (id, session_id, number_id, provider, caller_call_id, tool_call_id, mode, label, to_address, due_at)
    values ('transfer_1', ${session}, 'phone_1', 'twilio', 'CA1', 'call_1', 'warm', 'Desk', '+14155550124', now() + interval '1 hour')`;
  await sql`insert into audit_entries (workspace_id, action) values (${id}, 'signed_in')`;
  await sql`
    insert into call_figures select ${id}, now(), 'a', 1, 'public', 'hangup', true, '', 1, 0, 0, 0, 0, 0, 0, 0, 0, '{}'`;
  await sql`insert into delivery_receivers (workspace_id, address, failures) values (${id}, 1, 1)`;
  await sql`insert into redeliveries (workspace_id, outcome, up_to) values (${id}, 'failed', 0)`;
  const recording = join(gateway.dataDir, 'recordings', session);
  mkdirSync(recording, { recursive: true });
  writeFileSync(join(recording, 'agent.ogg'), 'audio');
  return { sessionId: session, recording };
}

/** Tables of processes and of clean-up, whose rows come and go. */
const PASSING = ['session_owners', 'public_limits', 'slot_leases', 'deleted_recordings', 'schema_migrations'];

async function rowsOfAll(): Promise<Record<string, number>> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`;
  const counts = tables
    .filter(({ name }) => !PASSING.includes(name))
    .map(async ({ name }): Promise<[string, number]> => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from ${sql(name)}`;
      return [name, row?.count ?? 0];
    });
  return Object.fromEntries(await Promise.all(counts));
}

t.test('a workspace is removed with everything in it, and nothing else', async (t) => {
  await platform.agent();
  await platform.tool();
  await workspaces('create', 'Gone');
  const [{ id } = { id: '' }] = await sql<{ id: string }[]>`select id from workspaces where name = 'Gone'`;
  const before = await rowsOfAll();
  const key = keyIn((await keys('create', 'owner', '--workspace', id)).out);
  const { sessionId, recording } = await fill(key, id);
  const full = await rowsOfAll();
  const empty = Object.keys(full).filter((name) => full[name] === before[name]);
  t.same(empty, ['settings', 'workspaces'], 'every table has a row of it');

  exactly(t, await workspaces('remove', 'Gone'), { code: 1, err: /Gone has 1 live session: .*--force/ });
  t.equal((await call('GET', `/v1/agent/sessions/${sessionId}`, { key })).status, 200, 'nothing was touched');
  exactly(t, await workspaces('remove', 'Gone', '--force'), { code: 0, out: /Removed workspace Gone/ });
  t.same(await rowsOfAll(), { ...before, workspaces: (before['workspaces'] ?? 0) - 1 });
  t.notOk(existsSync(recording), "its recordings' files are gone");
  await until('its key is refused', async () => {
    const { status } = await call('GET', '/v1/agent/sessions', { key });
    return status === 401;
  });
  exactly(t, await workspaces('remove', 'Gone'), { code: 1, err: /No workspace is named Gone/ });
  t.equal((await call('GET', '/v1/agent/agents')).status, 200, 'the others go on');
});

t.test('a key sees what its workspace has used, and its keys', async (t) => {
  await workspaces('create', 'Measured');
  const key = keyIn((await keys('create', 'reader', '--workspace', 'Measured', '--role', 'read')).out);
  const limits = [
    '--concurrency',
    '3',
    '--calls',
    '2',
    '--characters',
    '1000',
    '--conversation-seconds',
    '0',
  ];
  await workspaces('limits', 'Measured', ...limits);
  const [{ id } = { id: '' }] = await sql<
    { id: string }[]
  >`select id from workspaces where name = 'Measured'`;
  const month = sql`date_trunc('month', now() at time zone 'utc')::date`;
  await sql`insert into usage values (${id}, 'synthesis_characters', ${month}, 70), (${id}, 'conversation_ms', ${month}, 2500)`;
  const { body } = await call('GET', '/v1/usage', { key });
  exactly(t, body, {
    workspace_id: id,
    workspace_name: 'Measured',
    concurrency: 3,
    calls: 2,
    synthesis_characters: { used: 70, quota: 1000 },
    transcription_seconds: { used: 0 },
    conversation_seconds: { used: 2.5, quota: 0 },
  });
  t.ok(Date.parse(String(body['until'])) > Date.now());
  const { body: listed } = await call('GET', '/v1/keys', { key });
  const rows = listed['keys'] as Record<string, unknown>[];
  t.strictSame(
    rows.map(({ name, role, revoked_at }) => [name, role, revoked_at]),
    [['reader', 'read', null]],
  );
  t.equal(rows[0]?.['tail'], key.slice(-4));
  t.notOk(JSON.stringify(listed).includes(key), 'a key is not told');
});

t.test('the default workspace stays', async (t) => {
  exactly(t, await workspaces('remove', 'Default', '--force'), { code: 1, err: /is the default workspace/ });
  t.equal((await call('GET', '/v1/agent/agents')).status, 200);
});

t.test('a deleted session takes its recording along, in the gateway that has the files', async (t) => {
  const key = keyIn((await keys('create', 'owner', '--workspace', 'Acme')).out);
  const [{ id } = { id: '' }] = await sql<{ id: string }[]>`select id from workspaces where name = 'Acme'`;
  const { sessionId, recording } = await fill(key, id);
  await sql`delete from sessions where id = ${sessionId}`;
  t.ok(await until('the files are gone', () => !existsSync(recording)));
});
