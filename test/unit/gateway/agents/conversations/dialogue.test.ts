/** The dialogue as a model is told it (gateway/agents/conversations/dialogue.ts). */
import t from '../../../../fixtures/tap.js';
import type { SessionItem } from '../../../../../contracts/ports/sessions/sessions.js';
import { Dialogue } from '../../../../../gateway/agents/conversations/dialogue.js';
import { exactly } from '../../../../fixtures/exactly.js';

t.test('in the dialogue every tool call is followed by its result, whatever came between', async (t) => {
  const kept: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(0),
    (item) => kept.push(item),
  );
  const outcome = {
    ...{ callId: 'call_1', toolName: 'Weather', toolSource: 'webhook', status: 'completed' as const },
    ...{ output: 'sun', outputTruncated: false, error: null, latencyMs: 1 },
  };
  dialogue.user('Weather?');
  const calls = dialogue.calls(
    [
      { id: 'a', name: 'Weather', arguments: '{}' },
      { id: 'b', name: 'Weather', arguments: '{}' },
    ],
    'Let me see.',
  );
  dialogue.closeTurn();
  dialogue.called('call_1', 'Weather', 'webhook', '{}');
  dialogue.user('Never mind');
  dialogue.closeTurn();
  t.same(
    dialogue.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'tool', 'user'],
  );
  dialogue.outcome(outcome);
  dialogue.told('sun', 'b');
  t.equal(dialogue.messages[1]?.content, 'Let me see.', 'the model knows what it has just said');
  exactly(t, dialogue.messages.slice(2, 4), [
    { callId: 'a', content: /broken off/ },
    { callId: 'b', content: 'sun' },
  ]);
  dialogue.agent([
    { text: 'Let me', at: new Date(0), calls },
    { text: '', at: new Date(0), calls: undefined },
  ]);
  t.equal(dialogue.messages[1]?.content, 'Let me', 'and in the end what was heard of it');
  t.same(
    kept.map(({ type, turnId }) => [type, turnId]),
    [
      ['message', 1],
      ['tool_call', 1],
      ['message', 2],
      ['tool_result', 2],
      ['message', 2],
    ],
    'in the order in which it happened, and nothing that was not heard',
  );
});

t.test('a filler is in the dialogue, marked, and is no answer of the model', async (t) => {
  const kept: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(0),
    (item) => kept.push(item),
  );
  const at = new Date(0);
  dialogue.user('Weather?');
  const calls = dialogue.calls([{ id: 'a', name: 'Weather', arguments: '{}' }], '');
  dialogue.closeTurn();
  dialogue.agent([
    { text: '', at, calls },
    { text: 'One moment, please. ', at, calls: undefined, filler: true },
    { text: 'It is sunny.', at, calls: undefined },
  ]);
  t.notMatch(JSON.stringify(dialogue.messages), 'One moment');
  t.same(
    kept.map((item) => item.type === 'message' && [item.content, item.filler]),
    [
      ['Weather?', undefined],
      ['One moment, please.', true],
      ['It is sunny.', undefined],
    ],
  );
});

t.test(
  'the dialogue: a turn that is taken up again is one message, behind what was heard meanwhile',
  async (t) => {
    const kept: SessionItem[] = [];
    let now = 0;
    const dialogue = new Dialogue(
      () => new Date(now),
      (item) => kept.push(item),
    );
    dialogue.user('A table.');
    t.same(kept, [], 'not kept before it stays as it is');
    now = 500;
    dialogue.agent([{ text: 'For how', at: new Date(400), calls: undefined }]);
    dialogue.user('A table. For four.');
    t.same(dialogue.messages, [
      { role: 'assistant', content: 'For how' },
      { role: 'user', content: 'A table. For four.' },
    ]);
    dialogue.closeTurn();
    dialogue.closeTurn();
    exactly(t, kept, [
      { role: 'assistant', turnId: 1 },
      { role: 'user', content: 'A table. For four.', turnId: 1, createdAt: new Date(0) },
    ]);
    t.equal(kept.length, 2);
    dialogue.user('And a taxi.');
    dialogue.userApart('okay', new Date(600), true);
    exactly(t, kept.slice(2), [
      { content: 'And a taxi.', turnId: 2 },
      { content: 'okay', turnId: 3, backchannel: true, createdAt: new Date(600) },
    ]);
    t.notOk('backchannel' in (kept[2] ?? {}));
  },
);

t.test(
  'an answer that was cut off is recorded as the client says that it was heard, if that is said in time',
  async (t) => {
    const kept: SessionItem[] = [];
    const dialogue = new Dialogue(
      () => new Date(9),
      (item) => kept.push(item),
    );
    const step = (text: string) => [{ text, at: new Date(1), calls: undefined }];
    dialogue.agentCutOff(step('One two three '));
    t.same(kept, [], 'not before it is certain');
    dialogue.correct(step('One two'));
    t.same(dialogue.messages, [{ role: 'assistant', content: 'One two' }]);
    dialogue.userApart('Stop.');
    exactly(t, kept, [
      { role: 'assistant', content: 'One two', createdAt: new Date(1) },
      { role: 'user', content: 'Stop.' },
    ]);
    dialogue.correct(step('One'));
    t.equal(dialogue.messages[0]?.content, 'One two', 'too late');
    dialogue.agentCutOff(step('Four'));
    dialogue.correct(step(''));
    dialogue.correct(step('Four'));
    dialogue.settle();
    dialogue.settle();
    t.same(
      dialogue.messages.map(({ content }) => content),
      ['One two', 'Stop.', 'Four'],
    );
    t.equal(kept.length, 3);
    dialogue.agentCutOff(step(''));
    dialogue.settle();
    t.equal(kept.length, 3, 'nothing was heard');
  },
);

t.test('what a client brings along is told to the model; only the user’s is recorded', async (t) => {
  const kept: SessionItem[] = [];
  const dialogue = new Dialogue(
    () => new Date(0),
    (item) => kept.push(item),
  );
  for (const role of ['system', 'user', 'assistant'] as const) dialogue.brought(role, role);
  t.same(
    dialogue.messages.map(({ role }) => role),
    ['system', 'user', 'assistant'],
  );
  exactly(t, kept, [{ role: 'user', content: 'user' }]);
});

t.test('what is said again before the user answers leaves the question open', (t) => {
  const at = new Date(0);
  const dialogue = new Dialogue(
    () => at,
    () => undefined,
  );
  const agent = (text: string): void => dialogue.agent([{ text, at, calls: undefined }]);
  t.strictSame(dialogue.saidUnanswered(''), []);
  agent('Your e-mail?');
  dialogue.userApart('mm-hm', at, true);
  t.strictSame(dialogue.saidUnanswered(''), ['Your e-mail?'], 'the last message is never answered yet');
  dialogue.userApart('(unclear)');
  agent('Are you there?');
  dialogue.user('Jane at');
  t.strictSame(dialogue.saidUnanswered('Thank'), ['Are you there?', 'Thank'], 'nor by an open turn');
  dialogue.closeTurn();
  t.strictSame(dialogue.saidUnanswered(''), ['Are you there?'], 'until there is something new');
  t.strictSame(dialogue.saidUnanswered('Thank'), ['Thank']);
  t.end();
});
