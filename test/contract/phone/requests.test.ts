/** Requests to place calls (docs/contract/platform.md 6.14): repeated, refused, listed, and calls whose end no callback reports. */
import t from '../../fixtures/tap.js';
import { type Body, client } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { twilioApi } from '../../fixtures/phone/api-twilio.js';
import { vonageApi } from '../../fixtures/phone/api-vonage.js';
import { newNumber, PlacedCalls, SECRET } from '../../fixtures/phone/placed-calls.js';
import { until } from '../../fixtures/until.js';

const calls = await PlacedCalls.start(t);
const { talks, sql } = calls;
const { call: ask, gateway } = talks;

const own = await calls.line(twilioApi);

/** A request of the described platform. */
const phoneCall = (more: Body = {}, headers = {}) =>
  ask('phone-calls', {
    body: { agent_id: calls.agentId, phone_number_id: own.numberId, to_number: newNumber(), ...more },
    headers,
  });

t.test('a request that is sent again begins nothing', async (t) => {
  const body = calls.request(own);
  const key = { 'idempotency-key': 'order-17' };
  const [first, again] = [await calls.place(body, key), await calls.place(body, key)];
  t.same([first.status, again.status], [201, 200]);
  t.equal(again.body['call_id'], first.body['call_id']);
  t.equal((await calls.place({ ...body, to: newNumber() }, key)).status, 409, 'the key of another request');
  await own.api.call(String(body['to']));
  t.equal(own.api.calls.filter(({ to }) => to === body['to']).length, 1);
  const both = { 'idempotency-key': 'order-18' };
  const twice = calls.request(own);
  const statuses = (await Promise.all([calls.place(twice, both), calls.place(twice, both)])).map(
    ({ status }) => status,
  );
  t.ok(statuses.includes(201) && statuses.every((status) => [200, 201, 409].includes(status)), `${statuses}`);
  const refused = { 'idempotency-key': 'order-19' };
  t.equal((await calls.place({ ...body, agent_id: 'agent_0' }, refused)).status, 404);
  t.equal((await calls.place(body, refused)).status, 201, 'a refused request keeps no key');
  t.equal((await calls.place(body, { 'idempotency-key': 'x'.repeat(256) })).status, 400);
});

t.test(
  'a request that is sent again gets its call, whatever became of its number and agent since',
  async (t) => {
    const line = await calls.line(twilioApi);
    const body = calls.request(line);
    const key = { 'idempotency-key': 'order-20' };
    const first = await calls.place(body, key);
    t.equal(first.status, 201);
    const again = async (what: string) => {
      const { status, body: call } = await calls.place(body, key);
      t.same([status, call['call_id']], [200, first.body['call_id']], what);
    };
    const number = `phone-numbers/${line.numberId}`;
    t.equal((await ask(number, { method: 'PATCH', body: { enabled: false } })).status, 200);
    await again('the number is closed');
    t.equal((await ask(number, { method: 'DELETE' })).status, 204);
    await again('the number is gone');
    t.equal((await calls.place(body, { 'idempotency-key': 'order-21' })).status, 422);
  },
);

const variables = (count: number): Body =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`v${index}`, index]));

t.test('a request may have fifty variables, beside the numbers of the call', async (t) => {
  const { status, body } = await calls.place(calls.request(own, { dynamic_variables: variables(50) }));
  t.equal(status, 201, JSON.stringify(body));
});

t.test('requests to place a call with wrong numbers or fields are refused', async (t) => {
  const closed = await calls.line(twilioApi, { enabled: false });
  const poor = await calls.line(twilioApi, { credentials: { auth_token: SECRET } });
  const cases: readonly (readonly [number, Body])[] = [
    ...['0800', 'anonymous', 'extension 12', '+1', '911', '14155550123'].map((to): [number, Body] => [
      422,
      calls.request(own, { to }),
    ]),
    [422, calls.request(own, { from: newNumber() })],
    [422, calls.request(own, { max_ring_seconds: 121 })],
    [422, calls.request(own, { voicemail: { action: 'sing' } })],
    [422, calls.request(own, { voicemail: { action: 'leave_message' } })],
    [422, calls.request(own, { voicemail: { action: 'hang_up', message: 'x' } })],
    [422, calls.request(own, { voicemail: { action: 'leave_message', message: 'x'.repeat(1001) } })],
    [422, calls.request(own, { tool_events: true })],
    [422, calls.request(own, { dynamic_variables: { '1': 'x' } })],
    [422, calls.request(own, { dynamic_variables: variables(51) })],
    [400, calls.request(own, { overrides: { system_prompt: 'x' } })],
    [404, calls.request(own, { agent_id: 'agent_000000000000000000000000' })],
    [409, calls.request(own, { version_number: 999 })],
    [409, calls.request(closed)],
    [409, calls.request(poor)],
  ];
  for (const [status, body] of cases) t.equal((await calls.place(body)).status, status, JSON.stringify(body));
  t.equal((await ask('calls/call_000000000000000000000000')).status, 404);
  t.equal((await ask('calls/nothing/cancel', { method: 'POST' })).status, 404);
  t.equal((await client(gateway.base, 'no-key')('calls')).status, 401);
  t.equal(
    (await calls.place(calls.request(own, { from: own.numberId, version_number: 1 }))).status,
    201,
    'by its id',
  );
  t.equal(
    (await calls.place(calls.request(own, { to: 'sip:desk@example.com' }))).status,
    201,
    'to a SIP address',
  );
});

