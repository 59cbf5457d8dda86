/**
 * Callers whom their provider connects to people (`cold`, ops/adr/0043-transfers.md), with doubles of the providers' APIs: each
 * outcome, for the caller and in the record. With a colleague who is asked first: warm-transfers.test.ts.
 */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import type { NewTransfer } from '../../../contracts/ports/phone/transfers.js';
import { createTransfers } from '../../../storage/phone/phone-transfers.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf } from '../../fixtures/conversation/conversation.js';
import type { LegEnd } from '../../fixtures/phone/dialled-legs.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { twilioApi } from '../../fixtures/phone/api-twilio.js';
import { APIS, newNumber, SECRET } from '../../fixtures/phone/placed-calls.js';
import { faultsAt, resultOf, TransferredCalls, transfersIn } from '../../fixtures/phone/transferred-calls.js';
import { until } from '../../fixtures/until.js';

/** Calls at a time: each test has a desk of its own. */
t.jobs = 4;
const calls = await TransferredCalls.start(t);
const { phones } = calls;
const { talks, sql } = phones;
const { call: ask } = talks;

t.test('a session has one transfer at a time', async (t) => {
  const own = await phones.line(twilioApi);
  const caller = await calls.calling(own, {}, { stored: 'the desk' });
  await calls.goesOn(caller);
  const processes = await Promise.all([1, 2].map(() => createTransfers(phones.database, randomIds)));
  t.teardown(() => processes.forEach((each) => each.stop()));
  const { session_id: sessionId } = (await caller.session()) as Body;
  const row: NewTransfer = {
    ...{ sessionId: String(sessionId), numberId: own.numberId, provider: 'twilio', callerCallId: 'CA1' },
    ...{ toolCallId: 'call_1', mode: 'cold', label: '', to: newNumber(), briefing: null, dueMs: 60_000 },
  };
  const atOnce = async () => {
    const begun = Array.from({ length: 20 }, (_, at) => processes[at % 2]!.begin(row));
    return (await Promise.all(begun)).filter((transfer) => transfer !== undefined);
  };
  const [first, ...more] = await atOnce();
  exactly(t, [first, more], [{ state: 'ringing', shown: own.number }, []]);
  const ends = await Promise.all(processes.map((each) => each.finish(first!.id, 'failed')));
  t.equal(ends.filter((end) => end !== undefined).length, 1, 'it ends once');
  const [second, ...others] = await atOnce();
  t.strictSame(others, []);
  t.not(second!.id, first!.id);
  await processes[0]!.finish(second!.id, 'failed');
  await calls.hangsUp(caller, caller);
  t.strictSame(await atOnce(), [], 'none of a session that is over');
});

/** How the provider says that nobody has answered, and what the agent is told. */
const UNANSWERED: readonly (readonly [told: LegEnd, why: RegExp])[] = [
  ['busy', /^The line is busy \(Desk\)\. The caller is with you again\.$/],
  ['no_answer', /^Nobody answered \(Desk\)/],
  ['failed', /^The call failed \(Desk\)/],
];

