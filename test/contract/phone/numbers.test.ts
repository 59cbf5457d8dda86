/** Phone numbers (docs/contract/platform.md 6.13): bounds, stored and shown fields, and owners. */
import { randomInt } from 'node:crypto';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { removeOld } from '../../../storage/sessions/sweep.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';
import { twilioDouble } from '../../fixtures/phone/twilio.js';

const platform = await sharedPlatform(t);
const { call, database, gateway, workspaceId, otherKey } = platform;
const { sql } = database;
const NUMBERS = '/v1/agent/phone-numbers';

const newNumber = (): string => `+4989${randomInt(1e8, 1e9)}`;
const body = (more: Json = {}): Json => ({
  provider: 'twilio',
  phone_number: newNumber(),
  credentials: { auth_token: 'secret' },
  ...more,
});
const post = (more: Json = {}, key?: string) =>
  call('POST', NUMBERS, { body: body(more), ...(key && { key }) });
const at = (id: unknown): string => `${NUMBERS}/${String(id)}`;

t.test('a number is added, read, listed, changed and removed', async (t) => {
  const agentId = await platform.agent();
  const number = newNumber();
  const { status, body: added } = await post({ phone_number: number, agent_id: agentId });
  t.equal(status, 201);
  const { phone_number_id: id, created_at: created, updated_at: updated, answer_url: url, ...rest } = added;
  t.match(url, new RegExp(`^${gateway.base}/v1/phone/twilio/answer/[0-9a-f]{64}$`));
  t.match(id, /^phone_[0-9a-f]{24}$/);
  t.equal(created, updated);
  t.strictSame(rest, {
    workspace_id: workspaceId,
    provider: 'twilio',
    phone_number: number,
    label: '',
    agent_id: agentId,
    enabled: true,
    places_calls: false,
    supports_outbound: false,
    status: 'active',
    status_detail: '',
    api_url: null,
  });
  t.strictSame((await call('GET', at(id))).body, added);
  const listed = await call('GET', `${NUMBERS}?include_total=true`);
  exactly(t, listed.body, { phone_numbers: [added], total: 1, has_more: false });
  exactly(t, await call('PATCH', at(id), { body: added }), { status: 200, body: { phone_number: number } });
  exactly(t, (await call('PATCH', at(id), { body: { enabled: false } })).body, {
    enabled: false,
    agent_id: agentId,
  });
  exactly(t, (await call('PATCH', at(id), { body: { agent_id: null } })).body, {
    enabled: false,
    agent_id: null,
  });
  t.equal((await call('DELETE', at(id))).status, 204);
  t.equal((await call('GET', at(id))).status, 404);
  t.equal((await call('DELETE', at(id))).status, 404);
});

t.test('a list has the number, or the numbers of the agent, that are asked for (D16)', async (t) => {
  const agentId = await platform.agent();
  const numbers = [newNumber(), newNumber(), newNumber()];
  for (const phone_number of numbers) await post({ phone_number, agent_id: agentId });
  await post();
  const listed = async (query: string) => {
    const { body } = await call('GET', `${NUMBERS}?${query}&include_total=true`);
    const found = (body['phone_numbers'] as Json[]).map(({ phone_number: number }) => number);
    t.equal(body['total'], found.length, query);
    return found;
  };
  const [number = ''] = numbers;
  for (const written of [number, encodeURIComponent(number), number.slice(1)])
    t.same(await listed(`phone_number=${written}`), [number], written);
  t.same(await listed('phone_number=%2B49301'), [], 'a number that there is not');
  t.same(await listed(`agent_id=${agentId}`), numbers.toReversed());
  t.same(await listed(`agent_id=${agentId}&phone_number=${number}`), [number]);
  t.same(await listed('agent_id=agent_none'), []);
  t.equal((await call('GET', `${NUMBERS}?phone_number=${'1'.repeat(65)}`)).status, 400);
});

t.test('a label is for people: empty at first, 120 characters at most', async (t) => {
  const label = 'ß'.repeat(LIMITS.phone.label);
  const { body: added } = await post({ label });
  t.equal(added['label'], label);
  const id = at(added['phone_number_id']);
  exactly(t, (await call('PATCH', id, { body: { enabled: false } })).body, { label });
  exactly(t, (await call('PATCH', id, { body: { label: 'Desk' } })).body, { label: 'Desk', enabled: false });
  exactly(t, (await call('PATCH', id, { body: { label: '' } })).body, { label: '' });
  for (const wrong of [`${label}x`, 5, null])
    t.equal((await call('PATCH', id, { body: { label: wrong } })).status, 422, `${wrong}`);
});

