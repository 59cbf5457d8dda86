/** The audit trail: who did what, when, and from where; what is never part of it, and when it goes (gateway/server/audit.ts). */
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createAuditEntries } from '../../../storage/audit.js';
import { createAuditTrail } from '../../../gateway/agents/stats/audit.js';
import { declaredDialects } from '../../../gateway/declared-routes.js';
import { createKey, revokeKey } from '../../../storage/keys/keys.js';
import { removeOld } from '../../../storage/sessions/sweep.js';
import { limitWorkspace } from '../../../storage/workspaces.js';
import { exactly } from '../../fixtures/exactly.js';
import { formOf, type Json, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);
const { call, workspaceId, otherKey, database, key } = platform;
const { sql } = database;
const AUDIT = '/v1/agent/audit';

const entries = async (query = ''): Promise<readonly Json[]> =>
  (await call('GET', `${AUDIT}?page_size=100${query}`)).body['entries'] as Json[];
const actions = async (query = ''): Promise<readonly unknown[]> =>
  (await entries(query)).map(({ action }) => action);

t.test('every route that changes something says what it leaves', async (t) => {
  const silent = declaredDialects()
    .flatMap(({ routes }) => routes)
    .filter(({ permission, audit }) => (permission === 'manage' || permission === 'operate') && !audit);
  t.strictSame(
    silent.map(({ method, path }) => `${method} ${path}`),
    // The database notes these, whoever does them (keys-by-keys.test.ts).
    ['POST /v1/keys', 'DELETE /v1/keys/{key_id}'],
  );
});

t.test('what is done to an agent is told in order, with the key and its name', async (t) => {
  const agent = await platform.agent({ name: 'Lamp shop' });
  const path = `/v1/agent/agents/${agent}`;
  await call('PATCH', `${path}/config`, { body: { prompt: { system_prompt: 'A secret prompt.' } } });
  await call('POST', `${path}/publish`, { body: { version_title: 'First' } });
  await call('DELETE', path);
  const found = await entries(`&subject_id=${agent}`);
  t.strictSame(
    found.map(({ action }) => action),
    ['agent.deleted', 'agent.published', 'agent.configured', 'agent.created'],
  );
  exactly(t, found[1], {
    detail: '1',
    fields: ['version_title'],
    key_name: 'Own',
    count: 1,
    address: /127\.0\.0\.1|::1/,
  });
  exactly(t, found[2], { fields: ['prompt'] });
  t.strictSame(
    new Set(found.map(({ subject_name: name }) => name)),
    new Set(['Lamp shop']),
    'also what has gone',
  );
  const [used] = await sql<
    { id: string }[]
  >`select id from api_keys where workspace_id = ${workspaceId} and name = 'Own'`;
  t.equal(found[0]?.['key_id'], used?.id);
});

t.test('a form that is saved while somebody types is one entry', async (t) => {
  const agent = await platform.agent();
  const path = `/v1/agent/agents/${agent}/config`;
  for (const text of ['a', 'ab', 'abc'])
    await call('PATCH', path, { body: { prompt: { system_prompt: text } } });
  await call('PATCH', path, { body: { conversation: { timezone: 'UTC' } } });
  const [entry, ...more] = await entries(`&subject_id=${agent}&action=agent.configured`);
  exactly(t, entry, { count: 4, fields: ['conversation', 'prompt'] });
  t.strictSame(more, []);
  await sql`
    update audit_entries set at = at - ${LIMITS.audit.againMs + 1}::int * interval '1 millisecond' where subject_id = ${agent}`;
  await call('PATCH', path, { body: { conversation: { timezone: 'UTC' } } });
  t.equal((await entries(`&subject_id=${agent}&action=agent.configured`)).length, 2, 'later it is another');
});

t.test('what is refused, or only read, leaves nothing', async (t) => {
  const before = (await entries()).length;
  const agent = await platform.agent();
  await call('GET', `/v1/agent/agents/${agent}`);
  await call('PATCH', `/v1/agent/agents/${agent}`, { body: { name: '' } });
  await call('DELETE', '/v1/agent/agents/agent_5f0c8a1b2c3d4e5f60718293');
  await call('POST', `/v1/agent/agents/${agent}/publish`, { key: 'wrong' });
  t.equal((await entries()).length, before + 1);
});

t.test('secrets are in no entry, whatever is sent', async (t) => {
  const secret = 'hunter2-hunter2-hunter2-hunter2-';
  const tool = await platform.tool({ url: `https://shop.example.com/${secret}` });
  await call('PATCH', `/v1/agent/tools/${tool}`, { body: { description: secret } });
  await call('POST', '/v1/agent/phone-numbers', {
    body: { provider: 'twilio', phone_number: '+493012345678', credentials: { auth_token: secret } },
  });
  await platform.agent({ config: { webhooks: { post_call: { url: 'https://a.example/', secret } } } });
  const rows = await sql`select * from audit_entries where workspace_id = ${workspaceId}`;
  t.notMatch(JSON.stringify(rows), /hunter2/);
  exactly(t, await entries('&action=number.created'), [
    { subject_name: '+493012345678', fields: ['provider', 'phone_number', 'credentials'] },
  ]);
});