for (const dialect of APIS) {
  t.test(`${dialect.name}, cold: somebody answers`, async (t) => {
    const own = await calls.desk(dialect);
    const { legs, dialOf } = own;
    const caller = await calls.calling(own, {});
    const dial = await dialOf(caller.call);
    exactly(t, dial, { to: caller.desk, from: own.number, ringSeconds: 30 });
    t.ok(caller.line.audible > 16, 'the caller was told before');
    caller.line.hangUp();
    t.equal(await legs.answered(caller.call, dial, 'another secret'), 403);
    t.equal(await legs.answered(caller.call, dial, SECRET), 204);
    const record = await calls.transferred(caller);
    exactly(t, record, { status: 'completed' });
    exactly(t, transfersIn(record), [
      { mode: 'cold', label: 'Desk', to: caller.desk, state: 'connected', reason: null, returned_at: null },
    ]);
    exactly(t, resultOf(record), { status: 'completed', output: 'The caller is being connected' });
    t.equal(messagesOf(record).at(-1), 'assistant: One moment.');
    exactly(t, await legs.over(caller.call, dial, 'answered', SECRET), legs.done);
    const told = await until('its end is told', () => {
      const events = caller.receiver.seen.map(({ body }) => JSON.parse(body) as Body);
      return events.find(({ event }) => event === 'call.ended');
    });
    exactly(t, told, { ended_reason: 'transferred', transfers: transfersIn(record) });
    await caller.call.tell('ended', SECRET);
  });

  t.test(
    `${dialect.name}, cold: a caller returns while nobody answers, and is connected after all`,
    async (t) => {
      const own = await calls.desk(dialect);
      const { legs, dialOf } = own;
      const caller = await calls.calling(own, {});
      let { line } = caller;
      const states: object[] = [];
      for (const [told, error] of UNANSWERED) {
        const dial = await dialOf(caller.call);
        line.hangUp();
        t.equal((await legs.over(caller.call, dial, told, 'another secret')).status, 403);
        const back = await legs.over(caller.call, dial, told, SECRET);
        line = await phones.stream(caller, back.document);
        states.push({ state: told, returned_at: /Z$/ });
        const record = await calls.goesOn(caller, states.length);
        await until('the caller hears it', () => line.audible > 16);
        exactly(t, transfersIn(record), states);
        exactly(t, resultOf(record), { status: 'failed', output: '', error });
        const again = await phones.stream(caller, back.document);
        exactly(t, await again.untilClosed(), { code: 1008 }, 'a caller comes back once');
        exactly(
          t,
          await legs.over(caller.call, dial, told, SECRET),
          legs.done,
          'what is late changes nothing',
        );
        own.api.replaced.delete(caller.call.callId);
        line.press(String(states.length + 1), '#');
      }
      const last = await dialOf(caller.call);
      line.hangUp();
      t.equal(await legs.answered(caller.call, last, SECRET), 204);
      const record = await calls.transferred(caller);
      exactly(t, transfersIn(record), [...states, { state: 'connected' }]);
      t.ok(messagesOf(record).includes('user: [keypad: 1]'), 'all that was said is in one record');
      await caller.call.tell('ended', SECRET);
    },
  );

  t.test(`${dialect.name}, cold: the caller hangs up, or the session is ended`, async (t) => {
    const own = await calls.desk(dialect);
    const { legs, dialOf } = own;
    const impatient = await calls.calling(own, {});
    const dial = await dialOf(impatient.call);
    impatient.line.hangUp();
    exactly(t, await legs.over(impatient.call, dial, 'cancelled', SECRET, false), legs.done);
    exactly(t, transfersIn(await calls.ended(impatient, 'hangup')), [{ state: 'cancelled' }]);

    const stopped = await calls.calling(own, {});
    await dialOf(stopped.call);
    stopped.line.hangUp();
    const { session_id: id } = (await stopped.session()) as Body;
    await until('the agent has let go', async () => {
      const [row] = await sql`select from sessions where id = ${String(id)} and lost_at is not null`;
      return row;
    });
    t.equal((await ask(`sessions/${String(id)}/end`, { method: 'POST' })).status, 204);
    await own.hungUp(stopped.call.callId);
    exactly(t, transfersIn(await calls.ended(stopped, 'ended_by_api')), [{ state: 'cancelled' }]);
    for (const { call } of [impatient, stopped]) await call.tell('ended', SECRET);
  });

  t.test(`${dialect.name}, cold: an API that refuses leaves the caller with the agent`, async (t) => {
    const own = await calls.desk(dialect);
    for (const [misbehave, error] of faultsAt(dialect)) {
      const caller = await calls.calling(own, {}, { before: () => (own.api.misbehave = misbehave) });
      const record = await calls.goesOn(caller);
      exactly(t, resultOf(record), { status: 'failed', error });
      exactly(t, transfersIn(record), [{ state: 'failed', reason: error }]);
      await calls.hangsUp(caller, caller);
    }
  });
}

/** The rest is the same at each provider, which tells nothing. */
const [ONE] = APIS;
const AT_ONE = shortOrLong([ONE!], APIS);

for (const dialect of AT_ONE) {
  t.test(`${dialect.name}, cold: a provider that is silent has connected both`, async (t) => {
    const own = await calls.desk(dialect);
    const silent = await calls.calling(own, {});
    await own.dialOf(silent.call);
    silent.line.hangUp();
    await sql`update phone_transfers set due_at = now() where to_address = ${silent.desk}`;
    exactly(t, transfersIn(await calls.ended(silent, 'transferred')), [
      { state: 'connected', reason: /has not told/ },
    ]);
    await silent.call.tell('ended', SECRET);
  });

  t.test(
    `${dialect.name}, cold: a destination that is no number leaves the caller with the agent`,
    async (t) => {
      const own = await calls.desk(dialect);
      const nowhere = await calls.calling(own, {}, { stored: 'the desk' });
      exactly(t, resultOf(await calls.goesOn(nowhere)), {
        error: /^The destination is no phone number .* E\.164/,
      });
      await calls.hangsUp(nowhere, nowhere);
    },
  );
}

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await talks.untilNoCalls();
});
