/** A language model that is tried out: its first word, its tools, what is wrong with it, and which key it is sent (6.3). */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import type { ChatEvent, ChatModel } from '../../../contracts/ports/chat.js';
import { tryModel } from '../../../gateway/dialects/platform/model-test.js';
import { startModel } from '../../fixtures/chat/model.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t, 'speech');
const { call } = platform;
const own = await startModel();
t.teardown(() => own.stop());
t.beforeEach(() => own.reset());
const custom = { base_url: own.url, model: 'wise-1', api_key: 'sesame' };
const trial = (id: string, body?: unknown) =>
  call('POST', `/v1/agent/agents/${id}/llm/test`, body === undefined ? {} : { body });

t.test('that of the draft: one request with one tool, and the stored key', async (t) => {
  const id = await platform.agent({ config: { llm: { custom } } });
  own.answer(() => ({ calls: { report_ready: { word: 'ready' } } }));
  const { status, body } = await trial(id);
  exactly(t, [status, body], [200, { ok: true, model: 'wise-1', calls_tools: true, error: null }]);
  t.ok(Number(body['first_token_ms']) >= 0);
  t.equal(own.requests.length, 1);
  exactly(t, own.requests[0], {
    authorization: 'Bearer sesame',
    body: { model: 'wise-1', stream: true, tools: [{ function: { name: 'report_ready' } }] },
  });
  t.notOk('session_id' in (own.requests[0]?.body ?? {}));
  own.answer(() => 'I am ready.');
  exactly(t, (await trial(id, {})).body, { ok: true, calls_tools: false, error: null });
});

t.test('one that is not saved: it gets its own key, or that of the same address', async (t) => {
  const id = await platform.agent();
  exactly(t, await trial(id, { custom: { ...custom, api_key: 'typed' } }), {
    status: 200,
    body: { ok: true },
  });
  t.equal(own.requests.at(-1)?.authorization, 'Bearer typed');
  const { api_key: _, ...keyless } = custom;
  t.strictSame(places(await trial(id, { custom: keyless })), ['custom.api_key']);
  await call('PATCH', `/v1/agent/agents/${id}/config`, { body: { llm: { custom } } });
  exactly(t, await trial(id, { custom: { ...keyless, model: 'other' } }), {
    status: 200,
    body: { model: 'other' },
  });
  t.equal(own.requests.at(-1)?.authorization, 'Bearer sesame');
  const elsewhere = { ...keyless, base_url: own.url.replace('/v1', '/v2') };
  t.strictSame(places(await trial(id, { custom: elsewhere })), ['custom.api_key']);
  t.equal(own.requests.length, 2, 'the stored key goes nowhere else');
});

t.test('what is wrong is told in words, and the key in none of them', async (t) => {
  const id = await platform.agent({ config: { llm: { custom } } });
  const cases: [status: number, error: RegExp][] = [
    [401, /^The key was refused \(401\)$/],
    [404, /^The server knows no such address or model \(404\)$/],
    [429, /^The server takes no more: .* \(429\)$/],
    [500, /^The server failed \(500\)$/],
  ];
  for (const [status, error] of cases) {
    own.answer(() => status);
    exactly(t, (await trial(id)).body, { ok: false, first_token_ms: null, calls_tools: false, error });
  }
  own.answer(
    () => (response) =>
      void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end('{"error":{"message":"no tools with this model"}}'),
  );
  exactly(t, (await trial(id)).body, { error: 'The request was refused (400): no tools with this model' });
  own.answer(() => (response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
  exactly(t, (await trial(id)).body, { error: /^The server answered something that is no streamed answer/ });
  t.notMatch(JSON.stringify((await trial(id)).body), 'sesame');
  const nobody = { ...custom, base_url: 'http://127.0.0.1:9/v1' };
  exactly(t, (await trial(id, { custom: nobody })).body, { error: /^The server cannot be reached/ });
});

t.test('the gateway’s own, and requests that make no sense', async (t) => {
  const id = await platform.agent({ config: { llm: { custom } } });
  for (const body of [{ tier: 'high' }, { custom: null }])
    exactly(t, (await trial(id, body)).body, { ok: true, model: 'builtin-dialogue' });
  t.strictSame(own.requests, []);
  t.strictSame(places(await trial(id, { custom: { ...custom, base_url: 'https://10.0.0.5' } })), [
    'custom.base_url',
  ]);
  t.strictSame(places(await trial(id, { tier: 'other', more: 1 })).toSorted(), ['more', 'tier']);
  exactly(t, await trial('agent_000000000000000000000000'), { status: 404 });
  exactly(t, await call('POST', `/v1/agent/agents/${id}/llm/test`, { key: null }), { status: 401 });
  exactly(t, await call('POST', `/v1/agent/agents/${id}/llm/test`, { key: platform.otherKey }), {
    status: 404,
  });
});

/** Says these, and then nothing more. */
const saying = (...events: readonly ChatEvent[]): ChatModel => ({
  name: 'slow',
  async *chat(_, signal) {
    yield* events;
    signal.throwIfAborted();
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    });
  },
});

t.test('it takes ten seconds to the first word at most, and twenty in all', async (t) => {
  const cases: [model: ChatModel, ms: number, first: number | null][] = [
    [saying(), 10_000, null],
    [saying({ kind: 'text', text: ' ' }), 10_000, null],
    [saying({ kind: 'text', text: 'Well' }), 20_000, 0],
  ];
  for (const [model, ms, first_token_ms] of cases) {
    const clock = new SimulatedClock();
    const result = tryModel(model, clock, new AbortController().signal);
    let isOver = false;
    void result.then(() => (isOver = true));
    await nextTurn();
    clock.advance(ms - 1);
    await nextTurn();
    t.equal(isOver, false);
    clock.advance(1);
    exactly(t, await result, { ok: false, first_token_ms, error: 'The server did not answer in time' });
  }
});

t.test('whoever leaves ends it', async (t) => {
  const leaving = new AbortController();
  const result = tryModel(saying(), new SimulatedClock(), leaving.signal);
  leaving.abort(new Error('has left'));
  await rejectsExactly(t, result, { message: 'has left' });
});
