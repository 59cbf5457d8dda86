/**
 * The host of a conversation (gateway/conversations/conversation.ts): what the model is told, what the client is shown
 * and what the record keeps, where answers fail, are broken off, or come with tools.
 */
import t, { type Test } from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import type { RunnableAgent } from '../../contracts/ports/agents.js';
import type { ChatRequest } from '../../contracts/ports/chat.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../contracts/schemas/agent-config.js';
import { type Answer, Hosted, saying, webhookTool } from '../fixtures/hosted.js';
import { until } from '../fixtures/until.js';

const failing: Answer = () => {
  throw new Error('out of order');
};

/** The first request gets the first answer, and so on. */
function inTurn(...answers: Answer[]): Answer {
  let next = 0;
  return (request, signal) => (answers[next++] ?? saying('Yes.'))(request, signal);
}

function joined(...args: ConstructorParameters<typeof Hosted>): Hosted {
  const hosted = new Hosted(...args);
  hosted.happen({ kind: 'connected' });
  return hosted;
}

t.test(
  'an excuse says in the record why there is no answer (decision 11); the next answer does not',
  async (t) => {
    const hosted = joined(t, { answer: inTurn(failing, saying('Fine.')) });
    await hosted.type('one', 2);
    await hosted.type('two', 4);
    const excuse = 'assistant: Sorry, I could not answer that. Please try again.';
    t.strictSame(hosted.messages, ['user: one', excuse, 'user: two', 'assistant: Fine.']);
    t.match(hosted.items[1], { error: 'internal' });
    t.notOk('error' in (hosted.items[3] ?? {}));
    t.match(hosted.sent[0], { type: 'error', code: 'internal_error' });
  },
);

t.test('an excuse that cannot be spoken leaves nothing behind', async (t) => {
  const hosted = joined(t, { answer: inTurn(failing, saying('Fine.')), unspeakable: /Sorry/ });
  await hosted.type('one', 1);
  await until('it was tried', () => hosted.sent.length === 1);
  await hosted.type('two', 3);
  t.match(hosted.items[2], { content: 'Fine.' });
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
  t.match(hosted.items[1], { role: 'assistant', error: 'internal' });
});

t.test('an answer of which nothing can be heard is excused, where it is to be heard', async (t) => {
  const hosted = joined(t, { answer: saying('👍') });
  await hosted.type('one', 2);
  t.match(hosted.items[1], { content: /^Sorry/, error: 'nothing_to_say' });
  await hosted.type('two', 4, false);
  t.match(hosted.items[3], { content: '👍' });
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
  t.match(hosted.shown, [
    { speaker: 'agent', text: 'As far as ', final: false },
    { speaker: 'agent', text: '', final: true },
  ]);
  t.equal(hosted.shown.length, 2);
});

t.test('an answer in writing that fails is excused in writing', async (t) => {
  const hosted = joined(t, { answer: failing });
  await hosted.type('one', 2, false);
  t.match(hosted.items[1], { error: 'internal' });
  t.equal(hosted.played, 0);
});

t.test(
  'what was said before a tool call is in the record before it, and the model knows of it',
  async (t) => {
    const looking: Answer = async function* () {
      yield { kind: 'text', text: 'Let me look. ' };
      yield { kind: 'calls', calls: [{ id: 'a', name: 'look', arguments: '{}' }] };
    };
    const hosted = joined(t, { answer: inTurn(looking, saying('It is 42.')), tools: [webhookTool('look')] });
    await hosted.type('What is it?', 5);
    const inOrder = [...hosted.items].sort(
      (one, other) => one.createdAt.getTime() - other.createdAt.getTime(),
    );
    t.same(
      inOrder.map(({ type }) => type).filter((type) => type === 'message').length,
      3,
      'two messages of the agent',
    );
    t.match(hosted.asked[1]?.slice(-3), [
      { role: 'user' },
      { role: 'assistant', content: 'Let me look.', toolCalls: [{ name: 'look' }] },
      { role: 'tool', content: '42' },
    ]);
    await hosted.type('And now?', 7);
    t.match(hosted.asked[2]?.slice(-4), [
      { role: 'assistant', content: 'Let me look.' },
      { role: 'tool' },
      { role: 'assistant', content: 'It is 42.' },
      { role: 'user', content: 'And now?' },
    ]);
  },
);