t.test('a number outlives its agent, and then rings busy', async (t) => {
  const agentId = await platform.agent();
  const phone_number = newNumber();
  const { body: added } = await post({ agent_id: agentId, phone_number });
  t.equal((await call('DELETE', `/v1/agent/agents/${agentId}`)).status, 204);
  exactly(t, (await call('GET', at(added['phone_number_id']))).body, { agent_id: null });
  const ring = async (callId: string) => {
    const asked = twilioDouble.ask(
      `${gateway.base}/v1/phone/twilio/answer`,
      { callId, from: '+14155550123', to: phone_number },
      'secret',
    );
    return (await fetch(`${gateway.base}/v1/phone/twilio/answer`, asked)).text();
  };
  t.match(await ring('CA_1'), /<Reject reason="busy"\/>/);
  await call('PATCH', at(added['phone_number_id']), { body: { enabled: false } });
  t.match(await ring('CA_2'), /<Reject reason="rejected"\/>/);
});

t.test('another workspace has no part in it, but may have the same number', async (t) => {
  const phone_number = newNumber();
  const { body: added } = await post({ phone_number });
  const id = at(added['phone_number_id']);
  t.equal((await call('GET', id, { key: otherKey })).status, 404);
  t.equal((await call('PATCH', id, { key: otherKey, body: {} })).status, 404);
  t.equal((await call('DELETE', id, { key: otherKey })).status, 404);
  t.equal((await post({ phone_number })).status, 409, 'once in a workspace');
  t.equal((await post({ phone_number, credentials: { auth_token: 'theirs' } }, otherKey)).status, 201);
  t.equal((await post({ agent_id: await platform.agent() }, otherKey)).status, 404, 'nor its agents');
  const url = `${gateway.base}/v1/phone/twilio/answer`;
  const ring = async (secret: string, callId: string) => {
    const details = { callId, from: '+14155550123', to: phone_number };
    return (await fetch(url, twilioDouble.ask(url, details, secret))).status;
  };
  t.same(
    [
      await ring('secret', 'CA1'),
      await ring('theirs', 'CA1'),
      await ring('theirs', 'CA1'),
      await ring('?', 'CA2'),
    ],
    [200, 200, 409, 403],
    'the signature says whose a call is',
  );
});

t.test('numbers that are no numbers, and credentials that are none, are 422', async (t) => {
  const cases: [Json, ...string[]][] = [
    [{ phone_number: '030 123456' }, 'phone_number'],
    ...['anonymous', 'extension 12', '+1', '911', '4930123456'].map((phone_number): [Json, string] => [
      { phone_number },
      'phone_number',
    ]),
    [{ phone_number: `+${'1'.repeat(16)}` }, 'phone_number'],
    [{ phone_number: `sip:${'a'.repeat(LIMITS.session.phoneNumber)}@b.de` }, 'phone_number'],
    [{ phone_number: 4930123456 }, 'phone_number'],
    [{ provider: 'nobody' }, 'provider'],
    [{ credentials: {} }, 'credentials.auth_token'],
    [{ credentials: { auth_token: '' } }, 'credentials.auth_token'],
    [{ credentials: { auth_token: 'x'.repeat(LIMITS.phone.credential.max + 1) } }, 'credentials.auth_token'],
    [{ credentials: { auth_token: 'x', password: 'y' } }, 'credentials.password'],
    [
      { provider: 'telnyx', credentials: { auth_token: 'x' } },
      'credentials.public_key',
      'credentials.auth_token',
    ],
    [
      { provider: 'telnyx', credentials: { public_key: 'x', api_key: 'y' } },
      ...['credentials.account_sid', 'credentials.application_sid'],
    ],
    [{ api_url: 'nowhere' }, 'api_url'],
    [{ api_url: 'https://10.0.0.1' }, 'api_url'],
    [{ enabled: 'yes' }, 'enabled'],
    [{ colour: 'red' }, 'colour'],
  ];
  for (const [wrong, ...wanted] of cases) {
    const answer = await post(wrong);
    t.equal(answer.status, 422, JSON.stringify(wrong).slice(0, 60));
    t.same(places(answer), wanted);
  }
  t.equal((await post({ agent_id: 'agent_000000000000000000000000' })).status, 404);
  const { body: added } = await post();
  const id = at(added['phone_number_id']);
  for (const wrong of [{ phone_number: newNumber() }, { provider: 'x' }, { credentials: { password: 'y' } }])
    t.equal((await call('PATCH', id, { body: wrong })).status, 422, JSON.stringify(wrong));
});

