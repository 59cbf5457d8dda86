/**
 * Chats at a real gateway, with a model that answers as the test says: created by the checks of sessions, answered whole or as a stream
 * on both HTTP stacks, by any process, one message at a time; and what is left behind (docs/contract/platform.md 6.19).
 */
import type { ServerResponse } from 'node:http';
import { LIMITS } from '../../../contracts/limits.js';
import { Talks } from '../../fixtures/conversation/conversation.js';
import { startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { type Body, client, makeAgent } from '../../fixtures/platform/agents.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { exactly } from '../../fixtures/exactly.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import t from '../../fixtures/tap.js';
import { until } from '../../fixtures/until.js';

const postgres = await startPostgres(t);
const settings = { DATABASE_URL: postgres.url, SECRETS_KEY: TEST_SECRET, OUTBOUND_ALLOW: '127.0.0.1' };
const talks = await Talks.start(t, { ...settings, LOG_LEVEL: 'info' });
const { model, call, gateway } = talks;
const other = await startGateway({
  ...settings,
  LLM_BASE_URL: model.url,
  HTTP_STACK: 'node',
  LOG_LEVEL: 'warn',
});
t.teardown(() => other.stop());
const there = client(other.base);
t.beforeEach(() => model.reset());

const HELLO = { prompt: { first_message_mode: 'fixed', first_message: 'Hello {{name}}!' } };
const agent = (config: Body = {}) => talks.agent({ ...HELLO, ...config });

async function begin(agentId: string, more: Body = {}) {
  const { status, body } = await call('chats', { body: { agent_id: agentId, ...more } });
  if (status !== 201) throw new Error(`chat: ${status} ${JSON.stringify(body)}`);
  return { id: String(body['chat_id']), token: String(body['token']), body };
}

const write = (id: string, text: string, at = call) => at(`chats/${id}/messages`, { body: { text } });

/** The events of a streamed answer, in order. */
async function streamed(base: string, id: string, text: string, authorization: string) {
  const response = await fetch(`${base}/v1/agent/chats/${id}/messages`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ text }),
  });
  const events = (await response.text()).split('\n\n').filter((each) => each !== '');
  if (response.status !== 200) throw new Error(`${response.status} ${events.join('')}`);
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    events: events.map((each) => {
      const [, event = '', data = ''] = /^event: (.*)\ndata: (.*)$/.exec(each) ?? [];
      return { event, data: JSON.parse(data) as Body };
    }),
  };
}

t.test(
  'an agent opens a chat, answers, and is told of all before; the record is that of a session',
  async (t) => {
    model.answer((messages) => `You said: ${said(messages)}`);
    const { id, body } = await begin(await agent(), {
      dynamic_variables: { name: 'Ada' },
      metadata: { a: 1 },
    });
    exactly(t, body, { ended: false, cut: null, text: 'Hello Ada!', tool_calls: [] });
    const first = await write(id, 'Hi');
    t.equal(first.status, 200, JSON.stringify(first.body));
    exactly(t, first.body, { chat_id: id, ended: false, cut: null, text: 'You said: Hi' });
    const second = await write(id, 'And now?', there);
    exactly(t, second.body, { text: 'You said: And now?', ended: false });
    const [instructions] = model.asked.at(-1) ?? [];
    t.match(model.asked.at(-1)?.map(({ content }) => content), ['Hello Ada!', 'Hi', 'You said: Hi', /And now\?$/].reduce((all, each, index) => ({ ...all, [index + (model.asked.at(-1)?.length ?? 0) - 4]: each }), {})); // oxfmt-ignore
    t.ok(instructions);
    t.ok(
      model.asked.at(-1)?.some(({ content }) => content?.startsWith('You write with the user in a chat.')),
    );
    const read = await call(`chats/${id}`);
    exactly(t, read.body, { status: 'active', ended_reason: null });
    t.strictSame(
      (read.body['items'] as Body[]).map(({ role, content }) => `${String(role)}: ${String(content)}`),
      [
        'assistant: Hello Ada!',
        'user: Hi',
        'assistant: You said: Hi',
        'user: And now?',
        'assistant: You said: And now?',
      ],
    );
    t.equal((await call(`chats/${id}`, { method: 'DELETE' })).status, 204);
    const record = await talks.ended({ session_id: id });
    exactly(t, record, {
      source: 'chat',
      status: 'completed',
      ended_reason: 'ended_by_api',
      metadata: { a: 1 },
    });
    t.equal((record.usage as Body)['characters'], 0, 'nothing was spoken');
    t.equal((await write(id, 'Still there?')).status, 409);
  },
);