t.test('a filler is heard and kept, and the model is told of its answer alone', async (t) => {
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
  t.match(filler, { filler: true });
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
  t.match(hosted.items[1], { type: 'tool_call', toolSource: 'webhook' });
  t.equal(hosted.messages.at(-1), 'assistant: Done.');
  t.notOk(hosted.conversation.ending);
});

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
  t.match(hosted.items[2], { backchannel: true });
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
  t.match(hosted.items[2], { content: 'mm-hm', backchannel: true });
  t.equal(hosted.asked.length, 1, 'it has no answer');
});

/** Whoever is heard says something, once the agent speaks. */
async function overheard(t: Test, answer: string, hears: readonly string[]): Promise<Hosted> {
  const hosted = joined(t, { answer: saying(answer), hears, lasting: true });
  hosted.client({ type: 'user.message', text: 'one' });
  await until('the answer is heard', () => hosted.played > 0);
  return hosted;
}

t.test('speech in the background is recorded as such, interrupts nobody and is not told', async (t) => {
  const hosted = await overheard(t, 'Well, it depends.', ['The weather will be fine.']);
  hosted.speak(true);
  const kept = await until('it is kept', () => hosted.items[1]);
  t.match(kept, { role: 'user', content: 'The weather will be fine.', background: true });
  t.same(hosted.shown, [], 'nor shown');
  hosted.finishPlayout();
  await hosted.type('two', 4);
  t.same(lastAsked(hosted), ['user: one', 'assistant: Well, it depends.', 'user: two']);
  t.notOk(hosted.held, 'and the agent was not held');
});

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

t.test('echo of the agent is recorded as such, interrupts nobody and is not told', async (t) => {
  const answer = 'Your table is booked for Tuesday at nine.';
  const hosted = await overheard(t, answer, ['our table is booked for Tuesday']);
  hosted.speak();
  const kept = await until('it is kept', () => hosted.items[1]);
  t.match(kept, { content: 'our table is booked for Tuesday', echo: true });
  hosted.finishPlayout();
  await hosted.type('two', 4);
  t.same(lastAsked(hosted), ['user: one', `assistant: ${answer}`, 'user: two']);
});

t.test('what the user says over the agent in other words, or in few of its own, is the user’s', async (t) => {
  const answer = 'Your table is booked for Tuesday at nine.';
  for (const words of ['yes, Tuesday', 'Tuesday?', 'no, for Wednesday at nine', 'Stop.']) {
    const hosted = await overheard(t, answer, [words]);
    hosted.speak();
    await until('it is kept', () => hosted.messages.includes(`user: ${words}`));
    t.notOk(
      hosted.items.some((item) => 'echo' in item),
      words,
    );
    await hosted.over();
  }
});

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
  'no tool runs for a draft before the turn is over, and none for one that is thrown away',
  async (t) => {
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
  },
);

t.test('what the user says before hanging up is kept, though it is understood behind the end', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = [new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears });
  hosted.speak();
  hosted.happen({ kind: 'left' });
  await until('the client is told', () => hosted.sent.length === 1);
  understand('Good bye.');
  await hosted.over();
  t.same(hosted.messages, ['user: Good bye.']);
});

t.test('words that turn out to be none are taken back', async (t) => {
  let understand = (_text: string): void => undefined;
  const hears = ['but I also', new Promise<string>((resolve) => (understand = resolve))];
  const hosted = joined(t, { hears });
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(16_000) });
  await until('a guess is shown', () => hosted.shown.length === 1);
  hosted.happen({ kind: 'speech', active: false });
  understand('');
  await until('it is taken back', () => hosted.shown.length === 2);
  t.match(hosted.shown, [
    { text: 'but I also', final: false },
    { text: '', final: true },
  ]);
});

