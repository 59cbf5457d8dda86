/** Replacing the secret that seals credentials: SECRETS_KEY_PREVIOUS, then `npm run secrets -- rotate`. */
import { mkdtempSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { createPhoneNumbers } from '../../../storage/phone/phone-numbers.js';
import { keepSecret, openSecretsOf } from '../../../storage/secrets/sealed.js';
import { openSecrets } from '../../../storage/secrets/secrets.js';
import { ensureDefaultWorkspace } from '../../../storage/workspaces.js';
import { exactly } from '../../fixtures/exactly.js';
import { operator } from '../../fixtures/ops/operator.js';
import { startPostgres } from '../../fixtures/database/postgres.js';

const postgres = await startPostgres(t);
const { sql } = await postgres.migrated();
const workspaceId = await ensureDefaultWorkspace(sql, randomIds);
const dataDir = mkdtempSync(join(tmpdir(), 'secrets-'));
t.teardown(() => rmSync(dataDir, { recursive: true, force: true }));
const file = join(dataDir, 'secrets-key');
const rotate = (env: Record<string, string> = {}) =>
  operator('secrets', { DATABASE_URL: postgres.url, DATA_DIR: dataDir, ...env })('rotate');

const KINDS = ['tool', 'webhook', 'model'] as const;
const OWNERS = KINDS.map((kind) => ({ kind, id: `${kind}_1` }));
type Opened = Awaited<ReturnType<typeof openSecrets>>;
const keep = async (secrets: Opened): Promise<void> => {
  for (const owner of OWNERS)
    await sql.begin((tx) =>
      keepSecret(tx, secrets, { ...owner, workspaceId }, 'header', `sesame of ${owner.id}`),
    );
};
const read = async (secrets: Opened) =>
  Promise.all(OWNERS.map(async (owner) => (await openSecretsOf(sql, secrets, owner, ['header']))[0]));
const ALL = OWNERS.map(({ id }) => `sesame of ${id}`);

t.test('the secret in DATA_DIR gives way to a new one', async (t) => {
  await keep(await openSecrets({ sql, dataDir }));
  const before = readFileSync(file, 'utf8');
  exactly(t, await rotate(), {
    code: 0,
    out: /^Re-encrypted 3 secrets\.\nThe new secret is in .*secrets-key/,
  });
  t.not(readFileSync(file, 'utf8'), before);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.strictSame(await read(await openSecrets({ sql, dataDir })), ALL);
  writeFileSync(`${file}.old`, before);
  await t.rejects(openSecrets({ sql, dataDir, secretsKey: before.trim() }), /is not the secret/);
});

t.test('a run that was cut off before the file was replaced is finished by the next', async (t) => {
  const old = readFileSync(file, 'utf8');
  await rotate();
  renameSync(file, `${file}.next`);
  writeFileSync(file, old);
  await t.rejects(openSecrets({ sql, dataDir }), /is not the secret/);
  exactly(t, await rotate(), { code: 0, out: /^Re-encrypted 0 secrets/ });
  t.strictSame(await read(await openSecrets({ sql, dataDir })), ALL);
});

t.test('SECRETS_KEY takes over from the file, and another from that', async (t) => {
  const first = 'the first key of several machines';
  const second = 'the second key of several machines';
  exactly(t, await rotate({ SECRETS_KEY: first }), {
    code: 0,
    out: /^Re-encrypted 3.*\nSECRETS_KEY is the secret/,
  });
  t.strictSame(await read(await openSecrets({ sql, dataDir, secretsKey: first })), ALL);

  const both = { sql, dataDir, secretsKey: second, previous: first };
  const early = await openSecrets(both);
  t.strictSame(await read(early), ALL, 'gateways open what the previous one sealed');
  const [owner] = OWNERS;
  await sql.begin((tx) => keepSecret(tx, early, { ...owner!, workspaceId }, 'header', ALL[0]!));
  const late = await openSecrets({ sql, dataDir, secretsKey: first });
  t.ok(late, 'and those with the previous one still start');
  exactly(t, await rotate({ SECRETS_KEY: second, SECRETS_KEY_PREVIOUS: first }), {
    code: 0,
    out: /^Re-encrypted 3/,
  });
  t.strictSame(await read(await openSecrets({ sql, dataDir, secretsKey: second })), ALL);
  await t.rejects(openSecrets({ sql, dataDir, secretsKey: first }), /is not the secret/);
});

t.test('if the previous secret is not the one in use, nothing changes', async (t) => {
  const sealed = () =>
    sql`select sealed from secrets union all select sealed from model_keys order by sealed`;
  const before = await sealed();
  const wrong = { SECRETS_KEY: 'x'.repeat(20), SECRETS_KEY_PREVIOUS: 'y'.repeat(20) };
  exactly(t, await rotate(wrong), { code: 1, err: /^SECRETS_KEY_PREVIOUS is not the secret/ });
  exactly(t, await rotate({ SECRETS_KEY: 'short' }), { code: 1, err: /16 to 4096 characters/ });
  t.strictSame(await sealed(), before);
});

t.test('secrets of phone numbers are sealed anew as well', async (t) => {
  const [secretsKey, next] = ['the second key of several machines', 'the third key of several machines'];
  const numbers = (secrets: Opened) => createPhoneNumbers({ sql, ids: randomIds, secrets });
  const owned = { label: '', agentId: null, enabled: true, apiUrl: null };
  const wanted = { provider: 'twilio', address: '+493012345678', ...owned } as const;
  const other = { ...wanted, address: '+493012345679' };
  const before = await openSecrets({ sql, dataDir, secretsKey });
  await numbers(before).create(wanted, { secret: 'sesame', api: { account_sid: 'AC1' } }, workspaceId);
  await numbers(before).create(other, { secret: 'open' }, workspaceId);
  const rotated = await rotate({ SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: secretsKey });
  exactly(t, rotated, { code: 0, out: /^Re-encrypted 5 secrets/ });
  const after = await openSecrets({ sql, dataDir, secretsKey: next });
  const [found] = await numbers(after).find('twilio', wanted.address);
  exactly(t, found, { secret: 'sesame', number: { placesCalls: true } });
  exactly(t, await numbers(after).find('twilio', other.address), [{ number: { placesCalls: false } }]);
  const api = { account_sid: 'AC2' };
  exactly(t, await numbers(after).change(found!.number.id, workspaceId, { api }), { placesCalls: true });
  await t.rejects(numbers(before).find('twilio', wanted.address), /unable to authenticate data/);
});

t.test('so is the account of callers over SIP', async (t) => {
  const [secretsKey, next] = ['the third key of several machines', 'the fourth key of several machines'];
  const numbers = (secrets: Opened) => createPhoneNumbers({ sql, ids: randomIds, secrets });
  const [{ id: agentId } = { id: null }] = await sql<{ id: string }[]>`
    insert into agents (id, workspace_id, name, description, config)
    values (${randomIds.next('agent')}, ${workspaceId}, 'A', '', '{}') returning id`;
  const wanted = {
    provider: 'sip',
    address: '+493012345670',
    label: '',
    agentId,
    enabled: true,
    apiUrl: null,
  } as const;
  const inbound = { username: 'caller', password: 'sesame' };
  const before = await openSecrets({ sql, dataDir, secretsKey });
  await numbers(before).create(wanted, { secret: '203.0.113.7', inbound }, workspaceId);
  exactly(t, await rotate({ SECRETS_KEY: next, SECRETS_KEY_PREVIOUS: secretsKey }), { code: 0 });
  const after = numbers(await openSecrets({ sql, dataDir, secretsKey: next }));
  exactly(t, await after.answered('sip'), [{ secret: '203.0.113.7', inbound }]);
});
