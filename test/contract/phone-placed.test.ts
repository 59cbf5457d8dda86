/**
 * Calls that are placed, at doubles of the providers' APIs (docs/phone.md): whole calls, what becomes of those that nobody
 * answers, and what forged, repeated, disordered and missing words of a provider do.
 */
import { randomInt } from 'node:crypto';
import t from 'tap';
import { type Body, client } from '../fixtures/agents.js';
import { messagesOf, type Record, Talks } from '../fixtures/conversation.js';
import {
  type ApiCall,
  type ApiDialect,
  type Misbehaviour,
  PhoneApi,
  telnyxApi,
  twilioApi,
} from '../fixtures/phone-api.js';
import { PhoneLine } from '../fixtures/phone-line.js';
import { TEST_SECRET } from '../fixtures/gateway.js';
import { said, toolSaid } from '../fixtures/model.js';
import { openDatabase } from '../../storage/database.js';
import { startPostgres } from '../fixtures/postgres.js';
import { startReceiver } from '../fixtures/receiver.js';
import { until } from '../fixtures/until.js';

const { url: databaseUrl } = await startPostgres(t, { migrated: true });
const talks = await Talks.start(t, {
  ...{ DATABASE_URL: databaseUrl, SECRETS_KEY: TEST_SECRET, OUTBOUND_ALLOW: '127.0.0.1' },
});
const database = await openDatabase({ url: databaseUrl });
t.teardown(() => database.close());
const { sql } = database;
const { model, call: ask, gateway } = talks;
model.answer((messages) => `You said: ${said(messages)}`);

const SECRET = 'provider-secret-0123456789';
const newNumber = (): string => `+4930${randomInt(1e8, 1e9)}`;

interface Placed {
  readonly id: string;
  readonly api: PhoneApi;
  readonly call: ApiCall;
  now(): Promise<Body>;
  /** Its last state. */
  over(): Promise<Body>;
  session(): Promise<Record & Body>;
}

/** A provider's API with a number of ours. */
async function provider(dialect: ApiDialect, more: Body = {}) {
  const api = await PhoneApi.start(t, dialect, SECRET);
  const number = newNumber();
  const { status, body } = await ask('phone-numbers', {
    body: {
      ...{ provider: dialect.name, phone_number: number, api_url: api.url },
      credentials: { [dialect.verifies]: dialect.dialect.credentialOf(SECRET), ...dialect.credentials },
      ...more,
    },
  });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return { api, number, numberId: String(body['phone_number_id']) };
}

type Line = Awaited<ReturnType<typeof provider>>;

const agentId = await talks.agent({
  prompt: { first_message_mode: 'fixed', first_message: 'Hello, it is me.' },
});
const request = (line: Line, more: Body = {}): Body => ({
  ...{ agent_id: agentId, from: line.number, to: newNumber() },
  ...more,
});
const place = (body: Body, headers = {}) => ask('calls', { body, headers });
const read = async (id: string): Promise<Body> => (await ask(`calls/${id}`)).body;

async function over(id: string): Promise<Body> {
  return until('the call is over', async () => {
    const call = await read(id);
    return call['ended_at'] === null ? undefined : call;
  });
}

async function placed(line: Line, more: Body = {}): Promise<Placed> {
  const body = request(line, more);
  const { status, body: made } = await place(body);
  if (status !== 201) throw new Error(`${status} ${JSON.stringify(made)}`);
  const id = String(made['call_id']);
  const session = async () =>
    (await ask(`sessions/${String(made['session_id'])}`)).body as unknown as Record & Body;
  const call = await line.api.call(String(body['to']));
  return { id, api: line.api, call, now: () => read(id), over: () => over(id), session };
}

async function answered({ call, api }: Placed): Promise<PhoneLine> {
  const { status, document } = await call.ask(SECRET);
  if (status !== 200) throw new Error(`${status} ${document}`);
  const line = await PhoneLine.answered(api.dialect.dialect, call, document);
  t.teardown(() => line.drop());
  return line;
}

