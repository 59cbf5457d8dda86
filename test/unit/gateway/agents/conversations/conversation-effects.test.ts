/**
 * Tools that change the world (actors/agent/effects.ts): none begins over the caller, none is cut off by what they say, none is done
 * twice for one intent, and no result is lost.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { MCP_KEY } from '../../../../../contracts/ports/agents/mcp.js';
import type { ChatMessage } from '../../../../../contracts/ports/chat.js';
import { OutboundError, type OutboundRequest } from '../../../../../contracts/ports/outbound.js';
import type { SessionItem } from '../../../../../contracts/ports/sessions/sessions.js';
import { canonical, keyOf } from '../../../../../gateway/agents/conversations/tools/intents.js';
import { exactly } from '../../../../fixtures/exactly.js';
import {
  type Answer,
  type Hosted,
  type HostedOptions,
  joined,
  saying,
  webhookTool,
} from '../../../../fixtures/conversation/hosted.js';
import { until } from '../../../../fixtures/until.js';

const BOOK = webhookTool('book', {
  method: 'POST',
  arguments: [{ name: 'people', description: '' }],
  body_template: '{"people":"{{people}}"}',
});

const toolSaid = (messages: readonly ChatMessage[]): boolean => messages.at(-1)?.role === 'tool';
const calling = (name: string, args: object, id = 'a'): Answer =>
  async function* () {
    yield { kind: 'calls', calls: [{ id, name, arguments: JSON.stringify(args) }] };
  };

/** A model that books for as many people as were last mentioned, whenever it is asked, until its tool has answered. */
const books: Answer = (request, signal) => {
  const { messages } = request;
  const said = JSON.stringify(messages.filter(({ role }) => role === 'user'));
  const last = messages.findLastIndex(({ content }) => /booked/.test(content));
  const isTold = toolSaid(messages) || last > 0;
  const people = said.includes('six') ? 'six' : 'four';
  return (isTold ? saying('It is booked.') : calling('book', { people }))(request, signal);
};

/** A booking that runs until the test lets it answer. */
function booking(options: HostedOptions = {}) {
  const waiting: { readonly request: OutboundRequest; answer(text: string): void }[] = [];
  const toolSays = (request: OutboundRequest) =>
    new Promise<string>((resolve, reject) => {
      waiting.push({ request, answer: resolve });
      request.signal?.addEventListener('abort', () => reject(request.signal?.reason as Error));
    });
  return { waiting, options: { answer: books, tools: [BOOK], toolSays, ...options } };
}

const resultsIn = (items: readonly SessionItem[]) => items.filter((item) => item.type === 'tool_result');
const headersOf = ({ headers }: OutboundRequest) =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

/** What a caller may do while they wait. */
const MEANWHILE: Readonly<Record<string, (hosted: Hosted) => void>> = {
  'agreement, said': (hosted) => hosted.speak(),
  'a question, said': (hosted) => hosted.speak(),
  'a typed line': (hosted) => hosted.client({ type: 'user.message', text: 'Hello?' }),
  'a key': (hosted) => hosted.client({ type: 'user.dtmf', digits: '5' }),
  'user.interrupt': (hosted) => hosted.client({ type: 'user.interrupt' }),
};

t.test('a booking that has begun is made once, whatever the caller does meanwhile', async (t) => {
  for (const [what, does] of Object.entries(MEANWHILE)) {
    const { waiting, options } = booking({ hears: [what.startsWith('agreement') ? 'Okay.' : 'Hello?'] });
    const hosted = joined(t, options);
    hosted.client({ type: 'user.message', text: 'Book for four' });
    await until('it is booked', () => waiting.length === 1);
    const asked = hosted.asked.length;
    does(hosted);
    if (what === 'user.interrupt') await nextTurn();
    else await until('the caller is heard', () => hosted.asked.length > asked);
    await nextTurn();
    t.equal(waiting[0]?.request.signal?.aborted, false, `${what}: not cut off`);
    waiting[0]?.answer('booked');
    await until('the caller is told', () => hosted.messages.at(-1) === 'assistant: It is booked.');
    t.equal(hosted.requests.length, 1, `${what}: one request`);
    const results = resultsIn(hosted.items);
    t.ok(results.every(({ status, output }) => status === 'completed' && output === 'booked'));
    await hosted.over();
  }
});