t.test('an answer is streamed, on both HTTP stacks', async (t) => {
  model.answer(() => 'One two three.');
  const { id, token } = await begin(await agent());
  const answers = [
    await streamed(gateway.base, id, 'Count', gateway.authorization.authorization),
    await streamed(other.base, id, 'Again', `Bearer ${token}`),
  ];
  for (const { status, type, events } of answers) {
    t.equal(status, 200);
    t.match(type, /^text\/event-stream/);
    const deltas = events.filter(({ event }) => event === 'delta').map(({ data }) => String(data['text']));
    t.equal(deltas.join(''), 'One two three.');
    t.ok(deltas.length > 1, 'as it is written');
    t.strictSame([...new Set(events.map(({ event }) => event))], ['delta', 'message', 'end']);
    exactly(t, events.at(-2)?.data, { content: 'One two three.' });
    t.strictSame(events.at(-1)?.data, { chat_id: id, ended: false, cut: null });
  }
});
t.test('one message at a time, by all processes; a client that leaves stops the model', async (t) => {
  const open: ServerResponse[] = [];
  let ended = 0;
  model.answer(() => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Well, ' } }] })}\n\n`);
    response.on('close', () => (ended += 1));
    open.push(response);
  });
  const { id } = await begin(await agent());
  for (const [base, stack] of [
    [gateway.base, 'uws'],
    [other.base, 'node'],
  ] as const) {
    const before = ended;
    const leaving = new AbortController();
    // The model is left before the chat is free again.
    const response = await until(`the chat is free for ${stack}`, async () => {
      const asked = await fetch(`${base}/v1/agent/chats/${id}/messages`, {
        method: 'POST',
        headers: { ...gateway.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ text: 'Tell me', stream: true }),
        signal: leaving.signal,
      });
      return asked.status !== 409 && asked;
    });
    const reader = response.body?.getReader();
    t.match(
      Buffer.from((await reader?.read())?.value ?? []).toString(),
      /^event: delta\ndata: {"text":"Well, "}/,
    );
    t.strictSame([(await write(id, 'Me too')).status, (await write(id, 'Me too', there)).status], [409, 409]);
    leaving.abort();
    await reader?.closed.catch(() => undefined);
    await until(`the model is left by ${stack}`, () => ended === before + 1);
  }
  model.answer(() => 'Here I am.');
  const again = () => write(id, 'Are you there?').then(({ body, status }) => status === 200 && body);
  exactly(t, await until('the chat is free', again), { text: 'Here I am.' });
  const { body } = await call(`chats/${id}`);
  const items = (body['items'] as Body[]).map(({ content }) => content);
  t.strictSame(items.slice(0, 3), ['Hello {{name}}!', 'Tell me', 'Well,'], 'what was written stays');
});