for (const dialect of [twilioApi, telnyxApi]) {
  const own = await provider(dialect);

  t.test(`${dialect.name}: a call is placed, answered, held and ended`, async (t) => {
    const receiver = await startReceiver(t);
    const talker = await talks.agent({
      prompt: { first_message_mode: 'fixed', first_message: 'Hello {{name}}, you are {{dialed_number}}.' },
      webhooks: { post_call: [{ url: receiver.url }] },
    });
    const call = await placed(own, {
      agent_id: talker,
      dynamic_variables: { name: 'Ada' },
      max_ring_seconds: 45,
    });
    t.match(await call.now(), {
      state: 'queued',
      answered_at: null,
      from: own.number,
      provider: dialect.name,
    });
    t.equal(call.call.asked.fields['Timeout'], '45');
    t.equal(call.call.from, own.number);
    t.equal(await call.call.tell('initiated', SECRET), 204);
    t.equal(await call.call.tell('ringing', SECRET), 204);
    t.match(await call.now(), { state: 'ringing' });
    const line = await answered(call);
    t.equal(await call.call.tell('in-progress', SECRET), 204);
    t.match(await call.now(), { state: 'answered', answered_at: /Z$/, ended_at: null });
    await until('the agent is heard', () => line.audible > 16);
    await until('it has said it', async () =>
      messagesOf(await call.session()).includes(`assistant: Hello Ada, you are ${call.call.to}.`),
    );
    line.press('4', '#');
    await until('it answers', async () =>
      messagesOf(await call.session()).includes('assistant: You said: [keypad: 4]'),
    );
    line.hangUp();
    t.equal(await call.call.tell('completed', SECRET, { CallDuration: '7' }), 204);
    t.match(await call.over(), { state: 'ended', reason: null });
    await until('its session has ended', async () => (await call.session()).ended_reason === 'hangup');
    t.match(await call.session(), {
      ...{ source: 'phone', direction: 'outbound', caller_number: own.number, dialed_number: call.call.to },
    });
    const told = await until('its end is told', () => {
      const events = receiver.seen.map(({ body }) => JSON.parse(body) as Body);
      return events.find(({ event }) => event === 'phone_call.ended');
    });
    t.strictSame(told['call'], await call.now());
    t.same(call.api.hungUp, []);
    await talks.untilNoCalls();
  });

  const ENDS: readonly (readonly [told: string, state: string, more?: object])[] = [
    ['busy', 'busy'],
    ['no-answer', 'no_answer'],
    ['canceled', 'cancelled'],
    ['failed', 'failed', { SipResponseCode: '404' }],
  ];
  t.test(`${dialect.name}: a call that nobody answers`, async (t) => {
    for (const [told, state, more] of ENDS) {
      const call = await placed(own);
      await call.call.tell('ringing', SECRET);
      t.equal(await call.call.tell(told, SECRET, { ...more }), 204);
      t.match(await call.over(), { state, reason: more ? 'The provider’s code is 404' : null });
      t.match(await call.session(), { status: 'failed' }, told);
      // What comes behind the end changes nothing, and a late answer is hung up.
      for (const late of ['ringing', 'in-progress', 'completed', told])
        t.equal(await call.call.tell(late, SECRET), 204);
      t.match(await call.call.ask(SECRET), { status: 200, document: /<Response><Hangup\/><\/Response>/ });
      t.match(await call.now(), { state });
    }
  });

  const FAULTS: readonly (readonly [what: string, reason: RegExp, misbehave: Misbehaviour])[] = [
    [
      '429',
      /^The provider answered 429: \w+ says 429$/,
      (response) => response.writeHead(429).end(JSON.stringify(dialect.refusal(429))),
    ],
    ['500', /^The provider answered 500$/, (response) => response.writeHead(500).end('<html>oops</html>')],
    ['HTML', /not one that it documents/, (response) => response.writeHead(200).end('<html>Welcome</html>')],
    ['a list', /not one that it documents/, (response) => response.writeHead(201).end('[]')],
    ['nothing', /not one that it documents/, (response) => response.writeHead(204).end()],
    ['a redirect', /answered 302$/, (response) => response.writeHead(302, { location: own.api.url }).end()],
    ['a broken connection', /could not be reached/, (response) => void response.destroy()],
  ];
  t.test(`${dialect.name}: an API that does not do what it documents`, async (t) => {
    for (const [what, reason, misbehave] of FAULTS) {
      own.api.misbehave = misbehave;
      const { body, status } = await place(request(own));
      t.equal(status, 201, what);
      t.match(await over(String(body['call_id'])), { state: 'failed', reason }, what);
    }
  });

  t.test(`${dialect.name}: an API that hangs is waited for ten seconds`, async (t) => {
    own.api.misbehave = () => undefined;
    const { body } = await place(request(own));
    t.match(await over(String(body['call_id'])), { state: 'failed', reason: /No response within 10 s$/ });
  });

  t.test(`${dialect.name}: callbacks that are forged, replayed, or of another call`, async (t) => {
    const [call, other] = [await placed(own), await placed(own)];
    t.equal(await call.call.tell('ringing', 'another secret'), 403);
    t.equal((await call.call.ask('another secret')).status, 403);
    t.match(await call.now(), { state: 'queued' });
    const url = String(call.call.asked.fields['StatusCallback']);
    const unknown = url.replace(call.id, 'call_000000000000000000000000');
    t.equal(
      (await call.call.send(unknown, call.call.fields({ CallStatus: 'busy' }), SECRET)).status,
      403,
      'unknown',
    );
    t.equal((await call.call.send(url, { CallStatus: 'busy' }, SECRET)).status, 400, 'about nothing');
    t.equal(await call.call.tell('ringing', SECRET), 204);
    t.equal(
      (await other.call.send(url, other.call.fields({ CallStatus: 'busy' }), SECRET)).status,
      403,
      'of another',
    );
    t.match(await call.now(), { state: 'ringing' });
    t.equal((await call.call.ask(SECRET)).status, 200);
    t.equal((await call.call.ask(SECRET)).status, 409, 'a call is answered once');
    t.equal(await call.call.tell('ringing', SECRET), 204, 'states do not go back');
    t.match(await call.now(), { state: 'answered' });
    const elsewhere = url.replace(
      `/phone/${dialect.name}/`,
      `/phone/${dialect.name === 'twilio' ? 'telnyx' : 'twilio'}/`,
    );
    t.equal(
      (await call.call.send(elsewhere, call.call.fields({}), SECRET)).status,
      403,
      'at another provider',
    );
    await Promise.all([call, other].map(({ call: each }) => each.tell('completed', SECRET)));
  });

  t.test(`${dialect.name}: a machine answers, and what was agreed is done once`, async (t) => {
    const ring = async (voicemail: Body) => {
      const call = await placed(own, { voicemail });
      const line = await answered(call);
      await until('it goes on', async () => (await call.session()).status === 'active');
      return { ...call, line };
    };
    const closed = await ring({ action: 'hang_up' });
    t.match(closed.call.asked.fields, { MachineDetection: 'Enable', AsyncAmd: 'true' });
    t.equal(await closed.call.answeredBy('machine_start', 'another secret'), 403);
    t.equal(await closed.call.answeredBy('machine_start', SECRET), 204);
    t.match(await closed.over(), { state: 'voicemail', answered_by: 'machine' });
    t.match(await closed.line.untilClosed(), { code: 1000 });
    await until('it is hung up', () => closed.api.hungUp.includes(closed.call.callId));
    t.match(await closed.session(), { ended_reason: 'hangup' });

    const person = await ring({ action: 'hang_up' });
    t.equal(await person.call.answeredBy('human', SECRET), 204);
    t.match(await person.now(), { state: 'answered', answered_by: 'human' });
    person.line.hangUp();
    await person.call.tell('completed', SECRET);
    t.match(await person.over(), { state: 'ended' });

    const message = 'Call us back <soon> & "often".';
    const left = await ring({ action: 'leave_message', message });
    t.equal(left.call.asked.fields['MachineDetection'], 'DetectMessageEnd');
    for (const who of ['machine_start', 'machine_end_beep', 'machine_end_beep'])
      t.equal(await left.call.answeredBy(who, SECRET), 204, who);
    const said = await until('the message is said', () => left.api.replaced.get(left.call.callId));
    t.match(
      said,
      '<Say voice="alice" language="en-US">Call us back &lt;soon&gt; &amp; &quot;often&quot;.</Say><Hangup/>',
    );
    left.line.hangUp();
    await left.call.tell('completed', SECRET);
    t.match(await left.over(), { state: 'voicemail', voicemail: { action: 'leave_message', message } });

    const refused = await ring({ action: 'leave_message', message });
    own.api.misbehave = (response) => response.writeHead(500).end();
    t.equal(await refused.call.answeredBy('machine_end_other', SECRET), 204);
    t.match(await refused.over(), { state: 'voicemail' });
    await until('it is hung up', () => refused.api.hungUp.includes(refused.call.callId));

    const on = await ring({ action: 'continue' });
    t.equal(await on.call.answeredBy('machine_start', SECRET), 204);
    t.match(await on.now(), { state: 'answered', answered_by: 'machine' });
    on.line.hangUp();
    await on.call.tell('completed', SECRET);
    t.match(await on.over(), { state: 'voicemail' });
    await talks.untilNoCalls();
  });

  t.test(`${dialect.name}: a call is transferred once what is said before was heard`, async (t) => {
    const desk = newNumber();
    const transfers = [
      { label: 'Sales', phone_number: desk },
      { label: 'The boss', phone_number: newNumber(), mode: 'warm' },
    ];
    const agent_id = await talks.agent({ conversation: { transfer_destinations: transfers } });
    const call = await placed(own, { agent_id });
    const line = await answered(call);
    const connecting = (destination: string) => ({
      text: 'One moment, I will put you through.',
      calls: { transfer_call: { destination } },
    });
    const tries = ['The boss', 'Sales', 'Sales'].map(connecting);
    model.asked.length = 0;
    model.answer((messages) => (toolSaid(messages) === undefined ? tries.shift()! : 'It did not work.'));
    const failures = async (count: number) =>
      until('the agent goes on', async () => {
        const messages = messagesOf(await call.session());
        return messages.filter((message) => message === 'assistant: It did not work.').length === count;
      });
    line.press('1', '#');
    await failures(1);
    own.api.misbehave = (response) => response.writeHead(500).end();
    line.press('2', '#');
    await failures(2);
    const before = line.audible;
    line.press('3', '#');
    const document = await until('it is connected', () => own.api.replaced.get(call.call.callId));
    t.match(document, `<Dial callerId="${own.number}"><Number>${desk}</Number></Dial></Response>`);
    t.ok(line.audible > before, 'the caller was told before');
    line.hangUp();
    await call.call.tell('completed', SECRET);
    t.match(await call.over(), { state: 'ended' });
    await until('its session has ended', async () => (await call.session()).ended_reason === 'hangup');
    const record = await call.session();
    t.equal(messagesOf(record).at(-1), 'assistant: One moment, I will put you through.');
    t.match(
      record.items.filter(({ type }) => type === 'tool_result'),
      [
        { tool_name: 'transfer_call', status: 'failed', error: 'There is no such destination' },
        { tool_name: 'transfer_call', status: 'failed', error: /answered 500/ },
        { tool_name: 'transfer_call', status: 'completed', tool_source: 'builtin' },
      ],
    );
    t.notOk(model.asked.flat().some(({ content }) => /cannot transfer this call/.test(content ?? '')));
    model.answer((messages) => `You said: ${said(messages)}`);
    await talks.untilNoCalls();
  });

  t.test(
    `${dialect.name}: a call is cancelled while it rings, before it is known, and once it is over`,
    async (t) => {
      const cancel = async (id: string) => ask(`calls/${id}/cancel`, { method: 'POST' });
      const call = await placed(own);
      await call.call.tell('ringing', SECRET);
      t.match(await cancel(call.id), { status: 200, body: { state: 'cancelled' } });
      await until('it is hung up', () => call.api.hungUp.includes(call.call.callId));
      t.match(await call.session(), { status: 'failed', ended_reason: 'ended_by_api' });
      t.match(await cancel(call.id), { status: 200, body: { state: 'cancelled' } });
      t.equal(await call.call.tell('canceled', SECRET), 204);

      // The provider takes it after it was cancelled.
      let answer = (): void => undefined;
      own.api.misbehave = (response, asked) => {
        answer = () => {
          const [status, body] = own.api.take(asked);
          response.writeHead(status).end(JSON.stringify(body));
        };
      };
      const body = request(own);
      const { body: made } = await place(body);
      await until('it is asked', () => own.api.misbehave === undefined);
      t.match(await cancel(String(made['call_id'])), { body: { state: 'cancelled' } });
      answer();
      const late = await own.api.call(String(body['to']));
      t.equal(await late.tell('initiated', SECRET), 204);
      await until('it is hung up', () => own.api.hungUp.includes(late.callId));

      const held = await placed(own);
      const line = await answered(held);
      await until('it goes on', async () => (await held.session()).status === 'active');
      t.match(await cancel(held.id), { status: 200, body: { state: 'answered' } });
      t.match(await line.untilClosed(), { code: 1000 });
      await held.call.tell('completed', SECRET);
      t.match(await held.over(), { state: 'ended' });
      t.match(await held.session(), { ended_reason: 'ended_by_api' });
      await talks.untilNoCalls();
    },
  );
}