t.test('a booking does not begin over the caller’s correction, which is booked instead', async (t) => {
  let think = (): void => undefined;
  const thought = new Promise<void>((resolve) => (think = resolve));
  const answer: Answer = async function* (request, signal) {
    await thought;
    yield* books(request, signal);
  };
  const hosted = joined(t, {
    ...{ answer, tools: [BOOK], toolSays: () => Promise.resolve('booked') },
    hears: ['Book for four.', 'No, wait, make it six.'],
  });
  hosted.speak();
  await until('the model is asked', () => hosted.asked.length === 1);
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(4000) });
  await nextTurn();
  think();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  t.equal(hosted.requests.length, 0, 'nothing is sent while they speak');
  hosted.happen({ kind: 'speech', active: false });
  await until('it is booked', () => hosted.messages.at(-1) === 'assistant: It is booked.');
  t.same(
    hosted.requests.map(({ body }) => body),
    ['{"people":"six"}'],
  );
  t.notMatch(JSON.stringify(hosted.asked), /four\\"\}/, 'the model is told of no call for four');
  t.equal(hosted.messages.filter((each) => each === 'tool_call').length, 1);
});

t.test('a call is not ended over the caller’s next sentence, which is answered', async (t) => {
  let think = (): void => undefined;
  const thought = new Promise<void>((resolve) => (think = resolve));
  let asked = 0;
  const answer: Answer = async function* (request, signal) {
    asked += 1;
    if (asked > 1) return yield* saying('Of course.')(request, signal);
    await thought;
    yield { kind: 'text', text: 'Goodbye!' };
    yield* calling('hang_up_call', {})(request, signal);
  };
  const hosted = joined(t, {
    answer,
    hangsUp: true,
    hears: ['Thank you for that.', 'But one more question.'],
  });
  hosted.speak();
  await until('the model is asked', () => asked === 1);
  hosted.happen({ kind: 'speech', active: true });
  hosted.happen({ kind: 'audio', samples: new Int16Array(4000) });
  await nextTurn();
  think();
  for (let turn = 0; turn < 20; turn += 1) await nextTurn();
  t.notOk(hosted.conversation.ending);
  hosted.happen({ kind: 'speech', active: false });
  await until('they are answered', () => hosted.messages.at(-1) === 'assistant: Of course.');
  t.notOk(hosted.conversation.ending);
});

t.test('the same call meanwhile joins the one that runs; after an answer it is another', async (t) => {
  const { waiting, options } = booking({
    answer: async function* (request, signal) {
      if (toolSaid(request.messages)) return yield* saying('Done.')(request, signal);
      const calls = ['{"people":"4", "x":{"b":1,"a":2}}', '{"x":{"a":2,"b":1},"people":"4"}'];
      yield {
        kind: 'calls',
        calls: calls.map((args, id) => ({ id: `${id}`, name: 'book', arguments: args })),
      };
    },
  });
  const hosted = joined(t, options);
  hosted.client({ type: 'user.message', text: 'Book' });
  await until('it is booked', () => waiting.length === 1);
  waiting[0]?.answer('booked');
  await until('both are told', () => resultsIn(hosted.items).length === 2);
  t.same(
    resultsIn(hosted.items).map(({ output }) => output),
    ['booked', 'booked'],
  );
  await until('it is said', () => hosted.messages.at(-1) === 'assistant: Done.');
  hosted.client({ type: 'user.message', text: 'Once more' });
  await until('it is booked again', () => waiting.length === 2);
  const keys = waiting.map(({ request }) => headersOf(request)['idempotency-key']);
  exactly(t, keys, [/^[0-9a-f]{64}$/, /^[0-9a-f]{64}$/]);
  t.not(keys[0], keys[1]);
  waiting[1]?.answer('booked');
});

t.test(
  'a booking that is not answered in time may have happened, and is tried again under its key',
  async (t) => {
    let tries = 0;
    const hosted = joined(t, {
      tools: [{ ...BOOK, definition: { ...BOOK.definition, error_handling: 'hide' } }],
      toolSays: () =>
        (tries += 1) === 1
          ? Promise.reject(new OutboundError('timeout', 'No response within 5 s'))
          : Promise.resolve('booked'),
      answer: (request, signal) =>
        (/"booked"|tool.*booked/.test(JSON.stringify(request.messages.at(-1)))
          ? saying('It is booked.')
          : calling('book', { people: 'four' }))(request, signal),
    });
    hosted.client({ type: 'user.message', text: 'Book' });
    await until('it is booked', () => hosted.messages.at(-1) === 'assistant: It is booked.');
    const [first, second] = hosted.requests.map((request) => headersOf(request)['idempotency-key']);
    t.equal(first, second);
    const told = hosted.asked[1]?.at(-1);
    exactly(t, told, { role: 'tool', content: /No response within 5 s: it may have happened/ });
    exactly(t, resultsIn(hosted.items)[0], { status: 'failed', error: /it may have happened$/ });
  },
);

t.test(
  'a booking that the end of the call cuts off may have happened; a lookup was broken off',
  async (t) => {
    for (const [tool, error] of [
      [BOOK, /^The call ended before the tool answered: it may have happened$/],
      [
        webhookTool('book', { arguments: [{ name: 'people', description: '' }] }),
        /^The call was broken off$/,
      ],
    ] as const) {
      const { waiting, options } = booking({ tools: [tool] });
      const hosted = joined(t, options);
      hosted.client({ type: 'user.message', text: 'Book for four' });
      await until('it is sent', () => waiting.length === 1);
      await hosted.over();
      exactly(t, resultsIn(hosted.items), [{ status: 'failed', error }]);
    }
  },
);

