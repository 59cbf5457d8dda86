/**
 * Language models that refuse, break off, say nothing or never end: an OpenAI-compatible endpoint on a real
 * HTTP server.
 */
import t from '../../fixtures/tap.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';
import { delta, modelAt, type Serve, sse } from '../../fixtures/chat/server.js';
import { answer, user } from '../../fixtures/chat/requests.js';

t.test('a refusal keeps its status and is not tried again (decision 11)', async (t) => {
  let requests = 0;
  const model = await modelAt(t, (_request, response) => {
    requests += 1;
    response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"slow down"}}');
  });
  await rejectsExactly(t, answer(model, { messages: [user('U')] }), {
    code: 'provider_failed',
    status: 429,
    retryAfter: 7,
  });
  t.equal(requests, 1);
});

t.test('a stream that breaks off, an error in it, and what is not JSON are failures', async (t) => {
  const faults: Serve[] = [
    (_request, response) => {
      response.writeHead(200, { 'content-length': '1000' });
      response.write(sse(delta({ content: 'a' })), () => response.destroy());
    },
    (_request, response) => response.end(sse(delta({ content: 'a' }), { error: { message: 'x' } })),
    (_request, response) => response.end(sse('{')),
    // Cut in the middle of an event, by a proxy that ends the stream well.
    (_request, response) => response.end(`${sse(delta({ content: 'a' }))}data: {"choices":[{"del`),
    (_request, response) => response.end(`${sse(delta({ content: 'a' }))}event: error\ndata: {"code":1}\n\n`),
    (_request, response) => response.end(sse(delta({ content: 'a' }), { object: 'error', code: 400 })),
  ];
  for (const serve of faults) {
    const model = await modelAt(t, serve);
    await rejectsExactly(t, answer(model, { messages: [user('U')] }), { code: 'provider_failed' });
  }
});

t.test('an answer that is empty or no stream is a failure, not silence', async (t) => {
  const page: Serve = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
  const whole: Serve = (_request, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"choices":[]}');
  const nothing: Serve = (_request, response) => void response.end();
  const odd = ['null', '7', '[]', '{"choices":null}', '{"choices":"x"}', '{"choices":[null]}'];
  const blank = [delta({ content: ' ' }), delta({ content: null, tool_calls: null }), '[DONE]'];
  const chunks = [odd, blank, [delta({ tool_calls: [null, { index: 0.5, function: null }] })], ['[DONE]']];
  const streams = chunks.map(
    (each): Serve =>
      (_request, response) =>
        void response.end(sse(...each)),
  );
  for (const [index, serve] of [page, whole, nothing, ...streams].entries()) {
    const model = await modelAt(t, serve);
    const failure = {
      code: 'provider_failed',
      status: 502,
      message: /^The language model (did not )?answer/,
    };
    await rejectsExactly(t, answer(model, { messages: [user('U')] }), failure, String(index));
  }
});

t.test('an answer that may be empty still has to be one', async (t) => {
  const request = { messages: [user('U')], mayBeEmpty: true };
  const empty = await modelAt(
    t,
    (_request, response) => void response.end(sse(delta({ content: '' }), '[DONE]')),
  );
  t.same(await answer(empty, request), []);
  const broken = await modelAt(t, (_request, response) => void response.end());
  await rejectsExactly(t, answer(broken, request), { code: 'provider_failed' });
});

t.test('the answer of a model is bounded, and memory with it', async (t) => {
  const endless =
    (head: string, part: string): Serve =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(head);
      const more = (): void => {
        while (!response.destroyed && response.write(part)) continue;
        response.once('drain', more);
      };
      more();
    };
  const call = (made: object) => sse(delta({ tool_calls: [{ index: 0, ...made }] }));
  const kilobyte = 'x'.repeat(1024);
  const faults: Record<string, Serve> = {
    'one line': endless('data: ', kilobyte.repeat(64)),
    'lines of one event': endless('', `data: ${kilobyte}\n`),
    comments: endless('', `: ${kilobyte}\n`),
    'empty events': endless('', sse({ filler: kilobyte.repeat(64) })),
    text: endless('', sse(delta({ content: kilobyte }))),
    "a tool's name": endless('', call({ function: { name: 'abcdefghi' } })),
    "a tool's id": endless(call({ id: kilobyte }), sse(delta({}))),
    arguments: endless(call({ function: { name: 'a' } }), call({ function: { arguments: kilobyte } })),
    tools: endless('', sse(delta({ tool_calls: [{ function: { name: 'a', arguments: '' } }] }))),
  };
  const before = process.memoryUsage().rss;
  for (const [name, serve] of Object.entries(faults)) {
    const model = await modelAt(t, serve);
    const failure = { code: 'provider_failed', message: /too (much|many|long)/ };
    await rejectsExactly(t, answer(model, { messages: [user('U')] }), failure, name);
  }
  const grown = (process.memoryUsage().rss - before) / 2 ** 20;
  t.ok(grown < 300, `${Math.round(grown)} MiB`);
});

t.test('an endpoint that says nothing is given up in time', async (t) => {
  const model = await modelAt(t, () => undefined, 50);
  await rejectsExactly(t, answer(model, { messages: [user('U')] }), { code: 'first_byte_timeout' });
});

t.test('an abort ends the request at once', async (t) => {
  let closed = false;
  const model = await modelAt(t, (_request, response) => {
    response.on('close', () => (closed = true));
    response.write(sse(delta({ content: 'a' })));
  });
  const abort = new AbortController();
  await rejectsExactly(
    t,
    async () => {
      for await (const event of model.chat({ messages: [user('U')], tools: [], passages: [] }, abort.signal))
        if (event.kind === 'text') abort.abort();
    },
    { name: 'AbortError' },
  );
  await until('the request is closed', () => closed);
  t.ok(closed);
});
