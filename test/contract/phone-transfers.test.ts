/**
 * Callers who are connected to people (ops/adr/0045-transfers.md), at doubles of the providers' APIs: each outcome of a transfer,
 * whoever is told of it, and what the caller, the colleague and the record have of it.
 */
import t from 'tap';
import type { Body } from '../fixtures/agents.js';
import { messagesOf } from '../fixtures/conversation.js';
import { type ModelMessage, said, toolSaid } from '../fixtures/model.js';
import { dialAnswered, dialled } from '../fixtures/dialled-legs.js';
import type { ApiCall, ApiDialect, Misbehaviour, Told } from '../fixtures/phone-api.js';
import { telnyxApi, twilioApi } from '../fixtures/phone-api-twilio.js';
import { vonageApi } from '../fixtures/phone-api-vonage.js';
import type { PhoneLine } from '../fixtures/phone-line.js';
import { type Line, newNumber, type Placed, PlacedCalls, SECRET } from '../fixtures/placed-calls.js';
import { startReceiver } from '../fixtures/receiver.js';
import { until } from '../fixtures/until.js';

const phones = await PlacedCalls.start(t);
const { talks, sql } = phones;
const { model, call: ask } = talks;

const isBriefing = ([first]: readonly ModelMessage[]): boolean =>
  /handed over to a colleague/.test(first?.content ?? '');

/** An agent that connects whoever presses a key, and says so when that did not work. */
model.answer((messages) => {
  if (isBriefing(messages)) return 'Ada wants tea.';
  if (toolSaid(messages) !== undefined || /has answered/.test(messages.at(-1)?.content ?? ''))
    return 'It did not work.';
  if (!said(messages).startsWith('[keypad')) return `You said: ${said(messages)}`;
  return { text: 'One moment.', calls: { transfer_call: { destination: 'Desk' } } };
});

type Session = Awaited<ReturnType<Placed['session']>>;

interface Caller extends Placed {
  readonly desk: string;
  readonly line: PhoneLine;
  readonly receiver: Awaited<ReturnType<typeof startReceiver>>;
}

/** A caller who has asked for the desk. */
async function calling(own: Line, destination: Body, before = (): void => undefined): Promise<Caller> {
  const desk = newNumber();
  const receiver = await startReceiver(t);
  const agent_id = await talks.agent({
    conversation: { transfer_destinations: [{ label: 'Desk', phone_number: desk, ...destination }] },
    webhooks: { post_call: [{ url: receiver.url }] },
  });
  const call = await phones.placed(own, { agent_id });
  const line = await phones.answered(call);
  before();
  line.press('1', '#');
  return { ...call, desk, line, receiver };
}

const transfersIn = (record: Session) => record['transfers'] as Body[];

const ended = (call: Placed, reason: string): Promise<Session> =>
  until(`its session has ended as ${reason}`, async () => {
    const record = await call.session();
    return record.ended_reason === reason ? record : undefined;
  });

/** The agent has gone on with the caller. */
const goesOn = async (call: Placed, times = 1): Promise<Session> => {
  let last: Session | undefined;
  const isBack = async () => {
    last = await call.session();
    const failures = messagesOf(last).filter((message) => message === 'assistant: It did not work.');
    return failures.length === times && last.ended_reason === null ? last : undefined;
  };
  return until('the agent goes on', isBack).catch((error: unknown) => {
    throw new Error(`${String(error)}: ${JSON.stringify(last)}`);
  });
};

async function hangsUp({ line, call }: Caller, other: Placed): Promise<void> {
  line.hangUp();
  await call.tell('ended', SECRET);
  await ended(other, 'hangup');
}

const resultOf = (record: Session) => record.items.findLast(({ type }) => type === 'tool_result');

