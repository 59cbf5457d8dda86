/** Answering machines on outgoing calls, with doubles of the providers' APIs (docs/phone.md). */
import t from 'tap';
import type { Body } from '../fixtures/agents.js';
import { APIS, PlacedCalls, SECRET } from '../fixtures/placed-calls.js';
import { until } from '../fixtures/until.js';

/** Calls at a time: each test has a number of its own. */
t.jobs = 4;
const calls = await PlacedCalls.start(t);

for (const dialect of APIS)
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
    t.match(await closed.over(), { state: 'voicemail', answered_by: 'machine' });
    t.match(await closed.line.untilClosed(), { code: 1000 });
    await until('it is hung up', () => closed.api.hungUp.includes(closed.call.callId));
    t.match(await closed.session(), { ended_reason: 'hangup' });

    const person = await ring({ action: 'hang_up' });
    t.equal(await person.call.answeredBy('human', SECRET), 204);
    t.match(await person.now(), { state: 'answered', answered_by: 'human' });
    person.line.hangUp();
    await person.call.tell('ended', SECRET);
    t.match(await person.over(), { state: 'ended' });

    const message = 'Call us back <soon> & "often".';
    const left = await ring({ action: 'leave_message', message });
    t.ok(['after_greeting', 'both'].includes(left.call.wanted.detection));
    for (const who of ['machine', 'greeted', 'greeted'] as const)
      t.equal(await left.call.answeredBy(who, SECRET), 204, who);
    const said = await until('the message is said', () => left.api.replaced.get(left.call.callId));
    t.strictSame(dialect.messageIn(said), { text: message, language: 'en-US' });
    left.line.hangUp();
    await left.call.tell('ended', SECRET);
    t.match(await left.over(), { state: 'voicemail', voicemail: { action: 'leave_message', message } });

    const refused = await ring({ action: 'leave_message', message });
    own.api.misbehave = (response) => response.writeHead(500).end();
    t.equal(await refused.call.answeredBy('greeted_late', SECRET), 204);
    t.match(await refused.over(), { state: 'voicemail' });
    await until('it is hung up', () => refused.api.hungUp.includes(refused.call.callId));

    const on = await ring({ action: 'continue' });
    t.equal(await on.call.answeredBy('machine', SECRET), 204);
    t.match(await on.now(), { state: 'answered', answered_by: 'machine' });
    on.line.hangUp();
    await on.call.tell('ended', SECRET);
    t.match(await on.over(), { state: 'voicemail' });
  });

t.test('nothing is left at the workers', { buffered: false }, async () => {
  await calls.talks.untilNoCalls();
});
