/** What callers dictate, at a real gateway: written in the record, the captions and the turns (docs/voice-agents.md). */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { until } from '../../fixtures/until.js';
import { messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';

t.teardown(letGo);
const { talks } = await Talks.shared(t);
// On a busy machine the caller says it again, after this answer (Talks.tell): it must speak of an address, too.
talks.model.answer(() => 'Your email, thank you.');

t.test('an address that the agent asks for, and a name of the session’s variables', async (t) => {
  const question = 'What is your email, {{name}}?';
  const meeting = await talks.meet(
    { prompt: { first_message_mode: 'fixed', first_message: question } },
    { dynamic_variables: { name: 'Kathryn Schmitt', plan: 'gold' } },
  );
  await until('it is asked', () => shownBy(meeting.caller, 'agent').length > 0);
  await talks.tell(meeting, 'It is Katherin Schmid, jane at example dot com.', { heard: /com/ });
  const written = 'It is Kathryn Schmitt, jane@example.com.';
  t.same(shownBy(meeting.caller, 'user').slice(-1), [written]);
  meeting.caller.hangUp();
  const record = await talks.ended(meeting.invite);
  t.ok(messagesOf(record).includes(`user: ${written}`));
  t.ok(record.turns.some(({ words }) => words === written));
  t.notMatch(JSON.stringify(record), 'Katherin');
});