for (const dialect of [twilioApi, telnyxApi]) {
  const own = await phones.line(dialect);
  const document = (callId: string, of = /<Dial action/) =>
    until('the provider is asked', () => {
      const told = own.api.replaced.get(callId);
      return told !== undefined && of.test(told) ? told : undefined;
    });
  const hungUp = (callId: string) => until('it is hung up', () => own.api.hungUp.includes(callId));

  t.test(`${dialect.name}, cold: somebody answers`, async (t) => {
    const caller = await calling(own, {});
    const dial = await document(caller.call.callId);
    t.match(dial, new RegExp(`timeout="30" callerId="\\${own.number}"><Number .*>\\${caller.desk}</Number>`));
    t.ok(caller.line.audible > 16, 'the caller was told before');
    caller.line.hangUp();
    t.equal(await dialAnswered(caller.call, dial, 'another secret'), 403);
    t.equal(await dialAnswered(caller.call, dial, SECRET), 204);
    const record = await ended(caller, 'transferred');
    t.match(record, { status: 'completed' });
    t.match(transfersIn(record), [
      { mode: 'cold', label: 'Desk', to: caller.desk, state: 'connected', reason: null, returned_at: null },
    ]);
    t.match(resultOf(record), { status: 'completed', output: 'The caller is being connected' });
    t.equal(messagesOf(record).at(-1), 'assistant: One moment.');
    const over = await dialled(caller.call, dial, 'completed', SECRET);
    t.match(over, { status: 200, document: /<Response><Hangup\/><\/Response>/ });
    const told = await until('its end is told', () => {
      const events = caller.receiver.seen.map(({ body }) => JSON.parse(body) as Body);
      return events.find(({ event }) => event === 'call.ended');
    });
    t.match(told, { ended_reason: 'transferred', transfers: transfersIn(record) });
    await caller.call.tell('ended', SECRET);
    await talks.untilNoCalls();
  });

  const UNANSWERED: readonly (readonly [told: string, state: string, why: RegExp])[] = [
    ['busy', 'busy', /^The line is busy \(Desk\)\. The caller is with you again\.$/],
    ['no-answer', 'no_answer', /^Nobody answered \(Desk\)/],
    ['failed', 'failed', /^The call failed \(Desk\)/],
  ];
  t.test(`${dialect.name}, cold: a caller whom nobody answers comes back`, async (t) => {
    for (const [told, state, error] of UNANSWERED) {
      const caller = await calling(own, {});
      const dial = await document(caller.call.callId);
      caller.line.hangUp();
      t.equal((await dialled(caller.call, dial, told, 'another secret')).status, 403);
      const back = await dialled(caller.call, dial, told, SECRET);
      const line = await phones.stream(caller, back.document);
      const record = await goesOn(caller);
      await until('the caller hears it', () => line.audible > 16);
      t.match(transfersIn(record), [{ state, returned_at: /Z$/ }], told);
      t.match(resultOf(record), { status: 'failed', output: '', error }, told);
      const again = await phones.stream(caller, back.document);
      t.match(await again.untilClosed(), { code: 1008 }, 'a caller comes back once');
      const late = await dialled(caller.call, dial, told, SECRET);
      t.match(late.document, /<Hangup\/>/);
      await hangsUp({ ...caller, line }, caller);
    }
    await talks.untilNoCalls();
  });

  t.test(`${dialect.name}, cold: a caller who was brought back is connected after all`, async (t) => {
    const caller = await calling(own, {});
    const first = await document(caller.call.callId);
    caller.line.hangUp();
    const back = await dialled(caller.call, first, 'no-answer', SECRET);
    const line = await phones.stream(caller, back.document);
    await goesOn(caller);
    own.api.replaced.delete(caller.call.callId);
    line.press('2', '#');
    const second = await document(caller.call.callId);
    t.not(second, first);
    line.hangUp();
    t.equal(await dialAnswered(caller.call, second, SECRET), 204);
    const record = await ended(caller, 'transferred');
    t.match(transfersIn(record), [{ state: 'no_answer' }, { state: 'connected' }]);
    t.ok(messagesOf(record).includes('user: [keypad: 1]'), 'all that was said is in one record');
    await caller.call.tell('ended', SECRET);
  });

  t.test(
    `${dialect.name}, cold: the caller hangs up, the session is ended, the provider is silent`,
    async (t) => {
      const impatient = await calling(own, {});
      const dial = await document(impatient.call.callId);
      impatient.line.hangUp();
      const gone = await dialled(impatient.call, dial, 'canceled', SECRET, 'completed');
      t.match(gone.document, /<Hangup\/>/);
      t.match(transfersIn(await ended(impatient, 'hangup')), [{ state: 'cancelled' }]);

      const stopped = await calling(own, {});
      await document(stopped.call.callId);
      stopped.line.hangUp();
      const { session_id: id } = (await stopped.session()) as Body;
      await until('the agent has let go', async () => {
        const [row] = await sql`select from sessions where id = ${String(id)} and lost_at is not null`;
        return row;
      });
      t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
      await hungUp(stopped.call.callId);
      t.match(transfersIn(await ended(stopped, 'ended_by_api')), [{ state: 'cancelled' }]);

      const silent = await calling(own, {});
      await document(silent.call.callId);
      silent.line.hangUp();
      await sql`update phone_transfers set due_at = now() where to_address = ${silent.desk}`;
      t.match(transfersIn(await ended(silent, 'transferred')), [
        { state: 'connected', reason: /has not told/ },
      ]);
      for (const { call } of [impatient, stopped, silent]) await call.tell('ended', SECRET);
    },
  );

  t.test(`${dialect.name}, cold: an API that refuses leaves the caller with the agent`, async (t) => {
    const nowhere = await calling(own, { phone_number: 'the desk' });
    t.match(resultOf(await goesOn(nowhere)), { error: 'The destination is no phone number' });
    await hangsUp(nowhere, nowhere);
    const faults: readonly (readonly [Misbehaviour, RegExp])[] = [
      [(response) => response.writeHead(500).end(), /answered 500/],
      [() => undefined, /No response within 10 s/],
    ];
    for (const [misbehave, error] of faults) {
      const caller = await calling(own, {}, () => (own.api.misbehave = misbehave));
      const record = await goesOn(caller);
      t.match(resultOf(record), { status: 'failed', error });
      t.match(transfersIn(record), [{ state: 'failed', reason: error }]);
      await hangsUp(caller, caller);
    }
  });

  warm(dialect, own, document, hungUp);
}