/** A tool that runs beside the conversation, until the test lets it answer. */
function beside() {
  const answers: ((text: string) => void)[] = [];
  const tool = webhookTool('look');
  return {
    answers,
    tools: [{ ...tool, definition: { ...tool.definition, while_speaking: true } }],
    toolSays: () => new Promise<string>((resolve) => void answers.push(resolve)),
  };
}

const callsLook = (times = 1): Answer =>
  async function* () {
    const calls = Array.from({ length: times }, (_, id) => ({ id: `${id}`, name: 'look', arguments: '{}' }));
    yield { kind: 'calls', calls };
  };

t.test('a tool beside speech: the agent goes on, and tells of the result when it comes', async (t) => {
  const { answers, ...options } = beside();
  const answer = inTurn(callsLook(), saying('I look.'), saying('Yes?'), saying('It is 42.'));
  const hosted = joined(t, { ...options, answer });
  await hosted.type('What is it?', 3);
  t.same(hosted.messages, ['user: What is it?', 'tool_call', 'assistant: I look.']);
  t.match(hosted.asked[1]?.at(-1), { role: 'tool', content: /The tool runs/ });
  await hosted.type('Are you there?', 5);
  answers[0]?.('42');
  await until('the result is told', () => hosted.items.length === 7);
  t.same(hosted.messages.slice(5), ['tool_result', 'assistant: It is 42.']);
  t.match(hosted.asked[3]?.slice(-2), [
    { role: 'system', content: /look \(\{\}\) has answered: 42/ },
    { role: 'system', content: /ran beside the conversation/ },
  ]);
  t.same(
    hosted.sent.map(({ type }) => type),
    ['tool.started', 'tool.completed'],
  );
});

t.test('a tool beside speech: no interruption ends it, the end of the call does', async (t) => {
  const { answers, ...options } = beside();
  const hosted = joined(t, { ...options, answer: inTurn(callsLook(), saying('I look.')) });
  await hosted.type('What is it?', 3);
  hosted.client({ type: 'user.interrupt' });
  await hosted.type('Well?', 5);
  t.notOk(hosted.items.some(({ type }) => type === 'tool_result'));
  hosted.happen({ kind: 'left' });
  await until('the client is told of the end', () =>
    hosted.sent.some(({ type }) => type === 'session.ended'),
  );
  answers[0]?.('42');
  await hosted.over();
  t.equal(hosted.items.filter(({ type }) => type === 'tool_result').length, 1);
});

t.test('tools beside speech: so many at once, and more fail at once', async (t) => {
  const { callsBesideSpeech: most } = LIMITS.session;
  const { answers, ...options } = beside();
  const hosted = joined(t, { ...options, answer: inTurn(callsLook(most + 1), saying('I look.')) });
  await hosted.type('What is it?', most + 4);
  t.equal(answers.length, most);
  const told = hosted.asked[1]?.filter(({ role }) => role === 'tool').map(({ content }) => content) ?? [];
  t.equal(told.filter((content) => /Too many tools run already/.test(content)).length, 1);
  t.equal(hosted.items.filter(({ type }) => type === 'tool_result').length, 1);
  for (const answer of answers) answer('42');
});

/** A published agent that goes on after a hand-over. */
const published = (id: string, config: Partial<AgentConfig> = {}, status: 'active' | 'archived' = 'active') =>
  ({
    agent: { id, name: `Agent ${id}`, status },
    version: {
      number: 1,
      config: { ...DEFAULT_CONFIG, ...config },
      ...{ configHash: '', tools: [], knowledge: [] },
    },
  }) as unknown as RunnableAgent;