const own = await provider(twilioApi);

t.test('a request that is sent again begins nothing', async (t) => {
  const body = request(own);
  const key = { 'idempotency-key': 'order-17' };
  const [first, again] = [await place(body, key), await place(body, key)];
  t.same([first.status, again.status], [201, 200]);
  t.equal(again.body['call_id'], first.body['call_id']);
  t.equal((await place({ ...body, to: newNumber() }, key)).status, 409, 'the key of another request');
  await own.api.call(String(body['to']));
  t.equal(own.api.calls.filter(({ to }) => to === body['to']).length, 1);
  const both = { 'idempotency-key': 'order-18' };
  const twice = request(own);
  const statuses = (await Promise.all([place(twice, both), place(twice, both)])).map(({ status }) => status);
  t.ok(statuses.includes(201) && statuses.every((status) => [200, 201, 409].includes(status)), `${statuses}`);
  const refused = { 'idempotency-key': 'order-19' };
  t.equal((await place({ ...body, agent_id: 'agent_0' }, refused)).status, 404);
  t.equal((await place(body, refused)).status, 201, 'a refused request keeps no key');
  t.equal((await place(body, { 'idempotency-key': 'x'.repeat(256) })).status, 400);
});

t.test('what cannot be called, and from where, is refused', async (t) => {
  const closed = await provider(twilioApi, { enabled: false });
  const poor = await provider(twilioApi, { credentials: { auth_token: SECRET } });
  const cases: readonly (readonly [number, Body])[] = [
    [422, request(own, { to: '0800' })],
    [422, request(own, { to: 'anonymous' })],
    [422, request(own, { from: newNumber() })],
    [422, request(own, { max_ring_seconds: 121 })],
    [422, request(own, { voicemail: { action: 'sing' } })],
    [422, request(own, { voicemail: { action: 'leave_message' } })],
    [422, request(own, { voicemail: { action: 'hang_up', message: 'x' } })],
    [422, request(own, { voicemail: { action: 'leave_message', message: 'x'.repeat(1001) } })],
    [422, request(own, { tool_events: true })],
    [422, request(own, { dynamic_variables: { '1': 'x' } })],
    [400, request(own, { overrides: { system_prompt: 'x' } })],
    [404, request(own, { agent_id: 'agent_000000000000000000000000' })],
    [409, request(own, { version_number: 999 })],
    [409, request(closed)],
    [409, request(poor)],
  ];
  for (const [status, body] of cases) t.equal((await place(body)).status, status, JSON.stringify(body));
  t.equal((await ask('calls/call_000000000000000000000000')).status, 404);
  t.equal((await ask('calls/nothing/cancel', { method: 'POST' })).status, 404);
  t.equal((await client(gateway.base, 'no-key')('calls')).status, 401);
  t.equal((await place(request(own, { from: own.numberId, version_number: 1 }))).status, 201, 'by its id');
  t.equal((await place(request(own, { to: 'sip:desk@example.com' }))).status, 201, 'to a SIP address');
});

