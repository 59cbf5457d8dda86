/** An agent by WebRTC (docs/contract/agent-realtime.md 7): the offer and its answer, audio both ways, events, hang-up, and the record. */
import t from '../../fixtures/tap.js';
import type { Test } from 'tap';
import { letGo } from '../../fixtures/calls/caller.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import { exactly } from '../../fixtures/exactly.js';
import { type OfferRequest, RtcClient } from '../../fixtures/protocol-a/rtc-client.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const { talks } = await Talks.shared(t);
const { model, gateway, call } = talks;
model.answer((messages) => toolSaid(messages) ?? `You said: ${said(messages)}`);

const SPOKEN = { prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } };
/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

async function connected(
  t: Pick<Test, 'teardown' | 'equal'>,
  request: OfferRequest,
): Promise<{ client: RtcClient; id: string }> {
  const client = new RtcClient();
  t.teardown(() => client.close());
  const response = await client.call(gateway, request);
  t.equal(response.status, 201, await response.clone().text());
  const id = /^\/v1\/realtime\/calls\/(\w+)$/.exec(response.headers.get('location') ?? '')?.[1] ?? '';
  return { client, id };
}

t.test(
  'a spoken conversation: sound both ways, events without audio, the record and its recording',
  async (t) => {
    const agentId = await talks.agent({ ...SPOKEN, conversation: { record_audio: true } });
    const { client, id } = await connected(t, { query: `?model=${agentId}` });
    client.listen();
    exactly(t, await client.next('session.created'), { session: { id, model: agentId } });
    client.send({ type: 'session.update', session: { type: 'realtime', tools: [] } });
    await client.next('session.updated');
    await client.untilHeard('Welcome.');
    client.speak(await talks.speech('Two lamps.'));
    await client.untilHeard('You said: Two lamps.');
    await until('its audio has ended', () => client.of('output_audio_buffer.stopped').length === 2);
    const responses = client.of('response.done').map(({ response }) => (response as Body)['id']);
    t.strictSame(
      client.events
        .filter(({ type }) => type.startsWith('output_audio_buffer.'))
        .map((event) => [event.type, event['response_id']]),
      responses.flatMap((id) => [
        ['output_audio_buffer.started', id],
        ['output_audio_buffer.stopped', id],
      ]),
    );
    t.strictSame(client.of('response.output_audio.delta'), []);
    t.ok(client.loudSeconds > 0.5, `the agent is heard: ${client.loudSeconds} s`);
    client.close();
    const record = await talks.ended({ session_id: id });
    exactly(t, record, { status: 'completed', ended_reason: 'hangup', source: 'api_key', agent_id: agentId });
    t.same(messagesOf(record), [
      'assistant: Welcome.',
      'user: Two lamps.',
      'assistant: You said: Two lamps.',
    ]);
    const recording = await until('its recording is there', async () => {
      const { status, body } = await call(`sessions/${id}/recording`);
      return status === 200 ? body : undefined;
    });
    t.ok(recording);
  },
);

t.test(
  'a form with a session: its tools, an interruption by the client, and a hang-up by the API',
  async (t) => {
    model.answer((messages) => toolSaid(messages) ?? LONG);
    const agentId = await talks.agent();
    const tool = {
      type: 'function',
      name: 'show_map',
      description: 'Shows the map.',
      parameters: { type: 'object' },
    };
    const { client, id } = await connected(t, {
      session: { type: 'realtime', model: agentId, tools: [tool] },
    });
    client.listen();
    exactly(t, await client.next('session.created'), { session: { tools: [{ name: 'show_map' }] } });
    const content = [{ type: 'input_text', text: 'Count.' }];
    client.send(
      { type: 'conversation.item.create', item: { type: 'message', role: 'user', content } },
      { type: 'response.create' },
    );
    await client.next('output_audio_buffer.started');
    client.send({ type: 'response.cancel' }, { type: 'output_audio_buffer.clear' });
    await client.next('output_audio_buffer.cleared');
    exactly(t, await client.next('response.done'), {
      response: { status: 'cancelled', status_details: { reason: 'client_cancelled' } },
    });
    client.send({ type: 'input_audio_buffer.append', audio: '' });
    exactly(t, await client.next('error'), { error: { code: 'unsupported_option' } });
    const hangUp = (which: string): Promise<Response> =>
      fetch(`${gateway.base}/v1/realtime/calls/${which}/hangup`, {
        method: 'POST',
        headers: gateway.authorization,
      });
    t.equal((await hangUp('sess_0123456789abcdef01234567')).status, 404);
    t.equal((await hangUp(id)).status, 200);
    await until('the channel is closed', () => client.isClosed);
    exactly(t, await talks.ended({ session_id: id }), { status: 'completed', ended_reason: 'ended_by_api' });
  },
);

