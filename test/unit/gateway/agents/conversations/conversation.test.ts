/**
 * The host of a conversation (gateway/agents/conversations/conversation.ts): requests to the model, messages to the client, and
 * the record, when answers fail, are interrupted, or use tools.
 */
import t from '../../../../fixtures/tap.js';
import { systemClock } from '../../../../../contracts/clock.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { exactly } from '../../../../fixtures/exactly.js';
import {
  type Answer,
  Hosted,
  inTurn,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { until } from '../../../../fixtures/until.js';

const failing: Answer = () => {
  throw new Error('out of order');
};

/** Messages as the record returns them: by time. */
const inOrder = ({ items, messages }: Hosted): string[] =>
  messages
    .map((message, index) => ({ message, at: items[index]?.createdAt.getTime() ?? 0 }))
    .sort((one, other) => one.at - other.at)
    .map(({ message }) => message);

t.test(
  'an excuse says in the record why there is no answer (decision 11); the next answer does not',
  async (t) => {
    const hosted = joined(t, { answer: inTurn(failing, saying('Fine.')) });
    await hosted.type('one', 2);
    await hosted.type('two', 4);
    const excuse = 'assistant: Sorry, I could not answer that. Please try again.';
    t.strictSame(hosted.messages, ['user: one', excuse, 'user: two', 'assistant: Fine.']);
    exactly(t, hosted.items[1], { error: 'internal' });
    t.notOk('error' in (hosted.items[3] ?? {}));
    exactly(t, hosted.sent[0], { type: 'error', code: 'internal_error' });
  },
);

t.test('an excuse that cannot be spoken leaves nothing behind', async (t) => {
  const hosted = joined(t, { answer: inTurn(failing, saying('Fine.')), unspeakable: /Sorry/ });
  await hosted.type('one', 1);
  await until('it was tried', () => hosted.sent.length === 1);
  await hosted.type('two', 3);
  exactly(t, hosted.items[2], { content: 'Fine.' });
  t.notOk('error' in (hosted.items[2] ?? {}));
});

t.test('a voice that fails while the model still thinks ends the answer at once', async (t) => {
  const slow: Answer = async function* (_request, signal) {
    yield { kind: 'text', text: 'Well' };
    await new Promise((_resolve, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
  };
  const hosted = joined(t, { answer: inTurn(slow), unspeakable: /Well/ });
  await hosted.type('one', 2);
  exactly(t, hosted.items[1], { role: 'assistant', error: 'internal' });
});

t.test('an answer without sound is excused, if it should be heard', async (t) => {
  const hosted = joined(t, { answer: saying('👍') });
  await hosted.type('one', 2);
  exactly(t, hosted.items[1], { content: /^Sorry/, error: 'nothing_to_say' });
  await hosted.type('two', 4, false);
  exactly(t, hosted.items[3], { content: '👍' });
});

t.test('a model that calls tools without an end is excused, instead of endless silence', async (t) => {
  const calling: Answer = async function* () {
    yield { kind: 'calls', calls: [{ id: 'a', name: 'look', arguments: '{}' }] };
  };
  const hosted = joined(t, { answer: calling, tools: [webhookTool('look')] });
  await hosted.type('What is it?', 12);
  exactly(t, hosted.items.at(-1), { role: 'assistant', content: /^Sorry/, error: 'provider_failed' });
  t.equal(hosted.asked.length, 5);
});

t.test('an answer in writing is shown as it is written, and kept as it was shown', async (t) => {
  const hosted = joined(t, {
    answer: async function* (_request, signal) {
      yield { kind: 'text', text: 'As far as ' };
      await new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason as Error)),
      );
    },
  });
  hosted.client({ type: 'user.message', text: 'one', audio: false });
  await until('it is shown', () => hosted.shown.length > 0);
  hosted.client({ type: 'user.interrupt' });
  await until('it is kept', () => hosted.items.length === 2);
  t.same(hosted.messages, ['user: one', 'assistant: As far as']);
  exactly(t, hosted.shown, [
    { speaker: 'agent', text: 'As far as ', final: false },
    { speaker: 'agent', text: '', final: true },
  ]);
  t.equal(hosted.shown.length, 2);
});

t.test('an answer in writing that fails is excused in writing', async (t) => {
  const hosted = joined(t, { answer: failing });
  await hosted.type('one', 2, false);
  exactly(t, hosted.items[1], { error: 'internal' });
  t.equal(hosted.played, 0);
});

t.test('words before a tool call are in the record before it, and the model gets them', async (t) => {
  /** What the model's server wants back with the call. */
  const ofServer = { extra: { signature: 's' }, thoughts: { reasoning_content: 'I look first.' } };
  const looking: Answer = async function* () {
    yield { kind: 'text', text: 'Let me look. ' };
    yield { kind: 'calls', calls: [{ id: 'a', name: 'look', arguments: '{}', ...ofServer }] };
  };
  const hosted = joined(t, { answer: inTurn(looking, saying('It is 42.')), tools: [webhookTool('look')] });
  await hosted.type('What is it?', 5);
  const inOrder = [...hosted.items].sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime());
  t.same(
    inOrder.map(({ type }) => type).filter((type) => type === 'message').length,
    3,
    'two messages of the agent',
  );
  exactly(t, hosted.asked[1]?.slice(-3), [
    { role: 'user' },
    { role: 'assistant', content: 'Let me look.', toolCalls: [{ name: 'look', ...ofServer }] },
    { role: 'tool', content: '42' },
  ]);
  await hosted.type('And now?', 7);
  exactly(t, hosted.asked[2]?.slice(-4), [
    { role: 'assistant', content: 'Let me look.' },
    { role: 'tool' },
    { role: 'assistant', content: 'It is 42.' },
    { role: 'user', content: 'And now?' },
  ]);
});

