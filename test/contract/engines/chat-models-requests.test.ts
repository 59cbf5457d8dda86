/** Requests to language models: an OpenAI-compatible endpoint on a real HTTP server. */
import t from '../../fixtures/tap.js';
import type { ChatMessage } from '../../../contracts/ports/chat.js';
import { exactly } from '../../fixtures/exactly.js';
import { delta, modelAt, type Serve, sse } from '../../fixtures/chat/server.js';
import { answer, HANG_UP, ORDER, system, user } from '../../fixtures/chat/requests.js';

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
    [[system('S'), system('T')], 'S\n\nT', 'system user', '(The call is connected. Nobody has spoken yet.)'],
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
  exactly(t, bodies, [{ stream: true, stream_options: { include_usage: true } }, { stream: true }]);
  t.notOk('stream_options' in (bodies[1] as object));
});
