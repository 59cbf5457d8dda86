/** How much of a conversation a model is told, and what happens when it refuses it as too long (agents' context windows). */
import t from '../../../../fixtures/tap.js';
import { type Clock, systemClock } from '../../../../../contracts/clock.js';
import {
  type ChatEvent,
  type ChatMessage,
  ContextExceeded,
  wholeAnswer,
} from '../../../../../contracts/ports/chat.js';
import { contextRefusal } from '../../../../../engines/chat/context-refusal.js';
import { ContextWindow, tokensIn } from '../../../../../gateway/agents/conversations/context-window.js';
import { timeAt, WorldClock } from '../../../../../gateway/agents/conversations/world-clock.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { type Answer, joined, saying, webhookTool } from '../../../../fixtures/conversation/hosted.js';

const turns = (count: number, words = 'x'.repeat(300)): ChatMessage[] =>
  Array.from({ length: count }, (_, turn): ChatMessage[] => [
    { role: 'user', content: `question ${turn}` },
    { role: 'assistant', content: '', toolCalls: [{ id: `c${turn}`, name: 'find', arguments: '{}' }] },
    { role: 'tool', callId: `c${turn}`, content: 'found' },
    { role: 'assistant', content: words },
  ]).flat();

t.test('a conversation is told from a message of the user on, within the window', async (t) => {
  const window = new ContextWindow(3000);
  const said = turns(40);
  const told = window.fit(said, 500);
  t.equal(told[0]?.role, 'user');
  t.equal(told.at(-1), said.at(-1));
  t.ok(told.reduce((sum, { content }) => sum + tokensIn(content), 0) <= 1500);
});

t.test('never less than the last message of the user', async (t) => {
  const window = new ContextWindow(2000);
  t.same(window.fit([...turns(3), { role: 'user', content: 'y'.repeat(30_000) }], 0).length, 1);
});

t.test('a call and its answer are told together or not at all', async (t) => {
  for (let tokens = 1100; tokens < 4000; tokens += 37) {
    const told = new ContextWindow(tokens).fit(turns(40), 0);
    const ids = told
      .flatMap((each) => ('toolCalls' in each ? (each.toolCalls ?? []) : []))
      .map(({ id }) => id);
    const answered = told.flatMap((each) => (each.role === 'tool' ? [each.callId] : []));
    t.same(ids, answered);
  }
});

t.test('the beginning of what is told stays where it is for several turns', async (t) => {
  const window = new ContextWindow(4000);
  const beginnings = Array.from({ length: 60 }, (_, count) => window.fit(turns(count + 1), 0)[0]?.content);
  const moves = beginnings.filter((content, index) => index > 0 && content !== beginnings[index - 1]);
  t.ok(moves.length > 2 && moves.length < 15, `${moves.length} moves in 60 turns`);
});

t.test('every script is counted on the long side', async (t) => {
  t.ok(tokensIn('Zwei Brötchen und ein Kaffee, bitte.') >= 12);
  t.ok(tokensIn('二つのパンとコーヒーをお願いします。') >= 14);
});

const refusing = (most: number, sizes: number[], share = 0.5): Answer =>
  async function* ({ messages }) {
    const size = messages.reduce((sum, { content }) => sum + content.length, 0);
    sizes.push(size);
    if (size > most) throw new ContextExceeded(share);
    yield { kind: 'text', text: `Answer ${'x'.repeat(400)}.` };
  };

t.test(
  'a request that outgrows the window is asked again at once, and the size is kept for the call',
  async (t) => {
    const sizes: number[] = [];
    const hosted = joined(t, { answer: refusing(2500, sizes, 0.7) });
    for (let turn = 1; turn <= 9; turn += 1) await hosted.type(`question ${turn}`, 2 * turn);
    t.equal(hosted.messages.filter((message) => message.startsWith('assistant: Answer')).length, 9);
    const refused = sizes.filter((size) => size > 2500).length;
    t.ok(refused >= 1 && refused <= 3, `${refused} refusals in 9 turns`);
  },
);

t.test(
  'a window that not even the instructions fit into fails the answer, and asks no more than three times',
  async (t) => {
    const sizes: number[] = [];
    const hosted = joined(t, { answer: refusing(0, sizes) });
    await hosted.type('one', 2);
    exactly(t, hosted.items[1], { error: 'context_exceeded' });
    t.ok(sizes.length <= 3, `${sizes.length} requests`);
  },
);

