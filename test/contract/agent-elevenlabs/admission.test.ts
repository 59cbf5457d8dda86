/**
 * Who gets to an agent by protocol B's wire, and what its client may set (docs/contract/agent-elevenlabs.md): keys, signed addresses,
 * public agents, refusals in band, overrides, variables, both HTTP stacks.
 */
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said } from '../../fixtures/chat/model.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  CONVERSATION,
  type ConversationHandshake,
  converse,
} from '../../fixtures/protocol-b/conversation-client.js';

const { talks } = await Talks.shared(t);
const { model, gateway, call } = talks;

model.answer((messages) => `You said: ${said(messages)}`);

const ORIGIN = 'https://www.example.com';
const NOBODY = 'agent_0123456789abcdef01234567';
const OVERRIDE = 'conversation_config_override';

async function changed(agentId: string, change: Body): Promise<string> {
  const { status } = await call(`agents/${agentId}`, { method: 'PATCH', body: change });
  if (status !== 200) throw new Error(`change: ${status}`);
  return agentId;
}

async function get(path: string, headers: Record<string, string> = gateway.authorization) {
  const response = await fetch(`${gateway.base}${CONVERSATION}/${path}`, { headers });
  return { status: response.status, body: (await response.json()) as Body };
}

/** A conversation of one line, and its record. */
async function tried(
  t: Parameters<typeof converse>[0],
  handshake: ConversationHandshake,
  fields: object = {},
  { own = talks, opener }: { own?: Talks; opener?: string } = {},
) {
  const client = await converse(t, own, handshake);
  const id = await client.initiate(fields);
  if (opener !== undefined) await client.untilAnswered(opener);
  client.send({ type: 'user_message', text: 'Hello.' });
  await client.untilAnswered('You said: Hello.');
  client.socket.close(1000);
  return { client, record: await own.ended({ session_id: id }) };
}

t.test('refusals are told in band, also those of a wrong key', async (t) => {
  const bare = await talks.agent();
  const { body: unpublished } = await call('agents', { body: { name: 'Draft' } });
  const wrong = { headers: { 'xi-api-key': 'wrong' } };
  const REFUSED: readonly (readonly [what: string, handshake: ConversationHandshake, code: string])[] = [
    ['a wrong key', { query: `?agent_id=${bare}`, ...wrong }, 'invalid_api_key'],
    ['a wrong signature', { query: `?agent_id=${bare}&conversation_signature=x` }, 'invalid_api_key'],
    ['no such agent', { query: `?agent_id=${NOBODY}` }, 'not_found'],
    ['no agent', {}, 'not_found'],
    ['nothing published', { query: `?agent_id=${String(unpublished['agent_id'])}` }, 'conflict'],
    ['not public', { query: `?agent_id=${bare}`, headers: { origin: ORIGIN } }, 'forbidden'],
  ];
  for (const [what, handshake, code] of REFUSED) {
    const client = await converse(t, talks, handshake);
    const error = await client.error();
    exactly(t, error, { code: 1008, details: { code } }, what);
    exactly(t, await client.untilClosed(), { code: 1008, reason: String(error['message']) }, what);
  }
});

t.test('a signed address opens one conversation with its agent', async (t) => {
  const agentId = await talks.agent();
  for (const path of ['get-signed-url', 'get_signed_url']) {
    const { status, body } = await get(`${path}?agent_id=${agentId}`);
    t.equal(status, 200);
    const url = String(body['signed_url']);
    t.ok(url.startsWith(`${gateway.base.replace('http', 'ws')}${CONVERSATION}?agent_id=${agentId}&`), url);
    const { record } = await tried(t, { url: `${url}&source=js_sdk&version=1`, headers: {} });
    exactly(t, record, { agent_id: agentId, source: 'api_key', ended_reason: 'hangup' });
    const again = await converse(t, talks, { url, headers: {} });
    exactly(t, await again.error(), { details: { code: 'invalid_api_key' } });
  }
  const { body } = await get(`get-signed-url?agent_id=${agentId}`);
  const other = String(body['signed_url']).replace(agentId, await talks.agent());
  const stolen = await converse(t, talks, { url: other, headers: {} });
  exactly(t, await stolen.error(), { details: { code: 'invalid_api_key' } });
  exactly(t, await get(`get-signed-url?agent_id=${NOBODY}`), { status: 404 });
  exactly(t, await get(`get-signed-url?agent_id=${agentId}`, {}), {
    status: 401,
    body: { detail: { code: 'needs_authorization' } },
  });
});

t.test('conversations by WebRTC are refused with the way that there is', async (t) => {
  exactly(t, await get(`token?agent_id=${await talks.agent()}`, {}), {
    status: 400,
    body: { detail: { code: 'unsupported_option', message: /websocket/ } },
  });
});

t.test('a key may come as browsers can send it; a public agent answers pages of its origins', async (t) => {
  const agentId = await changed(await talks.agent(), { public_enabled: true, allowed_origins: [ORIGIN] });
  const key = gateway.authorization.authorization.replace('Bearer ', '');
  const query = `?agent_id=${agentId}`;
  const byProtocol = { query, headers: {}, protocols: ['convai', `bearer.${key}`] };
  exactly(t, (await tried(t, byProtocol)).record, { source: 'api_key' });
  exactly(t, (await tried(t, { query, headers: { origin: ORIGIN } })).record, { source: 'public' });
  const elsewhere = await converse(t, talks, { query, headers: { origin: 'https://elsewhere.example.com' } });
  exactly(t, await elsewhere.error(), { details: { code: 'forbidden' } });
});

