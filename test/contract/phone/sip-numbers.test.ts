/**
 * Numbers of `sip` in the described platform's fields (docs/contract/platform.md 6.13), at a gateway in livekit mode whose LiveKit server
 * is a double of its SIP API: imported, read, written back, configured anew.
 */
import { randomInt } from 'node:crypto';
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { SipApi } from '../../fixtures/livekit/sip-api.js';
import { type Json, places, startPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const { api, env } = await SipApi.start(t);
const platform = await startPlatform(t, env);
const { call, database } = platform;
const agent_id = await platform.agent();
const NUMBERS = '/v1/agent/phone-numbers';
const newNumber = (): string => `+4989${randomInt(1e8, 1e9)}`;
const post = (more: Json = {}) =>
  call('POST', NUMBERS, { body: { provider: 'sip', phone_number: newNumber(), agent_id, ...more } });
const at = ({ phone_number_id: id }: Json): string => `${NUMBERS}/${String(id)}`;
const trunkOf = ({ phone_number: number }: Json): Json | undefined =>
  api.trunks.find((trunk) => (trunk['numbers'] as string[]).includes(String(number)));

const FULL = {
  inbound_auth_username: 'caller',
  inbound_auth_password: 'the-inbound-password',
  inbound_allowed_addresses: ['203.0.113.0/24', '2001:db8::1'],
  termination_uri: 'sip.example.com:5061',
  termination_transport: 'tls',
  termination_auth_username: 'trunk',
  termination_auth_password: 'the-termination-password',
};
const NOTHING = {
  inbound_auth_username: '',
  inbound_allowed_addresses: [],
  termination_uri: '',
  termination_transport: 'auto',
  termination_auth_username: '',
};
const shown = ({ inbound_auth_password: _, termination_auth_password: __, ...rest }: typeof FULL) => rest;

t.test('a number is imported with all of it, and reads show all but the passwords', async (t) => {
  const { status, body, text } = await post({ label: 'Desk', ...FULL });
  t.equal(status, 201, text);
  exactly(t, body, {
    ...{ label: 'Desk', status: 'active', status_detail: '', supports_outbound: true, ...shown(FULL) },
  });
  t.notMatch(text, /the-inbound-password|the-termination-password/);
  exactly(t, trunkOf(body), {
    ...{ authUsername: 'caller', authPassword: 'the-inbound-password' },
    allowedAddresses: FULL.inbound_allowed_addresses,
  });
  t.strictSame((await call('GET', at(body))).body, body);
  exactly(t, await call('PATCH', at(body), { body }), { status: 200, body: shown(FULL) });
  const changed = await call('PATCH', at(body), { body: { termination_uri: 'sip.example.org' } });
  t.same([changed.status, places(changed)], [422, ['termination_uri']]);
  const [row] = await database.sql<{ sealed: Buffer; api: Buffer }[]>`
    select sealed_inbound as sealed, sealed_api as api from phone_numbers where id = ${String(body['phone_number_id'])}`;
  t.notOk(row!.sealed.includes('the-inbound-password') || row!.api.includes('the-termination-password'));
});

t.test('one way in is enough: addresses, or an account', async (t) => {
  const { body: byAddress } = await post({ inbound_allowed_addresses: ['198.51.100.7'] });
  exactly(t, byAddress, {
    ...NOTHING,
    inbound_allowed_addresses: ['198.51.100.7'],
    supports_outbound: false,
  });
  t.strictSame(trunkOf(byAddress)?.['authUsername'] ?? '', '');
  const account = { inbound_auth_username: 'a', inbound_auth_password: 'b' };
  const { body: byAccount } = await post({ ...account, termination_uri: 'sip.example.com' });
  exactly(t, byAccount, {
    ...NOTHING,
    inbound_auth_username: 'a',
    termination_uri: 'sip.example.com',
    supports_outbound: true,
  });
  exactly(t, trunkOf(byAccount), { authUsername: 'a', authPassword: 'b' });
  t.strictSame(trunkOf(byAccount)?.['allowedAddresses'] ?? [], []);
});

t.test('what does not fit together is 422, with its place', async (t) => {
  const addresses = { inbound_allowed_addresses: ['203.0.113.7'] };
  const cases: readonly (readonly [Json, ...string[]])[] = [
    [{ label: 'x' }, 'credentials'],
    [{ termination_uri: 'sip.example.com' }, 'inbound_allowed_addresses'],
    [{ inbound_allowed_addresses: [] }, 'inbound_allowed_addresses'],
    [{ inbound_allowed_addresses: ['example.com'] }, 'inbound_allowed_addresses.0'],
    [{ inbound_allowed_addresses: ['203.0.113.7, 203.0.113.8'] }, 'inbound_allowed_addresses.0'],
    [{ inbound_allowed_addresses: Array(33).fill('203.0.113.7') }, 'inbound_allowed_addresses'],
    [{ inbound_auth_username: 'a' }, 'inbound_auth_password'],
    [{ ...addresses, inbound_auth_password: 'b' }, 'inbound_auth_username'],
    [{ ...addresses, termination_uri: 'sip:sip.example.com' }, 'termination_uri'],
    [{ ...addresses, termination_uri: 'sip.example.com;transport=tls' }, 'termination_uri'],
    [{ ...addresses, termination_transport: 'tls' }, 'termination_uri'],
    [{ ...addresses, termination_transport: 'sctp', termination_uri: 'a' }, 'termination_transport'],
    [{ ...addresses, termination_auth_username: 'u', termination_auth_password: 'p' }, 'termination_uri'],
    [{ ...addresses, termination_uri: 'a', termination_auth_username: 'u' }, 'termination_auth_password'],
    [{ ...addresses, credentials: { allowed_addresses: '203.0.113.7' } }, 'credentials'],
    [{ ...addresses, provider: 'twilio' }, 'inbound_allowed_addresses'],
  ];
  for (const [body, ...wanted] of cases) {
    const answer = await post(body);
    t.same([answer.status, places(answer)], [422, wanted], JSON.stringify(body).slice(0, 90));
  }
});

t.test('a number that is taken, or that LiveKit refuses, is 409', async (t) => {
  const phone_number = newNumber();
  const wanted = { phone_number, inbound_allowed_addresses: ['203.0.113.7'] };
  t.equal((await post(wanted)).status, 201);
  t.equal((await post(wanted)).status, 409);
  api.refuses = 'taken';
  const refused = await post({ inbound_allowed_addresses: ['203.0.113.7'] });
  api.refuses = undefined;
  exactly(t, refused, { status: 409, body: { message: /^The LiveKit server does not take it/ } });
});

t.test(
  'a number that LiveKit does not answer for stays, says so, and is set up when LiveKit answers',
  async (t) => {
    const phone_number = newNumber();
    const wanted = { phone_number, inbound_allowed_addresses: ['203.0.113.7'] };
    const { body: other } = await post({ inbound_allowed_addresses: ['203.0.113.7'] });
    api.refuses = 'away';
    const failed = await post(wanted);
    exactly(t, failed, { status: 502, body: { message: /the number stays, with the status error/ } });
    const listed = async () => {
      const { body } = await call('GET', `${NUMBERS}?phone_number=${encodeURIComponent(phone_number)}`);
      return (body['phone_numbers'] as Json[])[0] ?? {};
    };
    exactly(t, await listed(), { phone_number, status: 'error', status_detail: /could not be reached/ });
    t.equal((await post(wanted)).status, 409);
    const changed = await call('PUT', `${at(other)}/sip-config`, {
      body: { inbound_allowed_addresses: ['198.51.100.7'] },
    });
    exactly(t, changed, { status: 200, body: { status: 'error', status_detail: /could not be reached/ } });
    api.refuses = undefined;
    exactly(t, await call('PATCH', at(other), { body: { label: 'Desk' } }), {
      status: 200,
      body: { status: 'active', status_detail: '' },
    });
    exactly(t, await listed(), { status: 'active', status_detail: '' });
    t.ok(trunkOf(await listed()), 'with the next update');
  },
);

t.test('its configuration is replaced as a whole; passwords that are left out stay', async (t) => {
  const { body } = await post(FULL);
  const put = (config: Json) => call('PUT', `${at(body)}/sip-config`, { body: config });
  const { inbound_auth_password: _, ...kept } = { ...FULL, termination_auth_password: '' };
  exactly(t, await put({ ...kept, inbound_auth_username: 'other', termination_uri: 'b.example.com' }), {
    status: 200,
    body: { ...shown(FULL), inbound_auth_username: 'other', termination_uri: 'b.example.com' },
  });
  await until('LiveKit has it', () => trunkOf(body)?.['authUsername'] === 'other');
  exactly(t, trunkOf(body), { authPassword: 'the-inbound-password' }, 'the stored one');
  exactly(t, await put({ inbound_allowed_addresses: ['198.51.100.7'], termination_uri: '' }), {
    status: 200,
    body: { ...NOTHING, inbound_allowed_addresses: ['198.51.100.7'], supports_outbound: false },
  });
  await until('LiveKit has it', () => (trunkOf(body)?.['authUsername'] ?? '') === '');
  const none = await put({ inbound_auth_username: 'a' });
  exactly(t, none, { status: 422, body: { message: 'missing field inbound_auth_password' } });
  t.same(places(await put({})), ['inbound_allowed_addresses']);
  exactly(t, (await call('GET', at(body))).body, { inbound_allowed_addresses: ['198.51.100.7'] });
  t.equal((await call('PUT', `${NUMBERS}/phone_0/sip-config`, { body: FULL })).status, 404);
  const twilio = { provider: 'twilio', phone_number: newNumber(), credentials: { auth_token: 'x' } };
  const { body: other } = await call('POST', NUMBERS, { body: twilio });
  t.equal((await call('PUT', `${at(other)}/sip-config`, { body: FULL })).status, 409);
  exactly(t, (await call('GET', at(other))).body, { status: 'active' });
});

t.test('numbers in the form of before are read in these fields too', async (t) => {
  const credentials = {
    ...{ allowed_addresses: '203.0.113.0/24, 198.51.100.7', server: 'sip.example.com;transport=udp' },
    ...{ username: 'u', password: 'p' },
  };
  const { body } = await post({ credentials });
  exactly(t, body, {
    ...{ inbound_auth_username: '', inbound_allowed_addresses: ['203.0.113.0/24', '198.51.100.7'] },
    ...{ termination_uri: 'sip.example.com', termination_transport: 'udp', termination_auth_username: 'u' },
  });
});
