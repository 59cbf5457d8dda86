/**
 * Speakers of the words in a conversation, and their place in the record and in requests to the model: backchannels,
 * background, echo, halves of a sentence, drafts.
 */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { TIMES } from '../../../../../actors/agent/times.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { pause } from '../../../../../gateway/agents/conversations/record.js';
import { exactly } from '../../../../fixtures/exactly.js';
import {
  type Answer,
  type Hosted,
  inTurn,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { until } from '../../../../fixtures/until.js';

// They wait for each other's silences on the real clock.
t.jobs = 6;

/** A voice of this length is longer than a cough, also where a busy machine notices its beginning late. */
const LONG_ENOUGH_MS = 4 * TIMES.unclearMs;

const lastAsked = ({ asked }: Hosted): string[] =>
  (asked.at(-1) ?? [])
    .filter(({ role }) => role !== 'system')
    .map(({ role, content }) => `${role}: ${content}`);

t.test('agreement while the agent speaks is kept, marked, and known to the model', async (t) => {
  const hosted = joined(t, { hears: ['mm-hm'], lasting: true });
  hosted.client({ type: 'user.message', text: 'one' });
  await until('the answer is heard', () => hosted.played > 0);
  hosted.speak();
  await until('it is understood', () => hosted.shown.some(({ text }) => text === 'mm-hm'));
  hosted.finishPlayout();
  await until('it is kept', () => hosted.items.length >= 3);
  t.same(hosted.messages, ['user: one', 'assistant: Yes.', 'user: mm-hm']);
  exactly(t, hosted.items[2], { backchannel: true });
  t.equal(hosted.asked.length, 1, 'it has no answer');
  hosted.client({ type: 'user.message', text: 'two' });
  await until('another is asked', () => hosted.asked.length === 2);
  t.same(lastAsked(hosted), ['user: one', 'assistant: Yes.', 'user: mm-hm', 'user: two']);
});

t.test('agreement that is understood when the agent has finished is kept and marked as well', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = [new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears, lasting: true });
  hosted.client({ type: 'user.message', text: 'one' });
  await until('the answer is heard', () => hosted.played > 0);
  hosted.speak();
  hosted.finishPlayout();
  await until('the agent has finished', () => hosted.items.length === 2);
  understand('mm-hm');
  await until('it is kept', () => hosted.items.length === 3);
  exactly(t, hosted.items[2], { content: 'mm-hm', backchannel: true });
  t.equal(hosted.asked.length, 1, 'it has no answer');
});

/** A conversation in which somebody says something while the agent speaks. */
async function overheard(t: Test, answer: string, hears: readonly string[]): Promise<Hosted> {
  const hosted = joined(t, { answer: saying(answer), hears, lasting: true });
  hosted.client({ type: 'user.message', text: 'one' });
  await until('the answer is heard', () => hosted.played > 0);
  return hosted;
}

t.test(
  'speech in the background is recorded as such, interrupts nothing and does not reach the model',
  async (t) => {
    const hosted = await overheard(t, 'Well, it depends.', ['The weather will be fine.']);
    hosted.speak(true);
    const kept = await until('it is kept', () => hosted.items[1]);
    exactly(t, kept, { role: 'user', content: 'The weather will be fine.', background: true });
    t.same(hosted.shown, [], 'nor shown');
    hosted.finishPlayout();
    await hosted.type('two', 4);
    t.same(lastAsked(hosted), ['user: one', 'assistant: Well, it depends.', 'user: two']);
    t.notOk(hosted.held, 'and the agent was not held');
  },
);

t.test(
  'a voice without words is "(unclear)" in the record and for the model, which is told what that means',
  async (t) => {
    const hosted = joined(t, { hears: ['', 'A table.'] });
    hosted.happen({ kind: 'speech', active: true });
    hosted.happen({ kind: 'audio', samples: new Int16Array(8000) });
    await pause(systemClock, LONG_ENOUGH_MS);
    hosted.happen({ kind: 'speech', active: false, silentMs: 0 });
    await until('it is answered', () => hosted.items.length === 2);
    t.same(hosted.messages, ['user: (unclear)', 'assistant: Yes.']);
    t.same(lastAsked(hosted), ['user: (unclear)']);
    exactly(
      t,
      hosted.asked[0]?.find(({ content }) => content.includes('(unclear)')),
      { role: 'system' },
    );
    exactly(t, hosted.shown[0], { speaker: 'user', text: '(unclear)' });
    hosted.speak();
    await until('the next words are answered', () => hosted.items.length === 4);
    t.same(hosted.messages.slice(2), ['user: A table.', 'assistant: Yes.']);
  },
);

t.test('a voice in the background without words is not recorded', async (t) => {
  const hosted = joined(t, { hears: ['', 'Hello?'] });
  hosted.speak(true);
  hosted.speak();
  await until('the user is answered', () => hosted.items.length === 2);
  t.same(hosted.messages, ['user: Hello?', 'assistant: Yes.']);
});

t.test('a voice in the background that turns out to be the user’s was it from its beginning', async (t) => {
  const hosted = joined(t, { hears: ['What time is it?'] });
  hosted.happen({ kind: 'speech', active: true, background: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(4000) });
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(4000) });
  hosted.happen({ kind: 'speech', active: false });
  await until('it is answered', () => hosted.items.length === 2);
  t.same(hosted.messages, ['user: What time is it?', 'assistant: Yes.']);
  t.strictSame(hosted.heardSamples, [8000], 'all of it is transcribed');
});

