/** Keys that keys make and revoke (CONSOLE_KEYS): who may, what they may, how long, and what the audit trail says. */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Role } from '../../../contracts/permissions.js';
import { createAccounts } from '../../../storage/accounts.js';
import { createKey } from '../../../storage/keys/keys.js';
import { createWorkspace } from '../../../storage/workspaces.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { sharedPlatform, startPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const platform = await startPlatform(t, { CONSOLE_KEYS: 'true' });
const { call, database, workspaceId } = platform;
const { sql } = database;

const make = (body: object, key?: string) =>
  call('POST', '/v1/keys', { body, ...(key !== undefined && { key }) });
const owner = (role: Role, more: { expiresAt?: Date; workspace?: string } = {}) =>
  createKey(sql, randomIds, {
    ...{ workspaceId: more.workspace ?? workspaceId, name: `an owner, ${role}`, role },
    expiresAt: more.expiresAt ?? null,
  });

t.test('a full key makes a key, which is told once, works, and is revoked', async (t) => {
  const maker = await owner('full');
  const { status, body } = await make({ name: 'ours', role: 'read' }, maker.key);
  t.equal(status, 201);
  const { key, key_id: id } = body as { key: string; key_id: string };
  exactly(t, body, { name: 'ours', role: 'read', tail: key.slice(-4), expires_at: null, revoked_at: null });
  t.equal((await call('GET', '/v1/agent/agents', { key })).status, 200);
  const { body: listed } = await call('GET', '/v1/keys', { key });
  exactly(t, listed, { changeable: true });
  t.notOk(JSON.stringify(listed).includes(key));
  t.equal((await call('DELETE', `/v1/keys/${id}`, { key: maker.key })).status, 204);
  await until('it is refused', async () => (await call('GET', '/v1/agent/agents', { key })).status === 401);
  t.equal((await call('DELETE', `/v1/keys/${id}`, { key: maker.key })).status, 204, 'once more is no error');
  const trail = await call('GET', `/v1/agent/audit?subject_id=${id}`);
  const entries = trail.body['entries'] as Record<string, unknown>[];
  t.strictSame(
    entries.map(({ action, count }) => [action, count]),
    [
      ['key.revoked', 1],
      ['key.created', 1],
    ],
  );
  for (const entry of entries) t.match(JSON.stringify(entry), new RegExp(`${maker.id}.*127\\.0\\.0\\.1`));
});

t.test('no key but a full one makes or revokes keys, and none of another workspace is revoked', async (t) => {
  for (const role of ['speech', 'sessions', 'read', 'machine'] as const) {
    const { key } = await owner(role);
    t.equal((await make({ name: 'x' }, key)).status, 403, role);
    t.equal((await call('DELETE', '/v1/keys/key_x', { key })).status, 403, role);
  }
  const { id: other } = await createWorkspace(sql, randomIds, 'Others');
  const theirs = await owner('full', { workspace: other });
  t.equal((await call('DELETE', `/v1/keys/${theirs.id}`)).status, 404);
  t.equal((await call('GET', '/v1/keys', { key: theirs.key })).status, 200);
  exactly(t, await make({ name: 'figures of all', role: 'machine' }, theirs.key), {
    status: 403,
    body: { message: /workspace Default/ },
  });
  t.equal((await make({ name: 'figures of all', role: 'machine' })).status, 201);
});

t.test('a key ends no later than the one that makes it', async (t) => {
  const end = new Date(Date.now() + 3_600_000);
  const { key } = await owner('full', { expiresAt: end });
  const endOf = async (more: object) => (await make({ name: 'x', ...more }, key)).body['expires_at'];
  t.equal(await endOf({}), end.toISOString());
  t.equal(await endOf({ expires_at: '2090-01-01T00:00:00Z' }), end.toISOString());
  const soon = new Date(Date.now() + 60_000).toISOString();
  t.equal(await endOf({ expires_at: soon }), soon);
});

t.test('what is no key is refused', async (t) => {
  const bad = [{}, { name: '' }, { name: 'x'.repeat(121) }, { name: 'a\nb' }, { name: 'x', role: 'owner' }];
  const more = [
    { name: 'x', expires_at: '2001-01-01T00:00:00Z' },
    { name: 'x', expires_at: 'soon' },
    { name: 'x', key: 'mine' },
  ];
  for (const body of [...bad, ...more]) t.equal((await make(body)).status, 400, JSON.stringify(body));
  t.equal((await make({ name: 'x'.repeat(20_000) })).status, 413);
});

t.test('a workspace has a thousand valid keys at most, and a revoked key makes none', async (t) => {
  const { id } = await createWorkspace(sql, randomIds, 'Full');
  const maker = await owner('full', { workspace: id });
  await sql`
    insert into api_keys (id, workspace_id, name, origin, digest, tail, role)
    select 'key_' || n, ${id}, 'one of many', 'command', sha256(('many' || n)::bytea), '', 'read'
    from generate_series(1, ${LIMITS.keys.valid - 1}::int) n`;
  t.equal((await make({ name: 'x' }, maker.key)).status, 409);
  t.equal((await call('DELETE', '/v1/keys/key_1', { key: maker.key })).status, 204);
  t.equal((await make({ name: 'x' }, maker.key)).status, 201);
  const accounts = createAccounts({ sql, quotas: {}, defaultLimit: 1, callsPerWorkspace: null });
  const by = { workspaceId: id, keyId: maker.id, address: '' };
  await accounts.revokeKey(maker.id, by);
  await rejectsExactly(t, accounts.makeKey({ name: 'x', role: 'full', expiresAt: null }, by), {
    code: 'invalid_key',
  });
});

t.test('without the setting only the command makes and revokes keys', async (t) => {
  const other = await sharedPlatform(t);
  exactly(t, (await other.call('GET', '/v1/keys')).body, { changeable: false });
  exactly(t, await other.call('POST', '/v1/keys', { body: { name: 'x' } }), {
    status: 409,
    body: { message: /CONSOLE_KEYS=true/ },
  });
  t.equal((await other.call('DELETE', '/v1/keys/key_x')).status, 409);
});