t.test('calls are listed, the newest first', async (t) => {
  const { body } = await place(request(own));
  const listed = await ask('calls?page_size=2');
  const [first] = listed.body['calls'] as Body[];
  t.equal(first?.['call_id'], body['call_id']);
  t.equal((listed.body['calls'] as Body[]).length, 2);
});

t.test('a session that ends while its call rings gives the call up', async (t) => {
  const call = await placed(own);
  await call.call.tell('ringing', SECRET);
  const { session_id: id } = (await call.session()) as Body;
  t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
  t.match(await call.over(), { state: 'cancelled', reason: 'Its session was ended' });
  await until('it is hung up', () => call.api.hungUp.includes(call.call.callId));
});

/** As if that long had passed for its row. */
const overdue = (id: string) => sql`update placed_calls set due_at = now() where id = ${id}`;

t.test('a call that nobody tells the end of ends with what is known', async (t) => {
  own.api.misbehave = () => undefined;
  const { body: dead } = await place(request(own));
  const id = String(dead['call_id']);
  await until('it is asked', () => own.api.misbehave === undefined);
  await overdue(id);
  t.match(await over(id), { state: 'failed', reason: 'The gateway stopped while the call was placed' });

  const silent = await placed(own);
  await silent.call.tell('ringing', SECRET);
  await overdue(silent.id);
  t.match(await silent.over(), { state: 'failed', reason: 'The provider has not told what became of it' });
  await until('it is hung up', () => silent.api.hungUp.includes(silent.call.callId));
  t.match(await silent.session(), { status: 'failed', ended_reason: 'not_joined' });

  const held = await placed(own);
  (await answered(held)).hangUp();
  await until('its session has ended', async () => (await held.session()).ended_reason !== null);
  const { session_id: session } = await held.now();
  await sql`update sessions set ended_at = ended_at - interval '2 minutes' where id = ${String(session)}`;
  t.match(await held.over(), { state: 'ended', reason: null });
  await talks.untilNoCalls();
});

t.test('a call goes with its session', async (t) => {
  const call = await placed(own);
  await call.call.tell('busy', SECRET);
  const { session_id: session } = await call.over();
  t.equal((await ask(`sessions/${String(session)}`, { method: 'DELETE' })).status, 204);
  t.equal((await ask(`calls/${call.id}`)).status, 404);
  t.equal(await call.call.tell('busy', SECRET), 403);
});

t.test('a removed number places no calls, and is told nothing of those that ring', async (t) => {
  const gone = await provider(twilioApi);
  const call = await placed(gone);
  t.equal((await ask(`phone-numbers/${gone.numberId}`, { method: 'DELETE' })).status, 204);
  t.equal(await call.call.tell('busy', SECRET), 403);
  t.equal((await place(request(gone))).status, 422);
  t.match((await ask(`calls/${call.id}/cancel`, { method: 'POST' })).body, {
    state: 'cancelled',
    phone_number_id: null,
  });
});