t.test('a lookup may begin while the caller speaks, and is cut off by their words', async (t) => {
  const look = webhookTool('book', { arguments: [{ name: 'people', description: '' }] });
  const { waiting, options } = booking({ tools: [look] });
  const hosted = joined(t, options);
  hosted.client({ type: 'user.message', text: 'Book for four' });
  await until('it is sent', () => waiting.length === 1);
  hosted.client({ type: 'user.message', text: 'Hello?' });
  await until('another is sent', () => waiting.length === 2);
  t.equal(waiting[0]?.request.signal?.aborted, true);
  t.equal(headersOf(waiting[0]!.request)['idempotency-key'], undefined);
});

t.test('the owner’s own Idempotency-Key wins', async (t) => {
  const headers = [['idempotency-KEY', 'mine']] as const;
  const hosted = joined(t, {
    answer: books,
    tools: [BOOK],
    headers,
    toolSays: () => Promise.resolve('booked'),
  });
  hosted.client({ type: 'user.message', text: 'Book for four' });
  await until('it is booked', () => hosted.messages.at(-1) === 'assistant: It is booked.');
  t.same(
    hosted.requests[0]?.headers.filter(([name]) => /idempotency/i.test(name)),
    headers,
  );
});

t.test('a call of an MCP server has its key in _meta and outlives an interruption', async (t) => {
  const keys: (string | undefined)[] = [];
  const signals: AbortSignal[] = [];
  let answer = (_text: string): void => undefined;
  const hosted = joined(t, {
    answer: books,
    tools: [webhookTool('crm', { tool_type: 'mcp', allowed_tools: [] })],
    mcp: () => ({
      list: () => Promise.resolve([{ name: 'book', description: '', parameters: { type: 'object' } }]),
      call: (_name, _args, signal, key) => {
        keys.push(key);
        signals.push(signal);
        return new Promise((resolve) => (answer = (text) => resolve({ ok: true, text })));
      },
      close: () => undefined,
    }),
  });
  hosted.client({ type: 'user.message', text: 'Book for four' });
  await until('it is called', () => keys.length === 1);
  const { length } = hosted.asked;
  hosted.client({ type: 'user.message', text: 'Hello?' });
  await until('the model is asked', () => hosted.asked.length > length);
  t.equal(signals[0]?.aborted, false);
  answer('booked');
  await until('it is booked', () => hosted.messages.at(-1) === 'assistant: It is booked.');
  t.same(keys, [keyOf('session', { name: 'book', arguments: '{"people":"four"}' }, 1)]);
  t.equal(MCP_KEY, 'speech-gateway/idempotency-key');
});

t.test(
  'after a takeover an intent without a known outcome keeps its key, and the model is told',
  async (t) => {
    const at = { turnId: 1, createdAt: new Date(1) };
    const tool = { toolName: 'book', toolSource: 'webhook' };
    const input = '{"people":"four"}';
    const call = (callId: string): SessionItem => ({ ...at, ...tool, type: 'tool_call', callId, input });
    const said: SessionItem[] = [
      { ...at, type: 'message', role: 'user', content: 'Book for four' },
      call('call_1'),
      {
        ...{ ...at, ...tool, type: 'tool_result', callId: 'call_1', status: 'completed' },
        ...{ output: 'full', outputTruncated: false, error: null, latencyMs: 1 },
      },
      call('call_2'),
    ];
    const hosted = joined(t, {
      answer: books,
      tools: [BOOK],
      said,
      toolSays: () => Promise.resolve('booked'),
    });
    await until('the record has the loss', () => resultsIn(hosted.items).length === 1);
    exactly(t, resultsIn(hosted.items), [
      { callId: 'call_2', error: /^The connection to the tool was lost: it may have happened$/ },
    ]);
    hosted.client({ type: 'user.message', text: 'And?' });
    await until('it is booked', () => hosted.messages.at(-1) === 'assistant: It is booked.');
    exactly(
      t,
      hosted.asked[0]?.filter(({ role }) => role === 'tool'),
      [{ content: 'full' }, { content: /it may have happened/ }],
    );
    t.equal(
      headersOf(hosted.requests[0]!)['idempotency-key'],
      keyOf('session', { name: 'book', arguments: '{"people":"four"}' }, 2),
    );
  },
);

t.test('arguments have one canonical spelling', async (t) => {
  t.equal(canonical('{"b": [1, {"d":1,"c":2}], "a": "x"}'), '{"a":"x","b":[1,{"c":2,"d":1}]}');
  t.equal(canonical(''), '{}');
  t.equal(canonical('no JSON'), 'no JSON');
});
