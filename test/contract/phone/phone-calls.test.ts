/** Calls that are placed as the described platform does (docs/contract/platform.md 6.14): shape, order of checks, reasons, keys, limits. */
import t from '../../fixtures/tap.js';
import { type Body, type Call, client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { twilioApi } from '../../fixtures/phone/api-twilio.js';
import { newNumber, PlacedCalls, SECRET } from '../../fixtures/phone/placed-calls.js';
import { standIn } from '../../fixtures/stand-in.js';
import { until } from '../../fixtures/until.js';
import { createKey } from '../../../storage/keys/keys.js';
import { randomIds } from '../../../contracts/ids.js';
import { createPlacedCalls } from '../../../storage/phone/placed-calls.js';
import type { PhoneNumber } from '../../../contracts/ports/phone/phone.js';

const calls = await PlacedCalls.start(t);
const { talks, sql } = calls;
const { call: ask, gateway } = talks;
const own = await calls.line(twilioApi);

const requestOf = (more: Body = {}): Body => ({
  agent_id: calls.agentId,
  phone_number_id: own.numberId,
  to_number: newNumber(),
  ...more,
});
const place = (more: Body = {}, headers = {}) => ask('phone-calls', { body: requestOf(more), headers });

t.test('a call is placed, and its session tells what became of it', async (t) => {
  const to = newNumber();
  const metadata = { order: 'A-17' };
  const { status, body } = await place({ to_number: to, metadata, dynamic_variables: { name: 'Ada' } });
  const { session_id: id } = body;
  t.strictSame([status, body], [201, { session_id: id, status: 'queued' }]);
  const session = () => talks.record({ session_id: String(id) });
  exactly(t, await session(), {
    ...{ direction: 'outbound', dial_status: null, answered_by: null, caller_number: to, metadata },
  });
  const call = await own.api.call(to);
  t.equal(await call.tell('busy', SECRET), 204);
  const settled = await until('it is settled', async () => {
    const record = (await session()) as Body;
    return record['dial_status'] === null ? undefined : record;
  });
  exactly(t, settled, { dial_status: 'busy', answered_by: null });
});

t.test('a session is ended like any other, and its call with it', async (t) => {
  const to = newNumber();
  const { body } = await place({ to_number: to });
  const call = await own.api.call(to);
  t.equal((await ask(`sessions/${String(body['session_id'])}/end`, { method: 'POST' })).status, 204);
  await until('it is hung up', () => own.api.hungUp.includes(call.callId));
});

t.test('the zero of Japan’s numbers at home is not dialled', async (t) => {
  for (const to_number of ['+81080 1234 5678', '+81 80-1234-5678']) {
    t.equal((await place({ to_number })).status, 201);
    await until('it is dialled', () => own.api.calls.find(({ to }) => to === '+818012345678'));
    own.api.calls.length = 0;
  }
});

t.test('fields of /calls and of clients are not of this request', async (t) => {
  const fields: Body = {
    ...{ name: 'x', end_user_id: 'x', timezone: 'UTC', record_audio: true, max_ring_seconds: 20 },
    ...{ voicemail: { action: 'hang_up' }, version_number: 1, from: own.number, tool_events: true },
  };
  for (const [name, value] of Object.entries(fields))
    exactly(t, await place({ [name]: value }), { status: 422, body: { message: `unknown field ${name}` } });
  for (const name of ['agent_id', 'phone_number_id', 'to_number'])
    exactly(t, await place({ [name]: undefined }), {
      status: 422,
      body: { message: `missing field ${name}` },
    });
});

t.test('checks come in the platform’s order, and each refusal has its reason', async (t) => {
  const draft = await makeAgent(ask, { published: false });
  const closed = await calls.line(twilioApi, { enabled: false });
  const poor = await calls.line(twilioApi, { credentials: { auth_token: SECRET } });
  const { body: heard } = await ask('phone-numbers', {
    body: {
      ...{ provider: 'exotel', phone_number: newNumber() },
      credentials: { basic_auth: 'user:password' },
    },
  });
  const nobody = 'agent_000000000000000000000000';
  const to_number = 'nope';
  const cases: readonly (readonly [number, string, Body])[] = [
    [
      404,
      'number_not_found',
      { phone_number_id: 'phone_000000000000000000000000', agent_id: nobody, to_number },
    ],
    [404, 'agent_not_found', { agent_id: nobody, phone_number_id: closed.numberId, to_number }],
    [409, 'agent_not_published', { agent_id: draft, phone_number_id: closed.numberId, to_number }],
    [422, 'number_inactive', { phone_number_id: closed.numberId, to_number }],
    [422, 'number_termination_missing', { phone_number_id: poor.numberId, to_number }],
    [422, 'number_provider_unsupported', { phone_number_id: heard['phone_number_id'], to_number }],
    [422, 'destination_invalid', { to_number }],
    [422, 'destination_invalid', { to_number: '+49' + '1'.repeat(200_000) }],
    [422, 'self_call_blocked', { to_number: own.number }],
  ];
  for (const [status, reason, body] of cases)
    exactly(t, await place(body), { status, body: { status, reason, message: /./ } }, reason);
  exactly(t, await place({ overrides: { system_prompt: 'x' } }), { status: 400 });
  exactly(t, await place({ dynamic_variables: { '1': 'x' } }), { status: 422 });
  t.equal((await client(gateway.base, 'no-key')('phone-calls', { body: requestOf() })).status, 401);
});

t.test('a key is remembered for 24 hours', async (t) => {
  const key = { 'idempotency-key': 'platform-17' };
  const body = requestOf();
  const [first, again] = [await place(body, key), await place(body, key)];
  t.strictSame([first.status, again.status, again.body], [201, 201, first.body]);
  const reuse = { status: 422, body: { reason: 'idempotency_key_reuse' } };
  exactly(t, await place({ ...body, to_number: newNumber() }, key), reuse);
  exactly(t, await calls.place(calls.request(own), key), { status: 409, body: reuse.body });
  const aged = (hours: number) => sql`
    update placed_calls set created_at = created_at - ${hours} * interval '1 hour' where idempotency_key = 'platform-17'`;
  await aged(23);
  t.strictSame((await place(body, key)).body, first.body);
  await aged(1);
  const later = await place(body, key);
  t.equal(later.status, 201);
  t.not(later.body['session_id'], first.body['session_id']);
  t.strictSame((await place(body, key)).body, later.body);
  await sql`update placed_calls set session_id = null where idempotency_key = 'platform-17'`;
  exactly(t, await place(body, key), { status: 409, body: { reason: 'idempotency_key_conflict' } });
});

t.test('a workspace without credit is told so', async (t) => {
  const workspaceId = randomIds.next('workspace');
  await sql`insert into workspaces (id, name, conversation_ms) values (${workspaceId}, ${workspaceId}, 0)`;
  const { key } = await createKey(sql, randomIds, { workspaceId, name: 'poor' });
  const poor: Call = (path, options) => ask(path, { ...options, key });
  const { body: number } = await poor('phone-numbers', {
    body: {
      ...{ provider: 'twilio', phone_number: newNumber(), api_url: own.api.url },
      credentials: { auth_token: SECRET, ...twilioApi.credentials },
    },
  });
  const body = requestOf({ agent_id: await makeAgent(poor), phone_number_id: number['phone_number_id'] });
  for (const [path, sent] of [
    ['phone-calls', body],
    ['calls', { agent_id: body['agent_id'], from: body['phone_number_id'], to: newNumber() }],
  ] as const)
    exactly(t, await poor(path, { body: sent }), { status: 402, body: { reason: 'insufficient_credit' } });
});

t.test('a workspace that places no calls is told so, whatever else is wrong', async (t) => {
  const workspaceId = randomIds.next('workspace');
  await sql`insert into workspaces (id, name, outbound_disabled) values (${workspaceId}, ${workspaceId}, true)`;
  const { key } = await createKey(sql, randomIds, { workspaceId, name: 'off' });
  const refused = { status: 403, body: { status: 403, reason: 'outbound_disabled', message: /turned off/ } };
  exactly(t, await ask('phone-calls', { key, body: requestOf() }), refused);
  exactly(t, await ask('calls', { key, body: calls.request(own) }), refused);
  t.equal((await ask('phone-calls', { key, body: {} })).status, 422);
  await sql`update workspaces set outbound_disabled = false where id = ${workspaceId}`;
  exactly(t, await ask('phone-calls', { key, body: requestOf() }), { status: 404 }, 'at once');
});

t.test('a workspace may place so many calls in a day, and at once, on all nodes', async (t) => {
  const number = await storedNumber();
  const limits = { perDay: 3, atOnce: 2 };
  const nodes = [
    createPlacedCalls({ sql, ids: randomIds, limits }),
    createPlacedCalls({ sql, ids: randomIds, limits }),
  ];
  const on = (index: number) => nodes[index % nodes.length]!;
  const { workspaceId } = number;

  await t.test('attempts of a day', async (t) => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => on(index).attempt(workspaceId)),
    );
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as object] : []));
    t.equal(refused.length, 2);
    const seconds = (refused[0] as { retryAfter: number }).retryAfter;
    exactly(t, refused[0], { code: 'rate_limited', reason: 'daily_limit_exceeded' });
    const midnight = new Date().setUTCHours(24, 0, 0, 0);
    t.ok(Math.abs(midnight - Date.now() - seconds * 1000) < 60_000 || seconds > 86_000, `${seconds} s`);
    await sql`update placed_call_attempts set day = day - 1`;
    await on(0).attempt(workspaceId);
    t.strictSame(
      (
        await sql<
          { attempts: number }[]
        >`select attempts from placed_call_attempts where workspace_id = ${workspaceId}`
      ).map(({ attempts }) => attempts),
      [1],
      'a day begins anew',
    );
  });

  await t.test('calls at once', async (t) => {
    const wanted = { number, to: '+4930123456', agentId: calls.agentId, maxRingSeconds: 30, voicemail: null };
    const outcomes = await Promise.allSettled(
      Array.from({ length: 5 }, (_, index) => on(index).claim(wanted)),
    );
    const made = outcomes.flatMap((one) => (one.status === 'fulfilled' ? [one.value.call.id] : []));
    const refused = outcomes.flatMap((one) => (one.status === 'rejected' ? [one.reason as object] : []));
    t.strictSame([made.length, refused.length], [2, 3]);
    exactly(t, refused[0], { code: 'rate_limited', reason: 'concurrency_limit_exceeded', retryAfter: 5 });
    await on(0).drop(made[0]!);
    const { call } = await on(1).claim(wanted);
    for (const id of [call.id, made[1]!]) await on(0).drop(id);
  });
});

/** A number of a workspace of its own. */
async function storedNumber(): Promise<PhoneNumber> {
  const workspaceId = randomIds.next('workspace');
  const number = {
    id: randomIds.next('phone'),
    workspaceId,
    provider: 'twilio',
    address: newNumber(),
  } as const;
  await sql`insert into workspaces (id, name) values (${workspaceId}, ${workspaceId})`;
  await sql`
    insert into phone_numbers (id, workspace_id, provider, address, enabled, sealed)
    values (${number.id}, ${workspaceId}, 'twilio', ${number.address}, true, '')`;
  return standIn<PhoneNumber>(number);
}
