/** The user's words as they are written: one text for the caption, the record, the turn and the model; typed lines as they are. */
import t from '../../../../../fixtures/tap.js';
import { TIMES } from '../../../../../../actors/agent/times.js';
import { systemClock } from '../../../../../../contracts/clock.js';
import { pause } from '../../../../../../gateway/agents/conversations/record.js';
import { joined, saying } from '../../../../../fixtures/conversation/hosted.js';
import { until } from '../../../../../fixtures/until.js';

t.jobs = 4;

/** A voice of this length is longer than a cough, also where a busy machine notices its beginning late. */
const LONG_ENOUGH_MS = 4 * TIMES.unclearMs;

const ADDRESS = 'jane@example.com';

t.test('an address that was asked for is the same everywhere', async (t) => {
  const hosted = joined(t, {
    firstMessage: 'What is your e-mail address?',
    hears: ['Jane at example dot com.'],
  });
  await until('it is asked', () => hosted.items.length === 1);
  hosted.speak();
  await until('it is answered', () => hosted.items.length === 3);
  t.equal(hosted.messages[1], `user: ${ADDRESS}.`);
  t.ok(
    hosted.shown.some(({ speaker, text, final }) => speaker === 'user' && final && text === `${ADDRESS}.`),
    'the caption',
  );
  t.equal(hosted.asked.at(-1)?.at(-1)?.content, `${ADDRESS}.`, 'the model');
  await until('its turn is kept', () => hosted.turns.some(({ words }) => words === `${ADDRESS}.`));
});

t.test('what was asked is what was last heard of the agent', async (t) => {
  const hosted = joined(t, {
    firstMessage: 'What is your e-mail address?',
    hears: ['Jane at example dot com.', 'k, a, y, e'],
    answer: saying('Thank you. How do you spell your name?'),
  });
  await until('it is asked', () => hosted.items.length === 1);
  hosted.speak();
  await until('it is answered', () => hosted.items.length === 3);
  hosted.speak();
  await until('that is answered, too', () => hosted.items.length === 5);
  t.equal(hosted.messages[3], 'user: Kaye');
});

/** Words of the agent by which nobody would know that it has asked for an address. */
const NO_QUESTION = saying('Thank you for that.');

/** Questions, the two parts of an answer with a pause between them, and the whole. */
const IN_PARTS = [
  ['What is your e-mail address?', 'It is Jane at', 'example dot com.', 'It is jane@example.com.'],
  ['How do you spell your name?', 'It is k, a', 'y, e', 'It is Kaye'],
  ['What is your phone number?', 'It is five five five', 'one two three four.', 'It is 5551234.'],
] as const;

for (const [firstMessage, first, second, whole] of IN_PARTS)
  t.test(`a turn that goes on after a pause is written as a whole, by its question: ${whole}`, async (t) => {
    const options = { firstMessage, hears: [first, second], answer: NO_QUESTION, lasting: true };
    const hosted = joined(t, options);
    const shownToEnd = () => hosted.shown.filter(({ speaker, final }) => speaker === 'user' && final).length;
    await until('it is being asked', () => hosted.played > 0);
    hosted.finishPlayout();
    await until('it is asked', () => hosted.items.length === 1);
    const { played: asked } = hosted;
    hosted.speak();
    await until('the pause is taken for the end', () => shownToEnd() === 1);
    await until('the answer is made', () => hosted.played > asked);
    hosted.happen({ kind: 'played', utterance: 2, ms: 60, ended: false });
    await until('it is heard in part', () => hosted.shown.some(({ text }) => /^Thank/.test(text)));
    hosted.speak();
    await until('it is withdrawn', () => shownToEnd() === 2);
    hosted.finishPlayout();
    await until('the whole turn is answered', () => hosted.items.length === 4);
    t.same(hosted.messages.slice(1, 3), ['assistant: Thank you', `user: ${whole}`]);
    t.equal(hosted.asked.at(-1)?.at(-1)?.content, whole, 'the model');
    await until('its turn is kept', () => hosted.turns.some(({ words }) => words === whole));
  });

t.test('a question is open until it is answered, whatever the agent says meanwhile', async (t) => {
  const hosted = joined(t, {
    firstMessage: 'What is your e-mail address?',
    hears: ['', 'Jane at example dot com.'],
    answer: NO_QUESTION,
  });
  await until('it is asked', () => hosted.items.length === 1);
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(8000) });
  await pause(systemClock, LONG_ENOUGH_MS);
  hosted.happen({ kind: 'speech', active: false, silentMs: 0 });
  await until('nobody understood it', () => hosted.items.length === 3);
  hosted.speak();
  await until('it is answered', () => hosted.items.length === 5);
  t.equal(hosted.messages[1], 'user: (unclear)');
  t.equal(hosted.messages[3], `user: ${ADDRESS}.`);
});

t.test('words that the call expects take the place of what is near to them', async (t) => {
  const hosted = joined(t, { hears: ['This is Katherin Schmid.'], terms: ['Kathryn Schmitt', 'gold'] });
  hosted.speak();
  await until('it is answered', () => hosted.items.length === 2);
  t.equal(hosted.messages[0], 'user: This is Kathryn Schmitt.');
});

t.test(
  'the recogniser is told what was asked and what is expected: no figures, which may be secrets',
  async (t) => {
    const hosted = joined(t, {
      firstMessage: 'Good morning. I have a question. What is your e-mail address?',
      hears: ['Jane at example dot com.'],
      terms: ['Kathryn Schmitt', 'gold', 'DE12 3456', 'swordfish1'],
    });
    await until('it is asked', () => hosted.items.length === 1);
    hosted.speak();
    await until('it is answered', () => hosted.items.length === 3);
    t.strictSame(hosted.contexts[0], {
      terms: ['Kathryn Schmitt'],
      before: 'I have a question. What is your e-mail address?',
    });
  },
);

t.test('typed lines stay as they are', async (t) => {
  const hosted = joined(t, { terms: ['Kathryn Schmitt'] });
  await hosted.type('my mail is jane at example dot com', 2);
  t.equal(hosted.messages[0], 'user: my mail is jane at example dot com');
});

t.test('words that are known only after the end are written, too', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = [new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears });
  hosted.speak();
  hosted.happen({ kind: 'left' });
  await until('it ends', () => hosted.sent.some(({ type }) => type === 'session.ended'));
  understand('write to jane dot doe at example dot com');
  await until('they are kept', () => hosted.items.length === 1);
  t.equal(hosted.messages[0], 'user: write to jane.doe@example.com');
});