t.test('a key of Vonage that is none is the reason of the call', async (t) => {
  const credentials = { signature_secret: SECRET, application_id: 'a', private_key: 'no key' };
  const broken = await calls.line(vonageApi, { credentials });
  const { body } = await calls.place(calls.request(broken));
  const reason = 'The private_key of the phone number is no key in PEM form';
  exactly(t, await calls.over(String(body['call_id'])), { state: 'failed', reason });
  t.same(broken.api.calls, []);
});

t.test('a call to a number of one’s own is refused on both routes', async (t) => {
  const other = await calls.line(twilioApi);
  for (const to of [own.number, other.number]) {
    exactly(t, await calls.place(calls.request(own, { to })), {
      status: 422,
      body: { reason: 'self_call_blocked', message: 'to is a number of this workspace' },
    });
    exactly(t, await phoneCall({ to_number: to }), {
      status: 422,
      body: { reason: 'self_call_blocked', message: 'to_number is a number of this workspace' },
    });
  }
});

t.test('emergency and short numbers are not called unless PHONE_ALLOW_SHORT lists them', async (t) => {
  for (const to of ['110', '112', '911', '999', '116117']) {
    exactly(t, await calls.place(calls.request(own, { to })), {
      status: 422,
      body: { reason: 'destination_not_allowed' },
    });
    exactly(t, await phoneCall({ to_number: to }), {
      status: 422,
      body: { reason: 'destination_not_allowed' },
    });
  }
});

t.test('refused requests to /calls have a reason', async (t) => {
  const closed = await calls.line(twilioApi, { enabled: false });
  const poor = await calls.line(twilioApi, { credentials: { auth_token: SECRET } });
  const cases: readonly (readonly [number, string, Body])[] = [
    [422, 'number_not_found', calls.request(own, { from: newNumber() })],
    [404, 'agent_not_found', calls.request(own, { agent_id: 'agent_000000000000000000000000' })],
    [409, 'agent_not_published', calls.request(own, { version_number: 999 })],
    [409, 'number_inactive', calls.request(closed)],
    [409, 'number_termination_missing', calls.request(poor)],
    [422, 'destination_invalid', calls.request(own, { to: 'extension 12' })],
  ];
  for (const [status, reason, body] of cases)
    exactly(t, await calls.place(body), { status, body: { status, reason } }, reason);
});

t.test('calls are listed, the newest first', async (t) => {
  const { id } = await calls.placed(own);
  const listed = await ask('calls?page_size=2');
  const [first] = listed.body['calls'] as Body[];
  t.equal(first?.['call_id'], id);
  t.equal((listed.body['calls'] as Body[]).length, 2);
});

t.test('an API that hangs is waited for ten seconds', async (t) => {
  own.api.misbehave = () => undefined;
  const { body } = await calls.place(calls.request(own));
  exactly(t, await calls.over(String(body['call_id'])), {
    state: 'failed',
    reason: /No response within 10 s$/,
  });
});

t.test('a session that ends while its call rings gives the call up', async (t) => {
  const call = await calls.placed(own);
  await call.call.tell('ringing', SECRET);
  const { session_id: id } = (await call.session()) as Body;
  t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
  exactly(t, await call.over(), { state: 'cancelled', reason: 'Its session was ended' });
  await until('it is hung up', () => call.api.hungUp.includes(call.call.callId));
});

/** Makes the call overdue, as if its time had passed. */
const overdue = (id: string) => sql`update placed_calls set due_at = now() where id = ${id}`;

t.test('a call whose end no callback reports ends with what is known', async (t) => {
  own.api.misbehave = () => undefined;
  const { body: dead } = await calls.place(calls.request(own));
  const id = String(dead['call_id']);
  await until('it is asked', () => own.api.misbehave === undefined);
  await overdue(id);
  exactly(t, await calls.over(id), {
    state: 'failed',
    reason: 'The gateway stopped while the call was placed',
  });

  const silent = await calls.placed(own);
  await silent.call.tell('ringing', SECRET);
  await overdue(silent.id);
  exactly(t, await silent.over(), { state: 'failed', reason: 'The provider has not told what became of it' });
  await until('it is hung up', () => silent.api.hungUp.includes(silent.call.callId));
  exactly(t, await silent.session(), { status: 'failed', ended_reason: 'not_joined' });

  const held = await calls.placed(own);
  (await calls.answered(held)).hangUp();
  await until('its session has ended', async () => (await held.session()).ended_reason !== null);
  const { session_id: session } = await held.now();
  await sql`update sessions set ended_at = ended_at - interval '2 minutes' where id = ${String(session)}`;
  exactly(t, await held.over(), { state: 'ended', reason: null });
  await talks.untilNoCalls();
});

t.test('a call goes with its session', async (t) => {
  const call = await calls.placed(own);
  await call.call.tell('busy', SECRET);
  const { session_id: session } = await call.over();
  t.equal((await ask(`sessions/${String(session)}`, { method: 'DELETE' })).status, 204);
  t.equal((await ask(`calls/${call.id}`)).status, 404);
  t.equal(await call.call.tell('busy', SECRET), 403);
});

t.test('a removed number places no calls, and callbacks about ringing ones are refused', async (t) => {
  const gone = await calls.line(twilioApi);
  const call = await calls.placed(gone);
  t.equal((await ask(`phone-numbers/${gone.numberId}`, { method: 'DELETE' })).status, 204);
  t.equal(await call.call.tell('busy', SECRET), 403);
  t.equal((await calls.place(calls.request(gone))).status, 422);
  exactly(t, (await ask(`calls/${call.id}/cancel`, { method: 'POST' })).body, {
    state: 'cancelled',
    phone_number_id: null,
  });
});