const REFUSALS: Readonly<Record<string, unknown>> = {
  OpenAI: {
    error: {
      message:
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      code: 'context_length_exceeded',
    },
  },
  vLLM: {
    object: 'error',
    message:
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion).",
    code: 400,
  },
  'vLLM, newer': {
    error: {
      message:
        "You passed 9001 input tokens and requested 0 output tokens. However, the model's context length is only 8192 tokens",
      code: 400,
    },
  },
  'llama.cpp': {
    error: {
      code: 400,
      message: 'the request exceeds the available context size',
      type: 'exceed_context_size_error',
      n_prompt_tokens: 9000,
      n_ctx: 8192,
    },
  },
  Ollama: { error: 'the input length exceeds the context length' },
  LiteLLM: { error: { message: 'litellm.ContextWindowExceededError: too long', code: '400' } },
  Azure: { error: { code: 'context_length_exceeded', message: 'Please reduce the length of the messages.' } },
  Anthropic: { error: { message: 'prompt is too long: 210000 tokens > 200000 maximum' } },
};

t.test('refusals for length are known by code and by the sentences of servers', async (t) => {
  for (const [name, body] of Object.entries(REFUSALS)) {
    const { share = 0 } = contextRefusal(body) ?? {};
    t.ok(share > 0 && share < 1, `${name}: ${share}`);
  }
  t.match(contextRefusal(REFUSALS['llama.cpp'])?.share, /^0\.8/, 'as far as the numbers tell');
  for (const other of [
    { error: { message: 'The model is overloaded' } },
    { error: 'max tokens' },
    'no',
    null,
  ])
    t.equal(contextRefusal(other), undefined);
});

t.test('a question is shortened until the model takes it', async (t) => {
  const shares: number[] = [];
  const chat = {
    async *chat(): AsyncGenerator<ChatEvent> {
      if (shares.length < 3) throw new ContextExceeded(0.5);
      yield { kind: 'text', text: 'done' };
    },
  };
  const question = (share: number): ChatMessage[] => (shares.push(share), []);
  t.equal(await wholeAnswer(chat, question, new AbortController().signal), 'done');
  t.strictSame(shares, [1, 0.5, 0.25]);
});

t.test('the world context has date, time, zone and its distance from UTC', async (t) => {
  const now = new Date('2026-03-01T23:30:00Z');
  t.match(timeAt(now, 'Asia/Tokyo'), /Monday.*2 March 2026.*08:30 \(Asia\/Tokyo, UTC\+09:00\)/);
  t.match(timeAt(now, ''), /Sunday.*1 March 2026.*23:30 \(UTC\)/);
});

t.test('a time that has passed on is a note, once', async (t) => {
  const at = (time: string): Date => new Date(`2026-03-01T${time}Z`);
  const clock = new WorldClock(at('23:58:10'));
  t.equal(clock.note(at('23:58:50'), 'UTC'), undefined);
  t.equal(clock.note(at('23:59:01'), 'UTC'), 'It is now 23:59.');
  t.equal(clock.note(at('23:59:30'), 'UTC'), undefined);
  t.match(clock.note(new Date('2026-03-02T00:00:05Z'), 'UTC'), /Monday.*2 March/);
});

t.test('requests of a call begin with those before them, whatever the clock says', async (t) => {
  let now = Date.UTC(2026, 2, 1, 12, 0);
  const clock: Clock = {
    now: () => now,
    monotonic: () => systemClock.monotonic(),
    after: (ms, call) => systemClock.after(ms, call),
  };
  const hosted = joined(t, {
    answer: saying('Yes.'),
    tools: [webhookTool('look')],
    clock,
    worldContext: true,
  });
  for (let turn = 1; turn <= 4; turn += 1) {
    await hosted.type(`question ${turn}`, 2 * turn);
    now += 61_000;
  }
  const told = hosted.asked.map((messages) => JSON.stringify(messages).slice(0, -1));
  t.equal(told.length, 4);
  for (const [index, each] of told.entries())
    if (index > 0) t.ok(each.startsWith(told[index - 1] ?? '?'), `request ${index + 1}`);
  t.match(told[3], /It is now 12:03/);
});
