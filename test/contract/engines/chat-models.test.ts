/** Answers of language models: an OpenAI-compatible endpoint on a real HTTP server. */
import t from '../../fixtures/tap.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { delta, modelAt, sse } from '../../fixtures/chat/server.js';
import { answer, ORDER, system, textOf, user } from '../../fixtures/chat/requests.js';

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
  exactly(t, seen?.body, {
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
    exactly(
      t,
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

t.test('halves of surrogate pairs in a call are repaired, and its id stays its own', async (t) => {
  const calls = ['\ud83d', '\udc00'].map((half, index) => ({
    ...{ index, id: half },
    function: { name: `one${half}`, arguments: `{"x":"${half}"}` },
  }));
  const stream = sse(delta({ tool_calls: calls }), '[DONE]');
  const model = await modelAt(t, (_request, response) => void response.end(stream));
  const [called] = await answer(model, { messages: [user('U')], tools: [ORDER] });
  exactly(t, called, {
    calls: [
      { id: '\ufffd', name: 'one\ufffd', arguments: '{"x":"\ufffd"}' },
      { id: 'call_1', name: 'one\ufffd', arguments: '{"x":"\ufffd"}' },
    ],
  });
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
  await rejectsExactly(t, answer(model, { messages: [user('U')] }), { code: 'provider_failed' });
});