const transferTo = (id: string): Answer =>
  async function* () {
    const args = JSON.stringify({ agent_id: id, note: 'wants tea' });
    yield { kind: 'text', text: 'I pass you on.' };
    yield { kind: 'calls', calls: [{ id: 'a', name: 'transfer_to_agent', arguments: args }] };
  };

t.test('a hand-over: another agent goes on with its own prompt, voice and tools, and the note', async (t) => {
  const next = published('shop', {
    prompt: { ...DEFAULT_CONFIG.prompt, system_prompt: 'You run the shop of {{caller}}.' },
    voice: { voice_id: 'v2', speaking_language: 'de' },
    tools: { ...DEFAULT_CONFIG.tools, system_tools: { hang_up_call: true } },
  });
  const requests: ChatRequest[] = [];
  const answers = inTurn(transferTo('shop'), saying('Here is the shop.'));
  const answer: Answer = (request, signal) => {
    requests.push(request);
    return answers(request, signal);
  };
  const hosted = joined(t, { answer, agents: { shop: next } });
  await hosted.type('Tea please', 5);
  t.same(hosted.messages, [
    ...['user: Tea please', 'tool_call', 'tool_result', 'assistant: I pass you on.'],
    'assistant: Here is the shop.',
  ]);
  t.match(hosted.items[2], { toolName: 'transfer_to_agent', toolSource: 'builtin', status: 'completed' });
  const output = hosted.items[2]?.type === 'tool_result' ? hosted.items[2].output : '';
  t.same(JSON.parse(output), {
    ...{ agent_id: 'shop', agent_name: 'Agent shop', version_number: 1, note: 'wants tea' },
  });
  t.match(
    hosted.sent.find(({ type }) => type === 'agent.changed'),
    { agentId: 'shop', agentName: 'Agent shop' },
  );
  t.same(hosted.voices, ['default', 'v2']);
  t.same(
    requests.map(({ tools }) => tools.map(({ name }) => name)),
    [['transfer_to_agent'], ['hang_up_call']],
  );
  t.equal(requests[1]?.messages[0]?.content, 'You run the shop of Ada.');
  t.match(requests[1]?.messages[1]?.content, /Speak German/);
  t.match(requests[1]?.messages.at(-1)?.content, /taken this call over/);
  t.match(JSON.stringify(requests[1]?.messages), /wants tea/);
});

t.test('a hand-over to an agent that is gone, archived or unknown fails, and the call goes on', async (t) => {
  const agents = { gone: undefined, old: published('old', {}, 'archived') };
  for (const id of ['gone', 'old', 'nobody']) {
    const hosted = joined(t, { answer: inTurn(transferTo(id), saying('I cannot.')), agents });
    await hosted.type('Tea please', 5);
    t.match(hosted.items[2], { status: 'failed', error: /no calls any more|no such agent/ }, id);
    t.equal(hosted.messages.at(-1), 'assistant: I cannot.');
    t.same(hosted.voices, ['default']);
  }
});

t.test('hand-overs: so many a call', async (t) => {
  const { transfers: most } = LIMITS.session;
  const tools = {
    ...DEFAULT_CONFIG.tools,
    transfer_agents: [
      { agent_id: 'a', description: '' },
      { agent_id: 'b', description: '' },
    ],
  };
  let asked = 0;
  const answer: Answer = (request, signal) =>
    (asked++ > most ? saying('I stay.') : transferTo(asked % 2 === 0 ? 'a' : 'b'))(request, signal);
  const agents = { a: published('a', { tools }), b: published('b', { tools }) };
  const hosted = joined(t, { answer, agents });
  hosted.client({ type: 'user.message', text: 'Go' });
  await until('it stays', () => hosted.messages.at(-1) === 'assistant: I stay.');
  t.equal(hosted.sent.filter(({ type }) => type === 'agent.changed').length, most);
  const failed = hosted.items.filter((item) => item.type === 'tool_result' && item.status === 'failed');
  t.match(failed, [{ error: /too often/ }]);
});