t.test('a call that has not begun is hung up, and long events are read', async (t) => {
  const agentId = await talks.agent(SPOKEN);
  const early = new RtcClient();
  t.teardown(() => early.close());
  const query = `?model=${agentId}`;
  const response = await fetch(`${gateway.base}/v1/realtime/calls${query}`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/sdp' },
    body: early.offer(),
  });
  t.equal(response.status, 201);
  const hangUp = await fetch(`${gateway.base}${response.headers.get('location')}/hangup`, {
    method: 'POST',
    headers: gateway.authorization,
  });
  t.equal(hangUp.status, 200);
  t.equal(
    (await call(`sessions/${response.headers.get('location')?.split('/').at(-1)}`)).status,
    404,
    'no session',
  );
  const { client, id } = await connected(t, { query });
  client.listen();
  await client.untilHeard('Welcome.');
  client.send({ type: 'x'.repeat(256 * 1024 - 100) });
  exactly(t, await client.next('error'), { error: { code: 'unknown_event_type' } });
  for (let count = 0; count < 3; count += 1)
    client.send({ type: 'session.update', session: { type: 'realtime' } });
  await until('each was answered', () => client.of('session.updated').length === 3);
  client.close();
  exactly(t, await talks.ended({ session_id: id }), { ended_reason: 'hangup' });
});

t.test('a public agent answers pages of its origins without a key', async (t) => {
  const origin = 'https://www.example.com';
  const agentId = await talks.agent(SPOKEN);
  const change = { public_enabled: true, allowed_origins: [origin] };
  t.equal((await call(`agents/${agentId}`, { method: 'PATCH', body: change })).status, 200);
  const query = `?model=${agentId}`;
  const stranger = new RtcClient();
  t.teardown(() => stranger.close());
  const elsewhere = { origin: 'https://elsewhere.example.com' };
  t.equal((await stranger.call(gateway, { query, headers: elsewhere })).status, 403);
  const { client, id } = await connected(t, { query, headers: { origin } });
  client.listen();
  await client.untilHeard('Welcome.');
  client.close();
  exactly(t, await talks.ended({ session_id: id }), { source: 'public', ended_reason: 'hangup' });
});

t.test('what is refused', async (t) => {
  const agentId = await talks.agent();
  const { authorization } = gateway;
  const send = async (
    query: string,
    body: string,
    type = 'application/sdp',
    headers: object = authorization,
  ) => {
    const response = await fetch(`${gateway.base}${query}`, {
      method: 'POST',
      headers: { ...headers, 'content-type': type },
      body,
    });
    return { status: response.status, body: (await response.json()) as Body };
  };
  const client = new RtcClient();
  t.teardown(() => client.close());
  const offer = client.offer();
  const calls = '/v1/realtime/calls';
  const silent = offer.replace(/^m=audio[^]*?(?=^m=|$(?![^]))/m, '');
  const REFUSED = [
    ['a model that speaks', await send(`${calls}?model=svc/s2.1-pro`, offer), 400],
    ['no model', await send(calls, offer), 400],
    ['no such agent', await send(`${calls}?model=agent_0123456789abcdef01234567`, offer), 404],
    ['no offer', await send(`${calls}?model=${agentId}`, 'hello'), 400],
    ['no audio', await send(`${calls}?model=${agentId}`, silent), 400],
    ['not readable', await send(`${calls}?model=${agentId}`, `v=0\r\n${'x'.repeat(100)}`), 400],
    ['too long', await send(`${calls}?model=${agentId}`, `v=0\r\n${'x'.repeat(70_000)}`), 413],
    ['another type', await send(`${calls}?model=${agentId}`, '{}', 'application/json'), 415],
    [
      'a wrong key',
      await send(`${calls}?model=${agentId}`, offer, undefined, { authorization: 'Bearer x' }),
      401,
    ],
    ['other bases', await send(`/compat/v1/realtime/calls?model=${agentId}`, offer), 404],
  ] as const;
  for (const [what, { status, body }, wanted] of REFUSED) {
    t.equal(status, wanted, `${what}: ${JSON.stringify(body)}`);
    exactly(t, body, { error: { code: wanted } }, what);
  }
  exactly(t, REFUSED[0][1].body, { error: { message: /agents/, param: 'model' } });
});

t.test('pages of other origins may send their offer, and read where the call is', async (t) => {
  const origin = 'https://www.example.com';
  const preflight = await fetch(`${gateway.base}/v1/realtime/calls`, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,content-type,x-openai-agents-sdk',
    },
  });
  t.equal(preflight.status, 204);
  t.match(preflight.headers.get('access-control-allow-headers'), /authorization.*x-openai-agents-sdk/);
  const secret = await fetch(`${gateway.base}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', model: await talks.agent(SPOKEN) } }),
  });
  const { value } = (await secret.json()) as { value: string };
  const client = new RtcClient();
  t.teardown(() => client.close());
  const headers = { authorization: `Bearer ${value}`, origin };
  const response = await client.call(gateway, { headers });
  t.equal(response.status, 201);
  t.match(response.headers.get('access-control-expose-headers'), /Location/);
  client.listen();
  await client.untilHeard('Welcome.');
  client.close();
  const again = new RtcClient();
  t.teardown(() => again.close());
  await until(
    'the secret is free again',
    async () => (await again.call(gateway, { headers })).status === 201,
  );
});
