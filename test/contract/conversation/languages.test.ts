/** A call in several languages (`voice.languages`, platform.md 6.3): heard, changed by the caller, and everything that follows. */
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { type Meeting, messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { FAULTY_RATE, FaultySpeech } from '../../fixtures/engines/faulty-speech.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const ear = await FaultySpeech.start(t);
const talks = await Talks.start(t, {
  TTS_ENGINES: 'flite,tone',
  STT_ENGINES: 'openai-compatible',
  REMOTE_OPENAI_URL: `${ear.url}/v1`,
  REMOTE_OPENAI_RATE: `${FAULTY_RATE}`,
});
const GERMAN = 'Ich möchte gerne einen Termin.';

/** The caller says something, of which the recogniser hears that. */
async function say(meeting: Meeting, words: string, language: string): Promise<void> {
  Object.assign(ear, { words, language });
  await talks.tell(meeting, 'A sentence as long as people say.');
}
const changes = ({ caller }: Meeting) =>
  caller.events.filter(({ type }) => type === 'language.changed').map(({ language }) => language);
const instructions = () => JSON.stringify(talks.model.asked.at(-1)?.filter(({ role }) => role === 'system'));

t.test('the caller changes it: the prompt, the lines, the record and the client follow', async (t) => {
  talks.model.answer((messages) => (JSON.stringify(messages).includes(GERMAN) ? 500 : 'Fine.'));
  const meeting = await talks.meet({ voice: { languages: ['de', 'es'] } });
  await say(meeting, 'Hello there, good morning to you.', 'en');
  await until('it is answered', () => shownBy(meeting.caller, 'agent').length === 1);
  t.match(instructions(), 'Speak English.');
  t.same(changes(meeting), []);
  await say(meeting, GERMAN, 'german');
  await until('the agent excuses itself', () => shownBy(meeting.caller, 'agent').length === 2);
  t.match(shownBy(meeting.caller, 'agent').at(-1), 'Entschuldigung', 'a line in German');
  t.match(instructions(), 'Speak German.');
  t.same(changes(meeting), ['de']);
  t.ok(
    ear.toldLanguages.every((told) => told === undefined),
    'the recogniser tells the language, and is told none',
  );
  meeting.caller.hangUp();
  const record = await talks.ended(meeting.invite);
  t.ok(messagesOf(record).includes(`user: ${GERMAN}`));
  const languages = record.turns.map((turn) => (turn as { readonly language?: string }).language);
  t.same(languages, ['en', 'de']);
});

t.test(
  'a language that is not the agent’s changes nothing, and one alone is told to the recogniser',
  async (t) => {
    talks.model.answer(() => 'Fine.');
    const meeting = await talks.meet({ voice: { languages: ['de'] } });
    await say(meeting, 'Je voudrais un rendez-vous demain.', 'fr');
    await until('it is answered', () => shownBy(meeting.caller, 'agent').length === 1);
    t.same(changes(meeting), []);
    meeting.caller.hangUp();
    await talks.ended(meeting.invite);
    ear.toldLanguages.length = 0;
    const other = await talks.meet({ voice: { speaking_language: 'es' } });
    await say(other, GERMAN, 'de');
    await until('it is answered', () => shownBy(other.caller, 'agent').length === 1);
    t.same(changes(other), []);
    t.ok(ear.toldLanguages.every((told) => told === 'es'));
    other.caller.hangUp();
    const { turns } = await talks.ended(other.invite);
    exactly(t, turns[0], { language: null });
  },
);
