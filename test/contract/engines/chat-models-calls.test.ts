/** Tool calls of language models that want more back with a call than its name and arguments. */
import t from '../../fixtures/tap.js';
import { delta, modelAt, sse } from '../../fixtures/chat/server.js';
import { answer, ORDER, textOf, user } from '../../fixtures/chat/requests.js';
import { exactly } from '../../fixtures/exactly.js';

t.test(
  'what a server adds to a call goes back with it: Gemini refuses calls without their signature',
  async (t) => {
    const extra = { google: { thought_signature: 'c2lnbmVk' } };
    const made = { id: 'a', type: 'function', function: { name: 'lookup_order', arguments: '{}' } };
    const bodies: { messages: { tool_calls?: object[] }[] }[] = [];
    const model = await modelAt(t, (_request, response, body) => {
      bodies.push(JSON.parse(body) as (typeof bodies)[number]);
      const call = { index: 0, ...made, extra_content: extra };
      response.end(sse(delta({ tool_calls: [call] }), '[DONE]'));
    });
    const [event] = await answer(model, { messages: [user('U')], tools: [ORDER] });
    const toolCalls = event?.kind === 'calls' ? event.calls : [];
    t.same(toolCalls, [{ id: 'a', name: 'lookup_order', arguments: '{}', extra }]);
    const told = { role: 'tool', callId: 'a', content: '42' } as const;
    const messages = [user('U'), { role: 'assistant', content: '', toolCalls }, told] as const;
    await answer(model, { messages, tools: [ORDER] });
    t.same(bodies[1]?.messages[1]?.tool_calls, [{ ...made, extra_content: extra }]);
  },
);

t.test('thoughts go back with the calls that followed them, cut where they are long', async (t) => {
  const call = (id: string) => ({
    id,
    type: 'function',
    function: { name: 'lookup_order', arguments: '{}' },
  });
  const bodies: { messages: { reasoning_content?: string }[] }[] = [];
  let thoughts = ['I look ', 'first.'];
  const model = await modelAt(t, (_request, response, body) => {
    bodies.push(JSON.parse(body) as (typeof bodies)[number]);
    const thinks = thoughts.map((reasoning_content) => delta({ reasoning_content, content: null }));
    const calls = ['a', 'b'].map((id, index) => ({ index, ...call(id) }));
    response.end(sse(...thinks, delta({ tool_calls: calls }), '[DONE]'));
  });
  const sentBack = async () => {
    const events = await answer(model, { messages: [user('U')], tools: [ORDER] });
    t.equal(textOf(events), '', 'nobody hears them');
    const toolCalls = events.flatMap((event) => (event.kind === 'calls' ? event.calls : []));
    await answer(model, {
      messages: [user('U'), { role: 'assistant', content: '', toolCalls }],
      tools: [ORDER],
    });
    return bodies.at(-1)?.messages[1]?.reasoning_content;
  };
  t.equal(await sentBack(), 'I look first.');
  thoughts = ['x'.repeat(15_000), 'y'.repeat(15_000)];
  t.equal(await sentBack(), 'x'.repeat(15_000) + 'y'.repeat(5000));
  thoughts = [];
  t.equal(await sentBack(), undefined);
});

t.test('OpenRouter’s details of thoughts go back whole, although they come in pieces', async (t) => {
  const pieces = [
    { type: 'reasoning.text', text: 'I look ', index: 0, format: 'google-gemini-v1' },
    { type: 'reasoning.text', text: 'first.', index: 0, signature: null },
    { type: 'reasoning.encrypted', data: 'c2ln', id: 'a', index: 0 },
    { type: 'reasoning.encrypted', data: 'bmVk', id: 'a', index: 0 },
    { type: 'reasoning.encrypted', data: 'b3RoZXI=', id: 'b', index: 0 },
  ];
  const bodies: { messages: { reasoning_details?: object[] }[] }[] = [];
  let more: object[] = [];
  const model = await modelAt(t, (_request, response, body) => {
    bodies.push(JSON.parse(body) as (typeof bodies)[number]);
    const thinks = [...pieces, ...more].map((piece) => delta({ reasoning_details: [piece, null] }));
    const call = { index: 0, id: 'a', function: { name: 'lookup_order', arguments: '{}' } };
    response.end(sse(...thinks, delta({ tool_calls: [call] }), '[DONE]'));
  });
  const sentBack = async () => {
    const events = await answer(model, { messages: [user('U')], tools: [ORDER] });
    const toolCalls = events.flatMap((event) => (event.kind === 'calls' ? event.calls : []));
    await answer(model, {
      messages: [user('U'), { role: 'assistant', content: '', toolCalls }],
      tools: [ORDER],
    });
    return bodies.at(-1)?.messages[1]?.reasoning_details;
  };
  t.same(await sentBack(), [
    { type: 'reasoning.text', text: 'I look first.', index: 0, format: 'google-gemini-v1' },
    { type: 'reasoning.encrypted', data: 'c2lnbmVk', id: 'a', index: 0 },
    { type: 'reasoning.encrypted', data: 'b3RoZXI=', id: 'b', index: 0 },
  ]);
  more = [{ type: 'reasoning.text', text: 'x'.repeat(200_000), index: 1 }];
  t.equal(await sentBack(), undefined, 'too long to be kept');
});