t.test(
  'echo of the agent is recorded as such, interrupts nothing and does not reach the model',
  async (t) => {
    const answer = 'Your table is booked for Tuesday at nine.';
    const hosted = await overheard(t, answer, ['our table is booked for Tuesday']);
    hosted.speak();
    const kept = await until('it is kept', () => hosted.items[1]);
    exactly(t, kept, { content: 'our table is booked for Tuesday', echo: true });
    hosted.finishPlayout();
    await hosted.type('two', 4);
    t.same(lastAsked(hosted), ['user: one', `assistant: ${answer}`, 'user: two']);
  },
);

t.test(
  'words over the agent that differ from its own, or are only a few of them, are the user’s',
  async (t) => {
    const answer = 'Your table is booked for Tuesday at nine.';
    const differs = async (words: string): Promise<void> => {
      const hosted = await overheard(t, answer, [words]);
      hosted.speak();
      await until('it is kept', () => hosted.messages.includes(`user: ${words}`));
      t.notOk(
        hosted.items.some((item) => 'echo' in item),
        words,
      );
      await hosted.over();
    };
    await Promise.all(['yes, Tuesday', 'Tuesday?', 'no, for Wednesday at nine', 'Stop.'].map(differs));
  },
);

t.test('halves of one sentence are one message; the answer to the first was never said', async (t) => {
  const never: Answer = async function* (_request, signal) {
    yield { kind: 'text', text: 'For how many?' };
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  };
  const hosted = joined(t, {
    hears: ['A table.', 'For four please.'],
    answer: inTurn(never, saying('Fine.')),
  });
  hosted.speak();
  await until('the first half is answered', () => hosted.asked.length === 1);
  hosted.speak();
  await until('both are kept', () => hosted.items.length === 2);
  t.same(lastAsked(hosted), ['user: A table. For four please.']);
  t.same(hosted.messages, ['user: A table. For four please.', 'assistant: Fine.']);
  t.same(
    hosted.items.map(({ turnId }) => turnId),
    [1, 1],
  );
});

t.test('an answer is drafted while it is weighed whether the user has finished', async (t) => {
  const hosted = joined(t, { hears: ['What time is it?'] });
  hosted.speak();
  await until('the model is asked', () => hosted.asked.length === 1);
  t.same(lastAsked(hosted), ['user: What time is it?']);
  t.same(hosted.items, [], 'nothing is in the record before the turn is over');
  await until('it is answered', () => hosted.items.length === 2);
  t.same(hosted.messages, ['user: What time is it?', 'assistant: Yes.']);
  t.equal(hosted.asked.length, 1, 'the model was asked once');
});

t.test(
  'a draft that repeats the words of the user, which nobody has heard yet, makes them no echo',
  async (t) => {
    const repeating: Answer = async function* (request) {
      yield { kind: 'text', text: `You said: ${request.messages.at(-1)?.content ?? ''}` };
    };
    const hosted = joined(t, { hears: ['Two lamps, please.'], answer: inTurn(saying('Yes.'), repeating) });
    await hosted.type('one', 2);
    hosted.happen({ kind: 'speech', active: true });
    hosted.happen({ kind: 'audio', samples: new Int16Array(8000) });
    hosted.happen({ kind: 'shortPause', active: true });
    await until('an answer is drafted', () => hosted.asked.length === 2);
    await pause(systemClock, 20);
    hosted.happen({ kind: 'speech', active: false });
    await until('it is answered', () => hosted.items.length === 4);
    t.same(hosted.messages.slice(2), ['user: Two lamps, please.', 'assistant: You said: Two lamps, please.']);
  },
);

t.test('no tool runs for a draft before the turn has ended, and none for a discarded draft', async (t) => {
  const calling: Answer = async function* () {
    yield { kind: 'calls', calls: [{ id: 'a', name: 'book', arguments: '{}' }] };
  };
  const hosted = joined(t, {
    ...{ hears: ['Book a room.', 'For two people.'], tools: [webhookTool('book')] },
    answer: inTurn(calling, calling, saying('Done.')),
  });
  hosted.speak();
  await until('the first draft is made', () => hosted.asked.length === 1);
  hosted.speak();
  await until('the second draft is made', () => hosted.asked.length === 2);
  t.same(hosted.items, [], 'no tool has been called');
  await until('all is kept', () => hosted.items.length === 4);
  t.same(
    hosted.messages,
    ['user: Book a room. For two people.', 'tool_call', 'tool_result', 'assistant: Done.'],
    'one call, for all of the turn',
  );
});

t.test(
  'words of the user before hanging up are recorded, even if they are recognised after the end',
  async (t) => {
    let understand = (_text: string): void => undefined;
    const hears = [new Promise<string>((resolve) => (understand = resolve))];
    const hosted = joined(t, { hears });
    hosted.speak();
    hosted.happen({ kind: 'left' });
    await until('the client is told', () => hosted.sent.length === 1);
    understand('Good bye.');
    await hosted.over();
    t.same(hosted.messages, ['user: Good bye.']);
  },
);

t.test('a voice before hanging up in which no words are found is unclear in the record', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = [new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears });
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(8000) });
  await pause(systemClock, LONG_ENOUGH_MS);
  hosted.happen({ kind: 'left' });
  await until('the client is told', () => hosted.sent.length === 1);
  understand('');
  await hosted.over();
  t.same(hosted.messages, ['user: (unclear)']);
});

t.test('words that turn out to be none are taken back', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = ['but I also', new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears });
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(3 * 16_000) });
  await until('a guess is shown', () => hosted.shown.length === 1);
  hosted.happen({ kind: 'speech', active: false });
  understand('');
  await until('it is taken back', () => hosted.shown.length === 2);
  exactly(t, hosted.shown, [
    { text: 'but I also', final: false },
    { text: '', final: true },
  ]);
});