t.test('a filler is heard and recorded, and the model gets only its answer', async (t) => {
  const calling: Answer = async function* () {
    yield { kind: 'calls', calls: [{ id: 'a', name: 'look', arguments: '{}' }] };
  };
  let toolSays = (_answer: string): void => undefined;
  const hosted = joined(t, {
    answer: inTurn(calling, saying('It is 42.')),
    tools: [webhookTool('look')],
    toolSays: () => new Promise((resolve) => (toolSays = resolve)),
  });
  hosted.client({ type: 'user.message', text: 'What is it?' });
  await until('the filler is spoken', () => hosted.played > 0);
  toolSays('42');
  await until('all is kept', () => hosted.items.length === 5);
  t.same(hosted.messages.sort(), [
    'assistant: It is 42.',
    'assistant: One moment, please.',
    'tool_call',
    'tool_result',
    'user: What is it?',
  ]);
  const filler = hosted.items.find((item) => item.type === 'message' && item.content.startsWith('One'));
  exactly(t, filler, { filler: true });
  await hosted.type('And now?', 7);
  t.notMatch(JSON.stringify(hosted.asked), 'One moment');
});

t.test("an owner's tool that is named as ours is the owner's", async (t) => {
  const calling: Answer = async function* () {
    yield { kind: 'calls', calls: [{ id: 'a', name: 'hang_up_call', arguments: '{}' }] };
  };
  const hosted = joined(t, {
    ...{ answer: inTurn(calling, saying('Done.')), tools: [webhookTool('hang_up_call')], hangsUp: true },
  });
  await hosted.type('Call it', 4);
  exactly(t, hosted.items[1], { type: 'tool_call', toolSource: 'webhook' });
  t.equal(hosted.messages.at(-1), 'assistant: Done.');
  t.notOk(hosted.conversation.ending);
});

t.test(
  'an agent that hangs up beside another tool ends the call, even if its model fails then',
  async (t) => {
    const calling: Answer = async function* () {
      yield { kind: 'text', text: 'Good bye.' };
      const calls = ['look', 'hang_up_call'].map((name, index) => ({
        id: `${index}`,
        name,
        arguments: '{}',
      }));
      yield { kind: 'calls', calls };
    };
    const hosted = joined(t, {
      ...{ answer: inTurn(calling, failing), tools: [webhookTool('look')], hangsUp: true },
    });
    hosted.client({ type: 'user.message', text: 'That is all, bye' });
    await until('the call has ended', () => hosted.conversation.ending);
    t.same(hosted.messages.at(-1), 'assistant: Good bye.');
  },
);

t.test('a client that asks too much is not heard', async (t) => {
  const hosted = joined(t);
  for (let message = 0; message < 100; message += 1)
    hosted.client({ type: 'user.message', text: `${message}` });
  hosted.client({ type: 'user.hangup' });
  await hosted.conversation.over;
  const { burst } = LIMITS.session.clientMessages;
  t.ok(hosted.asked.length >= burst && hosted.asked.length <= burst + 2, `${hosted.asked.length}`);
});

t.test('an item that cannot be written is written again', async (t) => {
  const hosted = joined(t, { writesFail: 1 });
  await hosted.type('one', 2);
  t.same(hosted.messages, ['user: one', 'assistant: Yes.']);
});

t.test('voice before the user is connected is not counted, and a call that ends is not joined', async (t) => {
  const hosted = new Hosted(t);
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'speech', active: false });
  hosted.conversation.closedBy('shutdown');
  hosted.happen({ kind: 'connected' });
  await hosted.conversation.over;
  t.equal(hosted.activated, 0);
});

t.test('what is said after the clock was set back is recorded behind what was said before', async (t) => {
  let behindMs = 0;
  const hosted = joined(t, { clock: { ...systemClock, now: () => Date.now() - behindMs } });
  await hosted.type('one', 2);
  behindMs = 3_600_000;
  await hosted.type('two', 4);
  t.same(inOrder(hosted), ['user: one', 'assistant: Yes.', 'user: two', 'assistant: Yes.']);
});

t.test('a call that goes on at a node whose clock is behind keeps the order of its record', async (t) => {
  const createdAt = new Date(Date.now() + 20_000);
  const said = [{ type: 'message', role: 'user', content: 'before', turnId: 1, createdAt }] as const;
  const hosted = joined(t, { said });
  await hosted.type('after', 2);
  const first = hosted.items[0]?.createdAt.getTime() ?? 0;
  t.ok(first >= createdAt.getTime(), 'all of it comes later');
});