t.test('where no tools are offered, calls are told in words: some servers refuse them then', async (t) => {
  let asked: { messages: object[] } | undefined;
  const model = await modelAt(t, (_request, response, body) => {
    asked = JSON.parse(body) as typeof asked;
    response.end(sse(delta({ content: 'Yes.' }), '[DONE]'));
  });
  const call = (id: string) => ({ id, name: 'lookup_order', arguments: `{"order_number":"${id}"}` });
  const step = (content: string, ...ids: string[]) => [
    { role: 'assistant' as const, content, toolCalls: ids.map(call) },
    ...ids.map((callId) => ({ role: 'tool' as const, callId, content: `sent ${callId}` })),
  ];
  await answer(model, { messages: [user('U'), ...step('I look.', 'a', 'b'), ...step('', 'a')] });
  const told = (id: string) =>
    `(Tool lookup_order was called with {"order_number":"${id}"}. Its answer: sent ${id})`;
  t.same(asked?.messages, [
    { role: 'user', content: 'U' },
    { role: 'assistant', content: 'I look.' },
    { role: 'user', content: [told('a'), told('b'), told('a')].join('\n\n') },
  ]);
});

t.test(
  'arguments that are no object go back as an empty one, for servers that read those of earlier calls',
  async (t) => {
    let asked: { messages: { tool_calls?: { function: { arguments: string } }[] }[] } | undefined;
    const model = await modelAt(t, (_request, response, body) => {
      asked = JSON.parse(body) as typeof asked;
      response.end(sse(delta({ content: 'Yes.' }), '[DONE]'));
    });
    const written = ['', '{"order_number": "A-', 'A-17', '[1]', '{"order_number":"A-17"}'];
    const toolCalls = written.map((args, index) => ({
      id: `${index}`,
      name: 'lookup_order',
      arguments: args,
    }));
    const told = toolCalls.map(({ id }) => ({ role: 'tool' as const, callId: id, content: 'R' }));
    const messages = [user('U'), { role: 'assistant' as const, content: '', toolCalls }, ...told];
    await answer(model, { messages, tools: [ORDER] });
    const sent = asked?.messages[1]?.tool_calls?.map((call) => call.function.arguments);
    t.same(sent, ['{}', '{}', '{}', '{}', '{"order_number":"A-17"}']);
  },
);

t.test('an answer that was cut says why, however its server ends it', async (t) => {
  const finish = (reason: string | null) => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
  const rows: readonly (readonly [readonly unknown[], string | undefined])[] = [
    [[finish('stop')], undefined],
    [['[DONE]'], undefined],
    [[finish('length'), '[DONE]'], 'length'],
    [[finish('content_filter')], 'content_filter'],
    [[], 'unfinished'],
    [[finish(null)], 'unfinished'],
  ];
  for (const [ends, why] of rows) {
    const model = await modelAt(t, (_request, response) => {
      response.end(sse(delta({ content: 'As far as' }), ...ends));
    });
    const events = await answer(model, { messages: [user('U')] });
    t.equal(textOf(events), 'As far as');
    t.strictSame(
      events.flatMap((event) => (event.kind === 'cut' ? [event.why] : [])),
      why === undefined ? [] : [why],
    );
  }
});

t.test('a name that the server tells with tokens of its template is the offered one', async (t) => {
  for (const name of ['functions.lookup_order', 'lookup_order<|channel|>commentary']) {
    const model = await modelAt(t, (_request, response) => {
      response.end(
        sse(delta({ tool_calls: [{ index: 0, id: 'a', function: { name, arguments: '{}' } }] }), '[DONE]'),
      );
    });
    const [called] = await answer(model, { messages: [user('U')], tools: [ORDER] });
    exactly(t, called, { kind: 'calls', calls: [{ name: 'lookup_order' }] });
  }
});

t.test('a call that the model wrote as text is told like any other, once', async (t) => {
  const written = '<tool_call>{"name": "lookup_order", "arguments": {"order_number": "7"}}</tool_call>';
  const told = delta({
    tool_calls: [{ index: 0, id: 'a', function: { name: 'lookup_order', arguments: '{}' } }],
  });
  for (const [chunks, args] of [
    [[delta({ content: written })], '{"order_number":"7"}'],
    [[delta({ content: written }), told], '{}'],
  ] as const) {
    const model = await modelAt(t, (_request, response) => void response.end(sse(...chunks, '[DONE]')));
    const events = await answer(model, { messages: [user('U')], tools: [ORDER] });
    exactly(t, events, [{ kind: 'calls', calls: [{ name: 'lookup_order', arguments: args }] }]);
  }
});
