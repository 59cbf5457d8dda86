/**
 * Outgoing calls, with doubles of the providers' APIs (docs/phone.md): whole calls, calls that nobody answers or that are
 * cancelled, answering machines, and callbacks of a provider that are forged, repeated, out of order or missing.
 */
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import type { ApiDialect, Misbehaviour, Told } from '../../fixtures/phone/api.js';
import { APIS, PlacedCalls, SECRET } from '../../fixtures/phone/placed-calls.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

/** Calls at a time: each test has a number of its own. */
t.jobs = 4;
const calls = await PlacedCalls.start(t);
const { talks } = calls;
const { call: ask } = talks;

/** Ends of calls that nobody answers. */
const ENDS: readonly Told[] = ['busy', 'no_answer', 'cancelled', 'failed'];

/** Faults that are tried at each provider, which are in its own form; the others at the first alone, and in the long form at all. */
const OWN_FAULTS = ['429', 'a list'];
const isTried = (dialect: ApiDialect, fault: string): boolean =>
  dialect === APIS[0] || shortOrLong(OWN_FAULTS.includes(fault), true);

for (const dialect of APIS) {
  t.test(`${dialect.name}: a call is placed, answered, held and ended`, async (t) => {
    const own = await calls.line(dialect);
    const receiver = await startReceiver(t);
    const talker = await talks.agent({
      prompt: { first_message_mode: 'fixed', first_message: 'Hello {{name}}, you are {{caller_number}}.' },
      webhooks: { post_call: [{ url: receiver.url }] },
    });
    const call = await calls.placed(own, {
      agent_id: talker,
      dynamic_variables: { name: 'Ada' },
      max_ring_seconds: 45,
    });
    exactly(t, await call.now(), {
      state: 'queued',
      answered_at: null,
      from: own.number,
      provider: dialect.name,
    });
    exactly(t, call.call.wanted, { ringSeconds: 45, from: own.number, detection: 'none' });
    t.equal(await call.call.tell('queued', SECRET), 204);
    t.equal(await call.call.tell('ringing', SECRET), 204);
    exactly(t, await call.now(), { state: 'ringing' });
    exactly(t, await call.session(), { dial_status: null, answered_by: null });
    const line = await calls.answered(call);
    t.equal(await call.call.tell('answered', SECRET), 204);
    exactly(t, await call.now(), { state: 'answered', answered_at: /Z$/, ended_at: null });
    await until('the agent is heard', () => line.audible > 16);
    await until('it has said it', async () =>
      messagesOf(await call.session()).includes(`assistant: Hello Ada, you are ${call.call.to}.`),
    );
    line.press('4', '#');
    await until('it answers', async () =>
      messagesOf(await call.session()).includes('assistant: You said: [keypad: 4]'),
    );
    line.hangUp();
    t.equal(await call.call.tell('ended', SECRET), 204);
    exactly(t, await call.over(), { state: 'ended', reason: null });
    await until('its session has ended', async () => (await call.session()).ended_reason === 'hangup');
    exactly(t, await call.session(), {
      ...{ source: 'phone', direction: 'outbound', caller_number: call.call.to, dialed_number: own.number },
      ...{ dial_status: 'answered', answered_by: 'unknown' },
    });
    const told = await until('its end is told', () => {
      const events = receiver.seen.map(({ body }) => JSON.parse(body) as Body);
      return events.find(({ event }) => event === 'phone_call.ended');
    });
    t.strictSame(told['call'], await call.now());
    t.same(call.api.hungUp, []);
  });

  for (const state of ENDS)
    t.test(`${dialect.name}: a call without an answer (${state})`, async (t) => {
      const call = await calls.placed(await calls.line(dialect));
      await call.call.tell('ringing', SECRET);
      t.equal(await call.call.tell(state, SECRET), 204);
      const reason = state === 'failed' ? 'The provider’s code is 404' : null;
      exactly(t, await call.over(), { state, reason });
      const { sessions } = (await ask(`sessions?caller_number=${call.call.to}&status=failed`)).body as {
        readonly sessions: readonly Body[];
      };
      const dialled = { dial_status: state === 'cancelled' ? 'failed' : state, answered_by: null };
      for (const session of [await call.session(), ...sessions])
        exactly(t, session, { status: 'failed', ...dialled });
      t.equal(sessions.length, 1);
      // Callbacks after the end change nothing, and a late answer is hung up.
      for (const late of ['ringing', 'answered', 'ended', state] as const)
        t.equal(await call.call.tell(late, SECRET), 204);
      exactly(t, await call.call.ask(SECRET), { status: 200, document: dialect.ends });
      exactly(t, await call.now(), { state });
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
    ['a redirect', /answered 302$/, (response) => response.writeHead(302, { location: '/' }).end()],
    ['a broken connection', /could not be reached/, (response) => void response.destroy()],
  ];
  t.test(`${dialect.name}: an API that does not do what it documents`, async (t) => {
    const own = await calls.line(dialect);
    for (const [what, reason, misbehave] of FAULTS.filter(([what]) => isTried(dialect, what))) {
      own.api.misbehave = misbehave;
      const { body, status } = await calls.place(calls.request(own));
      t.equal(status, 201, what);
      exactly(t, await calls.over(String(body['call_id'])), { state: 'failed', reason }, what);
    }
  });

  t.test(`${dialect.name}: callbacks that are forged, replayed, or of another call`, async (t) => {
    const own = await calls.line(dialect);
    const [call, other] = [await calls.placed(own), await calls.placed(own)];
    t.equal(await call.call.tell('ringing', 'another secret'), 403);
    t.equal((await call.call.ask('another secret')).status, 403);
    exactly(t, await call.now(), { state: 'queued' });
    const busy = dialect.tell('busy');
    const url = call.call.wanted.statusUrl;
    const unknown = url.replace(call.id, 'call_000000000000000000000000');
    t.equal((await call.call.send(unknown, busy, SECRET)).status, 403, 'unknown');
    const none = url.replace(call.id, '%00');
    t.equal((await call.call.send(none, busy, SECRET)).status, 403, 'no id');
    t.equal((await call.call.send(url, undefined, SECRET)).status, 400, 'about nothing');
    t.equal(await call.call.tell('ringing', SECRET), 204);
    t.equal((await other.call.send(url, busy, SECRET)).status, 403, 'of another');
    exactly(t, await call.now(), { state: 'ringing' });
    t.equal((await call.call.ask(SECRET)).status, 200);
    t.equal((await call.call.ask(SECRET)).status, 409, 'a call is answered once');
    t.equal(await call.call.tell('ringing', SECRET), 204, 'states do not go back');
    exactly(t, await call.now(), { state: 'answered' });
    const elsewhere = url.replace(
      `/phone/${dialect.name}/`,
      `/phone/${dialect.name === 'twilio' ? 'telnyx' : 'twilio'}/`,
    );
    t.equal((await call.call.send(elsewhere, busy, SECRET)).status, 403, 'at another provider');
    await Promise.all([call, other].map(({ call: each }) => each.tell('ended', SECRET)));
  });

  t.test(
    `${dialect.name}: a call is cancelled while it rings, before it is known, and once it is over`,
    async (t) => {
      const own = await calls.line(dialect);
      const cancel = async (id: string) => ask(`calls/${id}/cancel`, { method: 'POST' });
      const call = await calls.placed(own);
      await call.call.tell('ringing', SECRET);
      exactly(t, await cancel(call.id), { status: 200, body: { state: 'cancelled' } });
      await until('it is hung up', () => call.api.hungUp.includes(call.call.callId));
      exactly(t, await call.session(), { status: 'failed', ended_reason: 'ended_by_api' });
      exactly(t, await cancel(call.id), { status: 200, body: { state: 'cancelled' } });
      t.equal(await call.call.tell('cancelled', SECRET), 204);

      // The provider accepts it after it was cancelled.
      let answer = (): void => undefined;
      own.api.misbehave = (response, asked) => {
        answer = () => {
          const [status, body] = own.api.take(asked);
          response.writeHead(status).end(JSON.stringify(body));
        };
      };
      const body = calls.request(own);
      const { body: made } = await calls.place(body);
      await until('it is asked', () => own.api.misbehave === undefined);
      exactly(t, await cancel(String(made['call_id'])), { body: { state: 'cancelled' } });
      answer();
      const late = await own.api.call(String(body['to']));
      t.equal(await late.tell('ringing', SECRET), 204);
      await until('it is hung up', () => own.api.hungUp.includes(late.callId));

      const held = await calls.placed(own);
      const line = await calls.answered(held);
      await until('it goes on', async () => (await held.session()).status === 'active');
      exactly(t, await cancel(held.id), { status: 200, body: { state: 'answered' } });
      exactly(t, await line.untilClosed(), { code: 1000 });
      await held.call.tell('ended', SECRET);
      exactly(t, await held.over(), { state: 'ended' });
      exactly(t, await held.session(), { ended_reason: 'ended_by_api' });
    },
  );

  t.test(`${dialect.name}: a machine answers, and what was agreed is done once`, async (t) => {
    const own = await calls.line(dialect);
    const ring = async (voicemail: Body) => {
      const call = await calls.placed(own, { voicemail });
      const line = await calls.answered(call);
      await until('it goes on', async () => (await call.session()).status === 'active');
      return { ...call, line };
    };
    const closed = await ring({ action: 'hang_up' });
    t.ok(['at_once', 'both'].includes(closed.call.wanted.detection));
    t.equal(await closed.call.answeredBy('machine', 'another secret'), 403);
    t.equal(await closed.call.answeredBy('machine', SECRET), 204);
    exactly(t, await closed.over(), { state: 'voicemail', answered_by: 'machine' });
    exactly(t, await closed.line.untilClosed(), { code: 1000 });
    await until('it is hung up', () => closed.api.hungUp.includes(closed.call.callId));
    exactly(t, await closed.session(), { ended_reason: 'hangup', answered_by: 'voicemail' });

    const person = await ring({ action: 'hang_up' });
    t.equal(await person.call.answeredBy('human', SECRET), 204);
    exactly(t, await person.now(), { state: 'answered', answered_by: 'human' });
    exactly(t, await person.session(), { dial_status: 'answered', answered_by: 'human' });
    person.line.hangUp();
    await person.call.tell('ended', SECRET);
    exactly(t, await person.over(), { state: 'ended' });

    const message = 'Call us back <soon> & "often".';
    const left = await ring({ action: 'leave_message', message });
    t.ok(['after_greeting', 'both'].includes(left.call.wanted.detection));
    for (const who of ['machine', 'greeted', 'greeted'] as const)
      t.equal(await left.call.answeredBy(who, SECRET), 204, who);
    const said = await until('the message is said', () => left.api.replaced.get(left.call.callId));
    t.strictSame(dialect.messageIn(said), { text: message, language: 'en-US' });
    left.line.hangUp();
    await left.call.tell('ended', SECRET);
    exactly(t, await left.over(), { state: 'voicemail', voicemail: { action: 'leave_message', message } });

    const refused = await ring({ action: 'leave_message', message });
    own.api.misbehave = (response) => response.writeHead(500).end();
    t.equal(await refused.call.answeredBy('greeted_late', SECRET), 204);
    exactly(t, await refused.over(), { state: 'voicemail' });
    await until('it is hung up', () => refused.api.hungUp.includes(refused.call.callId));

    const on = await ring({ action: 'continue' });
    t.equal(await on.call.answeredBy('machine', SECRET), 204);
    exactly(t, await on.now(), { state: 'answered', answered_by: 'machine' });
    on.line.hangUp();
    await on.call.tell('ended', SECRET);
    exactly(t, await on.over(), { state: 'voicemail' });
  });
}

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await talks.untilNoCalls();
});