t.test('a credential is sealed, never shown, and replaced at once', async (t) => {
  const phone_number = newNumber();
  const { body: added, text } = await post({ phone_number, credentials: { auth_token: 'the-first-token' } });
  t.notMatch(text, 'the-first-token');
  const id = String(added['phone_number_id']);
  const [row] = await sql<{ sealed: Buffer }[]>`select sealed from phone_numbers where id = ${id}`;
  t.notOk(row!.sealed.includes('the-first-token'));
  const { text: changed } = await call('PATCH', at(id), {
    body: { credentials: { auth_token: 'the-next-token' } },
  });
  t.notMatch(changed, 'the-next-token');
  const url = `${gateway.base}/v1/phone/twilio/answer`;
  const ring = async (secret: string) => {
    const details = { callId: `CA${secret}`, from: '+14155550123', to: phone_number };
    return (await fetch(url, twilioDouble.ask(url, details, secret))).status;
  };
  t.same([await ring('the-first-token'), await ring('the-next-token')], [403, 200]);
});

t.test('credentials for a provider’s API are set together, and replaced one by one', async (t) => {
  const { body: added } = await post();
  const id = at(added['phone_number_id']);
  const change = (body: Json) => call('PATCH', id, { body });
  exactly(t, await change({ credentials: { account_sid: 'AC1' }, api_url: 'https://api.example.com' }), {
    status: 200,
    body: { places_calls: true, api_url: 'https://api.example.com' },
  });
  exactly(t, (await change({ api_url: null })).body, { places_calls: true, api_url: null });
  const telnyx = { provider: 'telnyx', credentials: { public_key: 'x' } };
  const { body: other } = await post(telnyx);
  const partly = { credentials: { api_key: 'KEY', account_sid: 'a' } };
  const refused = await call('PATCH', at(other['phone_number_id']), { body: partly });
  t.same([refused.status, places(refused)], [422, ['credentials.application_sid']]);
  const whole = { credentials: { ...partly.credentials, application_sid: '1' } };
  exactly(t, (await call('PATCH', at(other['phone_number_id']), { body: whole })).body, {
    places_calls: true,
  });
  exactly(t, (await call('PATCH', at(other['phone_number_id']), { body: partly })).body, {
    places_calls: true,
  });
});

t.test('SIP needs livekit mode, and addresses that its calls come from', async (t) => {
  const sip = (credentials: Json) => post({ provider: 'sip', credentials });
  t.equal((await sip({ allowed_addresses: '203.0.113.0/24, 2001:db8::1' })).status, 409);
  const refused = await sip({ allowed_addresses: 'example.com' });
  t.same([refused.status, places(refused)], [422, ['credentials.allowed_addresses']]);
});

t.test('a workspace has 500 numbers at most', async (t) => {
  const { perWorkspace } = LIMITS.phone;
  await sql`
    insert into phone_numbers (id, workspace_id, provider, address, enabled, sealed)
    select 'many_' || ${workspaceId} || n, ${workspaceId}, 'twilio', 'sip:' || n || '@a.example', true, ''
    from generate_series(1, ${perWorkspace}) n`;
  exactly(t, await post(), { status: 409, body: { message: /500 phone numbers already/ } });
  await sql`delete from phone_numbers where workspace_id = ${workspaceId} and id like 'many_%'`;
  t.equal((await post()).status, 201);
});

t.test('SESSION_DAYS: calls are known for as long as sessions are kept', async (t) => {
  const { body: added } = await post();
  const id = String(added['phone_number_id']);
  await sql`
    insert into phone_calls (number_id, call_id, created_at)
    values (${id}, 'old', now() - interval '8 days'), (${id}, 'young', now() - interval '6 days')`;
  const known = async () =>
    (await sql`select call_id from phone_calls where number_id = ${id} order by created_at`).map(
      ({ call_id: call }) => String(call),
    );
  await removeOld(sql);
  t.same(await known(), ['old', 'young'], 'where nothing is configured');
  await Promise.all([removeOld(sql, { sessionDays: 7 }), removeOld(sql, { sessionDays: 7 })]);
  t.same(await known(), ['young']);
});