t.test('overrides and variables take effect as the agent allows them', async (t) => {
  const agentId = await changed(
    await talks.agent({ prompt: { first_message_mode: 'off', system_prompt: 'Own.' } }),
    { overrides_allowed: ['system_prompt', 'first_message', 'language'] },
  );
  const { record } = await tried(
    t,
    { query: `?agent_id=${agentId}` },
    {
      [OVERRIDE]: {
        agent: { prompt: { prompt: 'Serve {{name}}.' }, first_message: 'Hi {{name}}!', language: 'en-GB' },
        tts: { voice_id: '', stability: 0.5, model_id: 'eleven_v3' },
        turn: { mode: 'silence', turn_timeout: 7 },
      },
      ...{ dynamic_variables: { name: 'Ada' }, user_id: 'user-7', custom_llm_extra_body: { seed: 7 } },
      source_info: { source: 'python_sdk', version: '1' },
    },
    { opener: 'Hi Ada!' },
  );
  exactly(t, record, {
    end_user_id: 'user-7',
    overrides: { system_prompt: 'Serve {{name}}.', language: 'en' },
  });
  t.ok(model.asked.some(([first]) => first?.content?.includes('Serve Ada.')));
  const kept = gateway
    .stderr()
    .split('\n')
    .filter((each) => each.includes(String(record['session_id'])) && each.includes('"kept"'))
    .flatMap((line) => (JSON.parse(line) as { kept: string[] }).kept);
  const unknown = [`${OVERRIDE}.tts.model_id`, `${OVERRIDE}.turn`];
  t.strictSame(kept, [`${OVERRIDE}.tts.stability`, 'custom_llm_extra_body', ...unknown]);
});

t.test(
  'what the agent does not allow, or makes no sense, ends the conversation before it begins',
  async (t) => {
    const agentId = await changed(await talks.agent(), { overrides_allowed: ['voice_id'] });
    const prompt = `${OVERRIDE}.agent.prompt.prompt`;
    const voice = `${OVERRIDE}.tts.voice_id`;
    const REFUSED: readonly (readonly [fields: object, type: string, param: string])[] = [
      [{ [OVERRIDE]: { agent: { prompt: { prompt: 'Mine.' } } } }, 'override_error', prompt],
      [{ [OVERRIDE]: { tts: { voice_id: '21m00Tcm4TlvDq8ikWAM' } } }, 'override_error', voice],
      [{ dynamic_variables: { 'a b': 1 } }, 'invalid_message', 'dynamic_variables.a b'],
      [{ user_id: 'x'.repeat(5000) }, 'invalid_message', 'end_user_id'],
    ];
    for (const [fields, type, param] of REFUSED) {
      const client = await converse(t, talks, { query: `?agent_id=${agentId}` });
      client.send({ type: 'conversation_initiation_client_data', ...fields });
      const error = await client.error();
      exactly(t, error, { error_type: type, details: { param } }, JSON.stringify(error));
      exactly(t, await client.untilClosed(), { code: 1008 });
      t.strictSame(client.of('conversation_initiation_metadata'), []);
    }
  },
);

t.test('a faulty message is told, and the conversation goes on', async (t) => {
  const client = await converse(t, talks, { query: `?agent_id=${await talks.agent()}` });
  const WRONG: readonly (readonly [message: object, error: object])[] = [
    [{ type: 'nothing' }, { details: { param: 'type' } }],
    [{ user_audio_chunk: '*' }, { details: { param: 'user_audio_chunk' } }],
    [{ type: 'conversation_initiation_client_data', user_id: 7 }, { details: { param: 'user_id' } }],
    [{ type: 'user_message' }, { details: { param: 'text' } }],
    [{ type: 'contextual_update', text: 'x'.repeat(10_001) }, { details: { param: 'text' } }],
    [{ type: 'multimodal_message', file: { file_id: 'f' } }, { details: { param: 'file' } }],
    [{ type: 'client_tool_result', tool_call_id: 'c' }, { details: { param: 'tool_call_id' } }],
    [{ type: 'conversation_initiation_client_data' }, { details: { param: 'type' } }],
  ];
  for (const [message, error] of WRONG) {
    client.send(message);
    exactly(t, await client.error(), { error_type: 'invalid_message', ...error }, JSON.stringify(message));
  }
  client.socket.send('{');
  exactly(t, await client.error(), { error_type: 'invalid_message' });
  client.send({ type: 'user_message', text: 'Hello.' });
  await client.untilAnswered('You said: Hello.');
});

t.test('a client that says nothing is begun with; the API ends the call', async (t) => {
  const agentId = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } });
  const client = await converse(t, talks, { query: `?agent_id=${agentId}` });
  const id = await client.begun();
  await client.untilAnswered('Welcome.');
  t.equal((await call(`sessions/${id}/end`, { method: 'POST' })).status, 204);
  exactly(t, await client.untilClosed(), { code: 1000 });
  exactly(t, await talks.ended({ session_id: id }), { ended_reason: 'ended_by_api' });
});

t.test('the same on node’s own HTTP stack', async (t) => {
  const own = await Talks.start(t, { HTTP_STACK: 'node' });
  own.model.answer((messages) => `You said: ${said(messages)}`);
  const { record } = await tried(t, { query: `?agent_id=${await own.agent()}` }, {}, { own });
  t.ok(messagesOf(record).includes('user: Hello.'));
});