t.test('webhook tools are waited for, client tools not offered; their results reach the model', async (t) => {
  const receiver = await startReceiver(t, (_, response) => response.end('{"bread":"rye"}'));
  const tool = async (body: Body) =>
    String((await call('tools', { body: { description: 'Looks it up.', ...body } })).body['tool_id']);
  const ids = [
    await tool({
      name: 'look',
      tool_type: 'webhook',
      method: 'POST',
      url: receiver.url,
      execution_mode: 'fire_and_forget',
    }),
    await tool({ name: 'show', tool_type: 'client' }),
  ];
  model.answer((messages) => {
    const result = toolSaid(messages);
    return result === undefined ? { text: 'A moment. ', calls: { look: {} } } : `It is ${result}`;
  });
  const { id } = await begin(await agent({ tools: { tool_ids: ids } }));
  const { body } = await write(id, 'Which bread?');
  exactly(t, body, { ended: false, cut: null });
  exactly(t, (body['tool_calls'] as Body[])[0], { tool_name: 'look', tool_source: 'webhook', input: '{}' });
  exactly(t, (body['tool_results'] as Body[])[0], { tool_name: 'look', error: null });
  t.match(body['text'], /^A moment\.\n\nIt is .*rye/);
  // Of the model's requests the last ones may be for an analysis of an earlier chat.
  const tools = model.requests.findLast(({ body: { tools } }) => tools)?.body['tools'] as {
    function: { name: string };
  }[];
  t.strictSame(
    tools.map(({ function: { name } }) => name).filter((name) => name === 'show'),
    [],
  );
});

t.test(
  'an agent that hangs up ends the chat; its webhook, its figures and its analysis follow',
  async (t) => {
    const receiver = await startReceiver(t);
    model.answer((messages) =>
      said(messages) === 'Bye' ? { text: 'Goodbye!', calls: { hang_up_call: {} } } : 'Hm.',
    );
    const agentId = await agent({
      tools: { system_tools: { hang_up_call: true } },
      webhooks: { post_call: { url: receiver.url } },
      analysis: { summary: { enabled: false } },
    });
    const { id } = await begin(agentId);
    exactly(t, (await write(id, 'Bye')).body, { ended: true, cut: null, text: 'Goodbye!' });
    exactly(t, await talks.ended({ session_id: id }), {
      source: 'chat',
      status: 'completed',
      ended_reason: 'hangup',
    });
    const ended = await until('its webhook is told', () =>
      receiver.seen.map(({ body }) => JSON.parse(body) as Body).find(({ event }) => event === 'call.ended'),
    );
    exactly(t, ended, { session: { id, source: 'chat' }, ended_reason: 'hangup' });
    const { body } = await call(`stats?kind=chat&agent_id=${agentId}`);
    exactly(t, body['total'], { calls: 1 });
  },
);

t.test('a public chat: its own token alone writes on, reads it, and ends it', async (t) => {
  const origin = 'https://www.example.com';
  model.answer(() => 'Yes.');
  const agentId = await makeAgent(call, {
    config: HELLO,
    change: { public_enabled: true, allowed_origins: [origin] },
  });
  const visit = (from: string, more: Body = {}) =>
    call('chats', { body: { agent_id: agentId, ...more }, key: null, headers: { origin: from } });
  t.equal((await visit('https://elsewhere.example.com')).status, 403);
  t.equal((await visit(origin, { name: 'Mine' })).status, 400, 'not without a key');
  const [mine, theirs] = [(await visit(origin)).body, (await visit(origin)).body];
  const path = `chats/${String(mine['chat_id'])}`;
  const key = String(mine['token']);
  for (const wrong of [null, String(theirs['token']), `${key.slice(0, -2)}xx`])
    t.equal((await call(`${path}/messages`, { body: { text: 'Hi' }, key: wrong })).status, 401);
  t.equal((await call(`${path}/messages`, { body: { text: 'Hi' }, key })).status, 200);
  exactly(t, (await call(path, { key })).body, { status: 'active' });
  t.equal((await call(path, { method: 'DELETE', key })).status, 204);
  exactly(t, (await call(path)).body, { status: 'completed', ended_reason: 'hangup' });
});