t.test('knowledge, voices, sessions, tests and redeliveries leave theirs', async (t) => {
  const source = await platform.source();
  await call('PATCH', `/v1/agent/knowledge-sources/${source}`, { raw: formOf({ name: 'Opening hours' }) });
  await call('DELETE', `/v1/agent/knowledge-sources/${source}`);
  t.strictSame(await actions(`&subject_id=${source}`), [
    'knowledge.deleted',
    'knowledge.changed',
    'knowledge.created',
  ]);
  await call('POST', '/v1/agent/redeliveries', { body: {} });
  await call('DELETE', '/v1/agent/sessions?end_user_id=ada');
  t.strictSame((await actions()).slice(0, 2), ['sessions.deleted', 'deliveries.redelivered']);
  t.notMatch(JSON.stringify(await entries()), /\bada\b/, 'and not whose they were');
});

t.test('keys, limits and sign-ins', async (t) => {
  const { id } = await createKey(sql, randomIds, { workspaceId, name: 'ci', role: 'read' });
  await revokeKey(sql, id);
  await revokeKey(sql, id);
  await limitWorkspace(sql, workspaceId, { calls: 5, outboundDisabled: true });
  await limitWorkspace(sql, workspaceId, { calls: 5 });
  t.equal((await call('POST', '/v1/sign-ins')).status, 204);
  t.equal((await call('POST', '/v1/sign-ins', { key: 'wrong' })).status, 401);
  const found = (await entries()).slice(0, 4);
  t.strictSame(
    found.map(({ action }) => action),
    ['signed_in', 'workspace.limited', 'key.revoked', 'key.created'],
  );
  exactly(t, found[3], { subject_id: id, subject_name: 'ci', detail: 'read', key_id: null, address: null });
  exactly(t, found[1], { fields: ['calls', 'outbound_disabled'] });
  exactly(t, found[0], { key_name: 'Own', fields: [] });
});

t.test('pages, filters, and another workspace', async (t) => {
  const all = await entries();
  const { body } = await call('GET', `${AUDIT}?page_size=2&include_total=true`);
  exactly(t, body, { has_more: true, total: all.length });
  const next = await call('GET', `${AUDIT}?page_size=2&cursor=${String(body['next_cursor'])}`);
  t.equal(((next.body['entries'] as Json[])[0] as Json)['entry_id'], all[2]?.['entry_id']);
  t.strictSame(await entries('&after=2100-01-01'), []);
  t.strictSame(await entries('&before=2000-01-01'), []);
  t.strictSame(new Set(await actions('&action=agent.published')), new Set(['agent.published']));
  t.strictSame(await entries('&key_id=key_none'), []);
  for (const query of ['?action=agent.stolen', '?after=soon', '?page_size=0'])
    t.equal((await call('GET', AUDIT + query)).status, 400, query);
  const other = (await call('GET', AUDIT, { key: otherKey })).body['entries'] as Json[];
  t.strictSame(
    other.map(({ action, subject_name: name }) => [action, name]),
    [['key.created', 'Other']],
  );
  const { key: reader } = await createKey(sql, randomIds, { workspaceId, name: 'reads', role: 'read' });
  const { key: speaker } = await createKey(sql, randomIds, { workspaceId, name: 'speaks', role: 'speech' });
  t.equal((await call('GET', AUDIT, { key: reader })).status, 200);
  t.equal((await call('GET', AUDIT, { key: speaker })).status, 403);
});

t.test('entries go after AUDIT_DAYS', async (t) => {
  const mine = async () => (await entries('&action=key.revoked')).length;
  t.equal(await mine(), 1);
  await sql`update audit_entries set last_at = now() - interval '25 hours' where action = 'key.revoked' and workspace_id = ${workspaceId}`;
  await removeOld(sql, {});
  t.equal(await mine(), 1, '0 keeps them');
  await removeOld(sql, { auditDays: 1 });
  t.equal(await mine(), 0);
});

t.test('an entry that cannot be kept is told to the operator, and undoes nothing', async (t) => {
  const told: unknown[] = [];
  const log = { ...silentLog, error: (...line: unknown[]) => void told.push(line) };
  const trail = createAuditTrail(createAuditEntries({ sql, asked: sql }), log);
  const entry = {
    workspaceId,
    keyId: key,
    action: 'agent.deleted',
    subjectId: 'a\0',
    subjectName: null,
  } as const;
  await trail.note({ ...entry, detail: null, address: '::1', fields: [] });
  exactly(t, told, [[{ action: 'agent.deleted', workspaceId }, 'an audit entry was not kept']]);
});