t.test('vonage, cold: the session is over once the provider has the call', async (t) => {
  const own = await phones.line(vonageApi);
  const caller = await calling(own, {});
  const record = await ended(caller, 'transferred');
  t.strictSame(vonageApi.connectedBy(own.api.replaced.get(caller.call.callId) ?? ''), {
    ...{ to: caller.desk, from: own.number },
  });
  t.match(transfersIn(record), [{ state: 'connected', reason: /does not tell/ }]);
  caller.line.hangUp();
  await caller.call.tell('ended', SECRET);
  const warmly = await calling(own, { mode: 'warm' });
  await goesOn(warmly);
  t.match(resultOf(await warmly.session()), { error: 'There is no tool transfer_call' });
  await hangsUp(warmly, warmly);
});

type Answer = (leg: ApiCall, line: PhoneLine) => Promise<unknown>;

function warm(
  dialect: ApiDialect,
  own: Line,
  document: (callId: string, of?: RegExp) => Promise<string>,
  hungUp: (callId: string) => Promise<unknown>,
): void {
  const told = (state: Told) => (leg: ApiCall) => leg.tell(state, SECRET);
  /** The colleague's call, before anybody has answered. */
  const UNANSWERED: readonly (readonly [
    what: string,
    act: (leg: ApiCall) => Promise<unknown>,
    state: string,
    why: RegExp,
  ])[] = [
    ['busy', told('busy'), 'busy', /^The line is busy \(Desk\)/],
    ['no answer', told('no_answer'), 'no_answer', /^Nobody answered/],
    ['failed', told('failed'), 'failed', /^The call failed/],
  ];
  /** And then. */
  const ANSWERED: readonly (readonly [what: string, act: Answer, state: string, why: RegExp])[] = [
    [
      'a key says no',
      async (_, line) => line.press('2', '#'),
      'refused',
      /^The colleague does not take the call \(Desk\)\. /,
    ],
    [
      'a voice says no',
      async (_, line) => line.say(await talks.speech('No.')),
      'refused',
      /does not take the call/,
    ],
    ['hangs up', async (_, line) => line.hangUp(), 'refused', /The colleague hung up\./],
    ['a machine', (leg) => leg.answeredBy('machine', SECRET), 'voicemail', /^An answering machine answered/],
    ['the provider ends it', told('ended'), 'refused', /The colleague hung up\./],
  ];

  t.test(`${dialect.name}, warm: the caller stays with the agent where nobody takes the call`, async (t) => {
    for (const [what, act, state, error] of UNANSWERED) {
      const caller = await calling(own, { mode: 'warm' });
      const leg = await own.api.call(caller.desk);
      t.equal(leg.from, own.number);
      const heard = caller.line.audible;
      await until('the caller hears that they wait', () => caller.line.audible > heard + 10);
      t.equal(await act(leg), 204, what);
      const record = await goesOn(caller);
      t.match(resultOf(record), { status: 'failed', error }, what);
      t.match(transfersIn(record), [{ mode: 'warm', state, returned_at: null }], what);
      await hangsUp(caller, caller);
    }
    for (const [what, act, state, error] of ANSWERED) {
      const caller = await calling(own, { mode: 'warm' });
      const leg = await own.api.call(caller.desk);
      const line = await phones.answered({ call: leg, api: own.api });
      await until('the colleague is told', () => line.audible > 16);
      await act(leg, line);
      const record = await goesOn(caller);
      t.match(resultOf(record), { status: 'failed', error }, what);
      t.match(transfersIn(record), [{ state, answered_at: /Z$/ }], what);
      await hungUp(leg.callId);
      await hangsUp(caller, caller);
    }
    await talks.untilNoCalls();
  });

  t.test(`${dialect.name}, warm: an API that fails at each step`, async (t) => {
    const refusal = await calling(own, { mode: 'warm' });
    await own.api.call(refusal.desk).then((leg) => leg.tell('busy', SECRET));
    await goesOn(refusal);
    own.api.misbehave = (response) => response.writeHead(500).end();
    refusal.line.press('2', '#');
    t.match(resultOf(await goesOn(refusal, 2)), { error: /answered 500/ });
    own.api.misbehave = () => undefined;
    refusal.line.press('3', '#');
    t.match(resultOf(await goesOn(refusal, 3)), { error: /No response within 10 s/ });
    await hangsUp(refusal, refusal);

    const apart = await calling(own, { mode: 'warm' });
    const leg = await own.api.call(apart.desk);
    const line = await phones.answered({ call: leg, api: own.api });
    await until('the colleague is told', () => line.audible > 16);
    own.api.misbehave = (response) => response.writeHead(500).end();
    line.press('1', '#');
    t.match(resultOf(await goesOn(apart)), { error: /answered 500/ });
    await hungUp(leg.callId);
    t.match(transfersIn(await apart.session()), [{ state: 'failed', reason: /answered 500/ }]);
    await hangsUp(apart, apart);
    await talks.untilNoCalls();
  });

  for (const [connects, act] of [
    ['confirm', (line: PhoneLine) => line.press('1', '#')],
    ['direct', () => undefined],
  ] as const)
    t.test(`${dialect.name}, warm: both are connected (${connects})`, async (t) => {
      const caller = await calling(own, { mode: 'warm', warm_connect: connects });
      const leg = await own.api.call(caller.desk);
      const [row] = await sql<{ text: string }[]>`
        select briefing::json ->> 'text' as text from phone_transfers where to_address = ${caller.desk}`;
      const question = connects === 'confirm' ? ' Do you take the call?' : '$';
      t.match(
        row?.text,
        new RegExp(`^Hello, I have a caller on the line for you. Ada wants tea.${question}`),
      );
      const line = await phones.answered({ call: leg, api: own.api });
      await until('the colleague is told', () => line.audible > 16);
      act(line);
      const [one, other] = [
        await document(leg.callId, /<Conference/),
        await document(caller.call.callId, /<Conference/),
      ];
      t.equal(one, other, 'both are in one room');
      t.match(one, /endConferenceOnExit="true">transfer_[0-9a-f]{24}<\/Conference>/);
      line.hangUp();
      caller.line.hangUp();
      const record = await ended(caller, 'transferred');
      t.match(transfersIn(record), [{ mode: 'warm', state: 'connected', answered_at: /Z$/, ended_at: /Z$/ }]);
      t.match(resultOf(record), { status: 'completed', output: 'The caller is connected' });
      t.equal(await leg.tell('answered', SECRET), 204, 'what is late changes nothing');
      t.notOk(own.api.hungUp.includes(leg.callId));
      t.equal(await leg.tell('ended', SECRET), 204);
      await hungUp(caller.call.callId);
      await caller.call.tell('ended', SECRET);
      await talks.untilNoCalls();
    });

  t.test(
    `${dialect.name}, warm: the caller hangs up, or the session is ended, while a colleague is asked`,
    async (t) => {
      const impatient = await calling(own, { mode: 'warm' });
      const ringing = await own.api.call(impatient.desk);
      await ringing.tell('ringing', SECRET);
      await hangsUp(impatient, impatient);
      await hungUp(ringing.callId);
      t.match(transfersIn(await impatient.session()), [{ state: 'cancelled', reason: 'The caller hung up' }]);
      t.match(await ringing.ask(SECRET), { status: 200, document: /<Hangup\/>/ });

      const stopped = await calling(own, { mode: 'warm' });
      const leg = await own.api.call(stopped.desk);
      const line = await phones.answered({ call: leg, api: own.api });
      await until('the colleague is told', () => line.audible > 16);
      const { session_id: id } = (await stopped.session()) as Body;
      t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
      await hungUp(leg.callId);
      t.match(await line.untilClosed(), { code: 1000 });
      t.match(await stopped.line.untilClosed(), { code: 1000 });
      t.match(transfersIn(await ended(stopped, 'ended_by_api')), [{ state: 'cancelled' }]);
      for (const { call } of [stopped]) await call.tell('ended', SECRET);
      await talks.untilNoCalls();
    },
  );
}