t.test('what is no chat, no message, or too much is refused', async (t) => {
  const agentId = await agent();
  const voice = await talks.session(agentId);
  t.equal((await write(voice.session_id, 'Hi')).status, 404, 'a session by voice');
  t.equal((await write('sess_0123456789abcdef01234567', 'Hi')).status, 404);
  const { id } = await begin(agentId);
  for (const text of ['', '  ', 'x'.repeat(LIMITS.agentChat.message + 1)])
    t.equal((await write(id, text)).status, 422);
  for (const field of ['record_audio', 'overrides'])
    t.equal(
      (
        await call('chats', {
          body: { agent_id: agentId, [field]: field === 'overrides' ? { voice_id: 'a' } : true },
        })
      ).status,
      422,
      field,
    );
});

t.test('an agent that was handed a chat keeps it; an answer that fails is said to have', async (t) => {
  const shop = await talks.agent({
    prompt: { first_message_mode: 'off', system_prompt: 'You are the shop.' },
  });
  const { id } = await begin(
    await agent({ tools: { transfer_agents: [{ agent_id: shop, description: 'Sells' }] } }),
  );
  model.answer((messages) => {
    if (messages[0]?.content?.startsWith('You are the shop.')) return 'The shop here.';
    return { calls: { transfer_to_agent: { agent_id: shop, note: 'Wants bread.' } } };
  });
  const handed = await write(id, 'I want bread');
  exactly(t, handed.body, { ended: false, cut: null, text: 'The shop here.' });
  exactly(t, (await write(id, 'Rye', there)).body, { text: 'The shop here.' });
  model.answer(() => 500);
  const { body, status } = await write(id, 'And rolls?');
  t.equal(status, 200);
  exactly(t, (body['messages'] as Body[]).at(-1), { error: 'provider_failed' });
});

t.test('a chat takes so many messages, and a workspace so many chats at once', async (t) => {
  const { sql } = await postgres.open();
  const agentId = await agent();
  const { id } = await begin(agentId);
  const { messages, atOnce } = LIMITS.agentChat;
  await sql`
    insert into session_items (session_id, type, turn_id, created_at, content)
    select ${id}, 'message', i, now(), '{"role":"user","content":"Hi"}' from generate_series(1, ${messages - 1}::int) i`;
  t.equal((await write(id, 'The last one')).status, 200);
  const refused = await write(id, 'One more');
  exactly(t, refused, { status: 409, body: { message: /200 messages/ } });
  const more = await sql`
    insert into sessions overriding system value select (jsonb_populate_record(null::sessions, to_jsonb(s)
      || jsonb_build_object('id', 'sess_copy_' || i, 'position', 1000000 + i))).*
    from sessions s, generate_series(1, ${atOnce}::int) i where s.id = ${id}`;
  t.equal(more.count, atOnce);
  const full = await call('chats', { body: { agent_id: agentId } });
  exactly(t, full, { status: 429, body: { message: /as many chats at once/ } });
  t.ok(full.headers.has('retry-after'));
  await talks.session(agentId);
  await sql`delete from sessions where id like 'sess_copy_%'`;
});

t.test('a chat without a message for half an hour ends, by whichever machine sweeps', async (t) => {
  const { sql } = await postgres.open();
  const { id } = await begin(await agent());
  await sql`update sessions set measured_at = now() - interval '31 minutes' where id = ${id}`;
  exactly(t, await talks.ended({ session_id: id }), { status: 'completed', ended_reason: 'timeout' });
});

t.test('a machine that dies under an answer loses that answer, not the chat', async (t) => {
  model.answer(() => (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: 'Well, ' } }] })}\n\n`);
  });
  const { id } = await begin(await agent());
  const lost = write(id, 'Tell me', there).catch(() => undefined);
  await until('the model is asked', () => model.asked.length > 0);
  other.kill('SIGKILL');
  t.equal(await lost, undefined);
  model.answer(() => 'Here I am.');
  const answered = await until('another machine answers', async () => {
    const { status, body } = await write(id, 'Hello?');
    return status === 200 && body;
  }, 60_000); // oxfmt-ignore
  exactly(t, answered, { text: 'Here I am.', ended: false });
});
