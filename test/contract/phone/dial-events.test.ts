/** `phone_call.dial_finished` (docs/contract/platform.md 6.14): once a placed call, when it is settled, before `call.ended`. */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { createPlacedCalls } from '../../../storage/phone/placed-calls.js';
import { endSession } from '../../../storage/sessions/endings.js';
import { exactly } from '../../fixtures/exactly.js';
import { twilioApi } from '../../fixtures/phone/api-twilio.js';
import { type Placed, PlacedCalls, SECRET } from '../../fixtures/phone/placed-calls.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

const HOOK_SECRET = 'a secret of the receiver';
t.jobs = 4;
const calls = await PlacedCalls.start(t);
const { talks, sql } = calls;
const own = await calls.line(twilioApi);
const receiver = await startReceiver(t);
const prompt = { first_message_mode: 'fixed', first_message: 'Hello.' };
const agent_id = await talks.agent({
  prompt,
  webhooks: { post_call: [{ url: receiver.url, secret: HOOK_SECRET }] },
});
const place = (more: Body = {}): Promise<Placed> => calls.placed(own, { agent_id, ...more });

/** The session of a body, in either kind of event. */
function sessionIn(body: Body): unknown {
  const { session, call } = body as { readonly session?: Body; readonly call?: Body };
  return session?.['id'] ?? call?.['session_id'];
}

/** What the receiver has got about the call, in order. */
async function toldOf({ now }: Placed): Promise<readonly Body[]> {
  const { session_id: id } = await now();
  const bodies = receiver.seen.map(({ body }) => JSON.parse(body) as Body);
  return bodies.filter((body) => sessionIn(body) === id);
}

const namesOf = (events: readonly Body[]) => events.map(({ event }) => event);

const untilTold = (call: Placed, event: string) =>
  until(`${event} is told`, async () => (await toldOf(call)).find((body) => body['event'] === event));

t.test('an answered call: at once, with its session as it is then, and before its end', async (t) => {
  const call = await place({ metadata: { order: 7 } });
  await call.call.tell('ringing', SECRET);
  const line = await calls.answered(call);
  const told = await untilTold(call, 'phone_call.dial_finished');
  const id = (await call.now())['session_id'];
  exactly(t, told, {
    event_id: /^evt_/,
    dial_status: 'answered',
    answered_by: 'unknown',
    session: {
      ...{ id, agent_id, source: 'phone', status: 'active', metadata: { order: 7 } },
      ...{ conversation_started_at: /Z$/, conversation_ended_at: null, duration_seconds: null },
      ...{ direction: 'outbound', dial_status: 'answered', answered_by: 'unknown', batch_call_id: null },
    },
  });
  const seen = receiver.seen.find(({ body }) => (JSON.parse(body) as Body)['event_id'] === told['event_id']);
  t.ok(seen && isSignedBy(HOOK_SECRET, seen));
  line.hangUp();
  await call.call.tell('ended', SECRET);
  await untilTold(call, 'call.analyzed');
  await untilTold(call, 'phone_call.ended');
  const [first, ...rest] = namesOf(await toldOf(call));
  t.equal(first, 'phone_call.dial_finished');
  t.strictSame(rest.toSorted(), ['call.analyzed', 'call.ended', 'phone_call.ended']);
});

for (const [state, status] of [
  ['busy', 'busy'],
  ['no_answer', 'no_answer'],
  ['cancelled', 'failed'],
] as const)
  t.test(`a call that nobody answers (${state}): with its end, and nothing of a conversation`, async (t) => {
    const call = await place();
    await call.call.tell(state, SECRET);
    await untilTold(call, 'phone_call.ended');
    const events = await toldOf(call);
    t.strictSame(namesOf(events), ['phone_call.dial_finished', 'phone_call.ended']);
    exactly(t, events[0], {
      ...{ dial_status: status, answered_by: null },
      session: { direction: 'outbound', dial_status: status, conversation_started_at: null },
    });
  });

t.test('where a machine is listened for, once it is known who has answered', async (t) => {
  const call = await place({ voicemail: { action: 'continue' } });
  const line = await calls.answered(call);
  await until('it goes on', async () => (await call.session()).status === 'active');
  t.strictSame(await toldOf(call), [], 'not before');
  await call.call.answeredBy('machine', SECRET);
  exactly(t, await untilTold(call, 'phone_call.dial_finished'), {
    ...{ dial_status: 'answered', answered_by: 'voicemail', session: { answered_by: 'voicemail' } },
  });
  await call.call.answeredBy('human', SECRET);
  line.hangUp();
  await call.call.tell('ended', SECRET);
  await untilTold(call, 'phone_call.ended');
  t.equal(namesOf(await toldOf(call)).filter((name) => name === 'phone_call.dial_finished').length, 1);
});

t.test('where nobody reports who has answered: after some time', async (t) => {
  const call = await place({ voicemail: { action: 'continue' } });
  const line = await calls.answered(call);
  await until('it goes on', async () => (await call.session()).status === 'active');
  await sql`update placed_calls set answered_at = answered_at - interval '31 seconds' where id = ${call.id}`;
  exactly(t, await untilTold(call, 'phone_call.dial_finished'), { answered_by: 'unknown' });
  line.hangUp();
  await call.call.tell('ended', SECRET);
});

t.test('the end of the session comes after it, whatever the provider has reported', async (t) => {
  const call = await place({ voicemail: { action: 'continue' } });
  const line = await calls.answered(call);
  await until('it goes on', async () => (await call.session()).status === 'active');
  line.hangUp();
  await untilTold(call, 'call.ended');
  t.strictSame(namesOf(await toldOf(call)).slice(0, 2), ['phone_call.dial_finished', 'call.ended']);
  await call.call.tell('ended', SECRET);
});

t.test('several processes tell it once', async (t) => {
  const nodes = Array.from({ length: 3 }, () => createPlacedCalls({ sql, ids: randomIds }));
  const call = await place();
  const { session_id: id } = await call.now();
  const line = await calls.answered(call);
  await until('it goes on', async () => (await call.session()).status === 'active');
  await sql`update placed_calls set dial_told_at = null, answered_at = answered_at - interval '1 minute' where id = ${call.id}`;
  const { callId } = call.call;
  await Promise.all([
    ...nodes.map((node) => node.report(call.id, { callId, answeredBy: 'human' })),
    ...nodes.map((node) => node.tellLate()),
    ...nodes.map((node) => node.finish(call.id, 'ended')),
    endSession(sql, String(id), 'hangup'),
  ]);
  line.drop();
  const [{ count } = { count: 0 }] = await sql<{ count: number }[]>`
    select count(distinct event_id)::int as count from deliveries
    where session_id = ${String(id)} and event = 'phone_call.dial_finished'`;
  t.equal(count, 2, 'the one of before, and one');
});
