/** Language models: an OpenAI-compatible endpoint on a real HTTP server. */
import t from 'tap';
import type { ChatMessage } from '../../contracts/ports/chat.js';
import { until } from '../fixtures/until.js';
import { delta, modelAt, type Serve, sse } from '../fixtures/chat-server.js';
import { answer, HANG_UP, ORDER, system, textOf, user } from '../fixtures/chat-requests.js';

t.test('an OpenAI-compatible endpoint', async (t) => {
  t.test('streams text and puts parallel tool calls together', async (t) => {
    let seen: { headers: unknown; body: Record<string, unknown> } | undefined;
    const model = await modelAt(t, ({ headers, url }, response, body) => {
      seen = { headers: [headers.authorization, url], body: JSON.parse(body) as Record<string, unknown> };
      const stream = sse(
        delta({ role: 'assistant', content: '' }),
        delta({ content: 'Héllo ' }),
        delta({ content: 'you.' }),
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }] }),
        delta({ tool_calls: [{ index: 1, id: 'b', function: { name: 'two', arguments: '{}' } }] }),
        delta({ tool_calls: [{ index: 0, function: { arguments: ':1}' } }] }),
        '[DONE]',
      );
      const bytes = Buffer.from(stream);
      // Cut within characters and within events.
      for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7));
      response.end();
    });
    const events = await answer(model, {
      messages: [system('S'), user('U')],
      tools: [ORDER],
      passages: [{ source: 'faq', text: 'P' }],
    });
    t.equal(textOf(events), 'Héllo you.');
    t.same(events.at(-1), {
      kind: 'calls',
      calls: [
        { id: 'a', name: 'one', arguments: '{"x":1}' },
        { id: 'b', name: 'two', arguments: '{}' },
      ],
    });
    t.same(seen?.headers, ['Bearer secret', '/v1/chat/completions']);
    t.match(seen?.body, {
      model: 'm',
      stream: true,
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: /^\(Passages [^]*\n\n\[faq\]\nP\)\n\nU$/ },
      ],
      tools: [{ type: 'function', function: { name: 'lookup_order' } }],
    });
  });

  t.test('parallel tool calls of servers with other indexes are kept apart', async (t) => {
    const call = (id: string | undefined, name: string | undefined, args: string, index?: number) =>
      delta({ tool_calls: [{ index, id, function: { name, arguments: args } }] });
    const streams: Record<string, readonly object[]> = {
      'no index': [call('a', 'one', '{"x"'), call(undefined, undefined, ':1}'), call('b', 'two', '{}')],
      'an index at the beginning alone': [
        ...[call('a', 'one', '{"x"', 0), call(undefined, undefined, ':1}'), call('b', 'two', '{}', 1)],
      ],
      'no index and no id': [call(undefined, 'one', '{"x":1}'), call(undefined, 'two', '{}')],
      'all have the same index': [
        ...[call('a', 'one', '{"x"', 0), call(undefined, undefined, ':1}', 0), call('b', 'two', '{', 0)],
        call('', '', '}', 0),
      ],
      'another id with each piece': [
        ...[call('a', 'one', '{"x"', 0), call('c', undefined, ':1}', 0), call('b', 'two', '{}', 1)],
      ],
      'the name with each piece': [
        ...[call('a', 'one', '{"x"', 0), call('a', 'one', ':1}', 0), call('b', 'two', '{}', 1)],
      ],
      'arguments as an object': [
        delta({ tool_calls: [{ id: 'a', function: { name: 'one', arguments: { x: 1 } } }] }),
        delta({ tool_calls: [{ id: 'b', function: { name: 'two', arguments: {} } }] }),
      ],
      'the same id for all': [call('a', 'one', '{"x":1}', 0), call('a', 'two', '{}', 1)],
    };
    for (const [name, chunks] of Object.entries(streams)) {
      const model = await modelAt(t, (_request, response) => void response.end(sse(...chunks, '[DONE]')));
      const [called] = await answer(model, { messages: [user('U')], tools: [ORDER] });
      const calls = called?.kind === 'calls' ? called.calls : [];
      t.match(
        calls,
        [
          { name: 'one', arguments: '{"x":1}' },
          { name: 'two', arguments: '{}' },
        ],
        name,
      );
      t.equal(new Set(calls.map(({ id }) => id)).size, 2, name);
      t.equal(calls.length, 2, name);
    }
  });

  t.test('an answer is text, parts of text, or the reason of a refusal', async (t) => {
    const thought = { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] };
    const streams: Record<string, readonly object[]> = {
      'I see.': [
        delta({ content: [thought] }),
        delta({ content: [{ type: 'text', text: 'I ' }, null, 7] }),
        delta({ content: [{ type: 'text', text: 'see.' }] }),
      ],
      'I cannot say that.': [delta({ content: null, refusal: 'I cannot ' }), delta({ refusal: 'say that.' })],
    };
    for (const [said, chunks] of Object.entries(streams)) {
      const model = await modelAt(t, (_request, response) => void response.end(sse(...chunks, '[DONE]')));
      t.equal(textOf(await answer(model, { messages: [user('U')] })), said);
    }
  });

  t.test('events come with blanks, without data, and without a blank line after the last', async (t) => {
    const [hello, you] = [delta({ content: 'Hello ' }), delta({ content: 'you.' })].map((each) =>
      JSON.stringify(each),
    );
    const streams = [
      `data:${hello}\n\ndata:\n\ndata: \n\ndata:  ${you} \n\ndata: [DONE] \n\n`,
      `: ping\r\n\r\ndata: ${hello}\r\n\r\ndata: ${you}\r\n\r\n`,
      `data: ${hello}\n\ndata: ${you}\n`,
      `data: ${hello}\n\ndata: ${you}`,
    ];
    for (const stream of streams) {
      const model = await modelAt(t, (_request, response) => void response.end(stream));
      t.equal(textOf(await answer(model, { messages: [user('U')] })), 'Hello you.', stream);
    }
  });

  t.test('a character that is cut between two events is whole, and half of one is replaced', async (t) => {
    const cases: [parts: readonly string[], said: string][] = [
      [['Nice \ud83d', '\ude00!'], 'Nice 😀!'],
      [['\ud83d', '\ude00'], '😀'],
      [['Nice \ud83d'], 'Nice \ufffd'],
      [['Nice \ud83d', ' day \ude00'], 'Nice \ufffd day \ufffd'],
    ];
    for (const [parts, said] of cases) {
      const model = await modelAt(t, (_, response) => {
        response.end(sse(...parts.map((content) => delta({ content })), '[DONE]'));
      });
      const events = await answer(model, { messages: [user('U')] });
      t.equal(textOf(events), said);
      for (const event of events) t.notMatch(JSON.stringify(event), /\\ud/, 'nobody gets half a character');
    }
  });

  t.test('the request holds whole characters only: strict servers refuse any other', async (t) => {
    let seen = '';
    const model = await modelAt(t, (_, response, body) => {
      seen = body;
      response.end(sse(delta({ content: 'Yes.' }), '[DONE]'));
    });
    const cut = 'A smile: 😀'.slice(0, -1);
    const calls = [{ id: 'a', name: 'one', arguments: cut }];
    await answer(model, {
      messages: [user(cut), { role: 'assistant', content: '', toolCalls: calls }],
      passages: [{ source: 'faq', text: cut }],
    });
    t.equal(seen.match(/A smile: \ufffd/g)?.length, 3);
    t.notMatch(seen, /\\ud/);
  });

  t.test('templates that want one system message, first, and then the user get that', async (t) => {
    let sent: readonly { role: string; content: string }[] = [];
    const model = await modelAt(t, (_, response, body) => {
      sent = (JSON.parse(body) as { messages: typeof sent }).messages;
      response.end(sse(delta({ content: 'Yes.' }), '[DONE]'));
    });
    const called: ChatMessage = {
      role: 'assistant',
      content: '',
      toolCalls: [{ id: 'a', name: 'one', arguments: '{}' }],
    };
    const greeting: ChatMessage = { role: 'assistant', content: 'Hello.' };
    const result: ChatMessage = { role: 'tool', callId: 'a', content: 'R' };
    const cases: [messages: readonly ChatMessage[], system: string, roles: string, last: string][] = [
      [
        [system('S'), system('T')],
        'S\n\nT',
        'system user',
        '(The call is connected. Nobody has spoken yet.)',
      ],
      [[system('S'), greeting, system('Silent.')], 'S', 'system user assistant user', '(Silent.)'],
      [[system('S'), user('U'), system('N'), user('V')], 'S', 'system user', 'U\n\n(N)\n\nV'],
      [
        [system('S'), greeting, user('U'), called, result, system('N')],
        'S',
        'system user assistant user assistant tool user',
        '(N)',
      ],
      [[system(''), user('U')], 'U', 'user', 'U'],
    ];
    for (const [messages, first, roles, last] of cases) {
      await answer(model, { messages, tools: [ORDER] });
      t.equal(sent.map(({ role }) => role).join(' '), roles);
      t.equal(sent[0]?.content, first);
      t.equal(sent.at(-1)?.content, last);
    }
  });

  t.test('a tool without arguments has the empty properties without which OpenAI refuses all', async (t) => {
    let sent: unknown;
    const model = await modelAt(t, (_, response, body) => {
      sent = (JSON.parse(body) as { tools: unknown }).tools;
      response.end(sse(delta({ content: 'Yes.' }), '[DONE]'));
    });
    const bare = [HANG_UP, { ...HANG_UP, name: 'list_regions', parameters: {} }];
    await answer(model, { messages: [user('U')], tools: [...bare, ORDER] });
    const parameters = { type: 'object', properties: {} };
    t.strictSame(sent, [
      ...bare.map((tool) => ({ type: 'function', function: { ...tool, parameters } })),
      { type: 'function', function: ORDER },
    ]);
  });

  t.test('thoughts of a model are not spoken, wherever they stand', async (t) => {
    const streams: Record<string, readonly string[]> = {
      'Yes.': ['\n<thi', 'nk>Let me </thi', 'see.</thin', 'k>\n\n', 'Yes.'],
      'No.': ['<think></think>No.'],
      'Well.': ['[THI', 'NK]Hm.[/THINK]Well.'],
      'Fine.': ['<thought>Hm.</tho', 'ught>\nFine.'],
      'Good.': ['<thin', 'king>Hm.</thinking>Good.'],
      '<think': ['<thi', 'nk'],
      'So: it is.': ['So: <think>x', '</think>it is.'],
    };
    for (const [said, texts] of Object.entries(streams)) {
      const chunks = texts.map((content) => delta({ content }));
      const model = await modelAt(t, (_request, response) => void response.end(sse(...chunks, '[DONE]')));
      t.equal(textOf(await answer(model, { messages: [user('U')] })).trim(), said);
    }
    const silent = sse(delta({ content: '<think>For ever' }), '[DONE]');
    const model = await modelAt(t, (_request, response) => void response.end(silent));
    await t.rejects(answer(model, { messages: [user('U')] }), { code: 'provider_failed' });
  });

  t.test('token counts are requested if that is set, and used if the server reports them', async (t) => {
    const bodies: unknown[] = [];
    const usage = { prompt_tokens: 12, completion_tokens: 3 };
    const serve: Serve = (_request, response, body) => {
      bodies.push(JSON.parse(body));
      response.end(sse(delta({ content: 'Hi.' }), JSON.stringify({ choices: [], usage }), '[DONE]'));
    };
    const asking = await modelAt(t, serve, 60_000, true);
    t.same(await answer(asking, { messages: [user('U')] }), [
      { kind: 'text', text: 'Hi.' },
      { kind: 'usage', tokens: { inputTokens: 12, outputTokens: 3 } },
    ]);
    await answer(await modelAt(t, serve), { messages: [user('U')] });
    t.match(bodies, [{ stream: true, stream_options: { include_usage: true } }, { stream: true }]);
    t.notOk('stream_options' in (bodies[1] as object));
  });

  t.test('a refusal keeps its status and is not tried again (decision 11)', async (t) => {
    let requests = 0;
    const model = await modelAt(t, (_request, response) => {
      requests += 1;
      response.writeHead(429, { 'retry-after': '7' }).end('{"error":{"message":"slow down"}}');
    });
    await t.rejects(answer(model, { messages: [user('U')] }), {
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
      (_request, response) =>
        response.end(`${sse(delta({ content: 'a' }))}event: error\ndata: {"code":1}\n\n`),
      (_request, response) => response.end(sse(delta({ content: 'a' }), { object: 'error', code: 400 })),
    ];
    for (const serve of faults) {
      const model = await modelAt(t, serve);
      await t.rejects(answer(model, { messages: [user('U')] }), { code: 'provider_failed' });
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
      await t.rejects(answer(model, { messages: [user('U')] }), failure, String(index));
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
    await t.rejects(answer(broken, request), { code: 'provider_failed' });
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
      await t.rejects(answer(model, { messages: [user('U')] }), failure, name);
    }
    const grown = (process.memoryUsage().rss - before) / 2 ** 20;
    t.ok(grown < 300, `${Math.round(grown)} MiB`);
  });

  t.test('an endpoint that says nothing is given up in time', async (t) => {
    const model = await modelAt(t, () => undefined, 50);
    await t.rejects(answer(model, { messages: [user('U')] }), { code: 'first_byte_timeout' });
  });

  t.test('an abort ends the request at once', async (t) => {
    let closed = false;
    const model = await modelAt(t, (_request, response) => {
      response.on('close', () => (closed = true));
      response.write(sse(delta({ content: 'a' })));
    });
    const abort = new AbortController();
    await t.rejects(
      async () => {
        for await (const event of model.chat(
          { messages: [user('U')], tools: [], passages: [] },
          abort.signal,
        ))
          if (event.kind === 'text') abort.abort();
      },
      { name: 'AbortError' },
    );
    await until('the request is closed', () => closed);
    t.ok(closed);
  });
});
