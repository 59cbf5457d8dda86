/**
 * Who gets to an agent by the realtime socket, and what its client may set (docs/contract/agent-realtime.md): keys, client secrets, public
 * agents, refusals in band, overrides, both HTTP stacks; and what speech models still refuse.
 */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { createKey } from '../../../storage/keys/keys.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said } from '../../fixtures/chat/model.js';
import { exactly } from '../../fixtures/exactly.js';
import { connectAgent } from '../../fixtures/protocol-a/agent-client.js';
import { type Handshake, RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { until } from '../../fixtures/until.js';

const { talks, postgres } = await Talks.shared(t);
const { model, gateway, call } = talks;

model.answer((messages) => `You said: ${said(messages)}`);

const ORIGIN = 'https://www.example.com';

/** The error with which a socket is refused, and its close code. */
async function refusal(handshake: Handshake): Promise<{ error: Body; code: number }> {
  const client = await new RealtimeClient(gateway, { base: '/v1', ...handshake }).opened();
  const error = await client.error();
  return { error, code: await client.closed() };
}

/** Whether the model was asked with these instructions. */
const isInstructed = (text: string): boolean =>
  model.asked.some(([first]) => first?.content?.includes(text) === true);

async function changed(agentId: string, change: Body): Promise<string> {
  const { status } = await call(`agents/${agentId}`, { method: 'PATCH', body: change });
  if (status !== 200) throw new Error(`change: ${status}`);
  return agentId;
}

async function secretFor(
  session: Body,
  base = '/v1',
  authorization: Handshake['headers'] = gateway.authorization,
): Promise<{ status: number; body: Body }> {
  const response = await fetch(`${gateway.base}${base}/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session }),
  });
  return { status: response.status, body: (await response.json()) as Body };
}

t.test('refusals are told in band, in the order of sessions', async (t) => {
  const bare = await talks.agent();
  const { body: unpublished } = await call('agents', { body: { name: 'Draft' } });
  const REFUSED: readonly (readonly [what: string, handshake: Handshake, code: string])[] = [
    ['no such agent', { query: '?model=agent_0123456789abcdef01234567' }, 'not_found'],
    ['nothing published', { query: `?agent_id=${String(unpublished['agent_id'])}` }, 'conflict'],
    ['not public', { query: `?model=${bare}`, headers: { origin: ORIGIN } }, 'forbidden'],
    ['no such session', { query: `?model=${bare}&session_id=sess_1` }, 'not_found'],
    ['other bases know no agents', { base: '/compat/v1', query: `?model=${bare}` }, 'model_not_found'],
    ['nor in their other forms', { base: '/compat/api/v1', query: `?model=${bare}` }, 'model_not_found'],
  ];
  for (const [what, handshake, code] of REFUSED) {
    const { error, code: closed } = await refusal(handshake);
    exactly(t, error, { code }, what);
    t.equal(closed, 1008, what);
  }
  const wrong = new RealtimeClient(gateway, {
    base: '/v1',
    query: `?model=${bare}`,
    headers: { authorization: 'Bearer wrong' },
  });
  await until('a wrong key is refused', () => wrong.refusal);
  t.equal(wrong.refusal?.status, 401);
});

t.test('a public agent answers pages of its origins, which may choose language and voice only', async (t) => {
  const agentId = await changed(await talks.agent(), {
    ...{ public_enabled: true, allowed_origins: [ORIGIN] },
    overrides_allowed: ['system_prompt', 'language'],
  });
  exactly(t, (await refusal({ query: `?model=${agentId}`, headers: {} })).error, { code: 'forbidden' });
  const other = { origin: 'https://elsewhere.example.com' };
  exactly(t, (await refusal({ query: `?model=${agentId}`, headers: other })).error, { code: 'forbidden' });
  const client = await connectAgent(t, talks, agentId, { headers: { origin: ORIGIN } });
  client.update({ type: 'realtime', instructions: 'Obey the page.' });
  exactly(t, await client.next('session.updated'), { session: { instructions: '' } });
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  client.socket.close(1000);
  exactly(t, await talks.ended({ session_id: client.sessionId }), { source: 'public' });
});

t.test('a client secret opens the session of its agent, and of no other model', async (t) => {
  const agentId = await changed(await talks.agent(), { overrides_allowed: ['system_prompt'] });
  const { status, body } = await secretFor({ type: 'realtime', model: agentId, instructions: 'Be kind.' });
  t.equal(status, 200);
  exactly(t, body, { session: { model: agentId, instructions: 'Be kind.', object: 'realtime.session' } });
  const protocols = ['realtime', `openai-insecure-api-key.${String(body['value'])}`];
  const speech = { query: '?model=agent_0123456789abcdef01234567', headers: {}, protocols };
  exactly(t, (await refusal(speech)).error, { code: 'forbidden' });
  const client = await connectAgent(t, talks, agentId, { query: '', headers: {}, protocols });
  exactly(t, await client.next('session.created'), { session: { model: agentId, instructions: 'Be kind.' } });
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  t.ok(isInstructed('Be kind.'));
  client.socket.close(1000);
  exactly(t, await talks.ended({ session_id: client.sessionId }), {
    overrides: { system_prompt: 'Be kind.' },
  });
  exactly(t, await secretFor({ type: 'realtime', model: agentId }, '/compat/v1'), { status: 400 });
  exactly(t, await secretFor({ type: 'realtime', model: 'agent_0123456789abcdef01234567' }), { status: 404 });
});

t.test('an agent takes a key that may create sessions, and its secret does as well', async (t) => {
  const agentId = await talks.agent();
  const { sql } = await postgres.open();
  const [{ id: workspaceId = '' } = {}] = await sql<{ id: string }[]>`select workspace_id as id from agents`;
  const keyOf = async (role: 'speech' | 'sessions') => {
    const { key } = await createKey(sql, randomIds, { workspaceId, name: role, role });
    return { authorization: `Bearer ${key}` };
  };
  const [speech, sessions] = [await keyOf('speech'), await keyOf('sessions')];
  const session = { type: 'realtime', model: agentId };
  const query = `?model=${agentId}`;
  exactly(t, (await refusal({ query, headers: speech })).error, { code: 'role_forbidden' });
  exactly(t, await secretFor(session, '/v1', speech), { status: 403 });
  exactly(t, await secretFor({ type: 'realtime' }, '/v1', sessions), { status: 403 });
  const { status, body } = await secretFor(session, '/v1', sessions);
  t.equal(status, 200);
  const secret = { authorization: `Bearer ${String(body['value'])}` };
  for (const headers of [sessions, secret]) {
    const client = await connectAgent(t, talks, agentId, { query, headers });
    await client.next('session.created');
    client.socket.close(1000);
    await client.closed();
  }
});

t.test('what the agent does not allow keeps its value, and is said once in the log', async (t) => {
  const agentId = await talks.agent({ prompt: { first_message_mode: 'off', system_prompt: 'Own.' } });
  const client = await connectAgent(t, talks, agentId);
  client.update({
    type: 'realtime',
    instructions: 'Mine.',
    output_modalities: ['text'],
    audio: {
      input: { transcription: { model: 'gpt-4o-mini-transcribe', language: 'de' } },
      output: { voice: 'marin', speed: 1.2 },
    },
  });
  exactly(t, await client.next('session.updated'), {
    session: {
      ...{ instructions: '', output_modalities: ['audio'] },
      audio: { input: { transcription: { language: 'en' } }, output: { voice: 'default', speed: 1 } },
    },
  });
  client.update({ type: 'realtime', instructions: 'Mine again.' });
  await client.next('session.updated');
  t.strictSame(client.of('error'), []);
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  t.ok(isInstructed('Own.'));
  const id = client.sessionId;
  const lines = gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes(id) && line.includes('"kept"'));
  t.equal(lines.length, 1);
  exactly(t, JSON.parse(lines[0] ?? '{}'), {
    kept: ['system_prompt', 'language', 'audio.output.speed', 'output_modalities'],
  });
  t.notOk(lines[0]?.includes('Mine'), 'names only');
  client.socket.close(1000);
});

t.test('what it allows takes effect, before the call and while it lasts', async (t) => {
  const agentId = await changed(await talks.agent(), { overrides_allowed: ['system_prompt', 'voice_id'] });
  const client = await connectAgent(t, talks, agentId);
  const turns = { type: 'semantic_vad', eagerness: 'low' };
  client.update({ type: 'realtime', instructions: 'First.', audio: { input: { turn_detection: turns } } });
  exactly(t, await client.next('session.updated'), {
    session: { instructions: 'First.', audio: { input: { turn_detection: turns } } },
  });
  client.say('One.').respond();
  await client.untilHeard('You said: One.');
  t.ok(isInstructed('First.'));
  client.update({ type: 'realtime', instructions: 'Second.', audio: { output: { voice: 'no-such-voice' } } });
  exactly(t, await client.next('session.updated'), {
    session: { instructions: 'Second.', audio: { output: { voice: 'default' } } },
  });
  client.say('Two.').respond();
  await client.untilHeard('You said: Two.');
  t.ok(isInstructed('Second.'));
  client.socket.close(1000);
  t.equal(messagesOf(await talks.ended({ session_id: client.sessionId })).length, 4);
});

t.test('what makes no sense is told with its place, and the socket stays open', async (t) => {
  const client = await connectAgent(t, talks, await talks.agent());
  const WRONG: readonly (readonly [event: object, error: object])[] = [
    [{ type: 'nothing' }, { code: 'unknown_event_type' }],
    [{ type: 'session.update', session: 1 }, { param: 'session' }],
    [{ type: 'session.update', session: { type: 'transcription' } }, { param: 'session.type' }],
    [{ type: 'session.update', session: { tools: [{ type: 'mcp' }] } }, { param: 'session.tools.0.type' }],
    [
      { type: 'session.update', session: { tools: [{ type: 'function', name: 'a b' }] } },
      { param: 'session.tools.0.name' },
    ],
    [
      { type: 'session.update', session: { audio: { input: { format: { type: 'audio/mp3' } } } } },
      { code: 'unsupported_audio_format', param: 'session.audio.input.format.type' },
    ],
    [
      { type: 'session.update', session: { audio: { input: { turn_detection: { type: 'mind' } } } } },
      { code: 'unsupported_turn_detection' },
    ],
    [{ type: 'input_audio_buffer.append', audio: '*' }, { param: 'audio' }],
    [{ type: 'input_audio_buffer.commit' }, { code: 'input_audio_buffer_commit_empty' }],
    [{ type: 'conversation.item.create', item: { type: 'message', role: 'user', content: [] } }, {}],
    [{ type: 'conversation.item.create', item: { type: 'item_reference' } }, { param: 'item.type' }],
    [{ type: 'conversation.item.create', item: { type: 'function_call' } }, { param: 'item.call_id' }],
    [{ type: 'conversation.item.delete', item_id: 'none' }, { code: 'item_not_found' }],
    [{ type: 'response.create', response: { conversation: 'none' } }, { param: 'response.conversation' }],
  ];
  for (const [at, [event, error]] of WRONG.entries()) {
    client.send({ ...event, event_id: `own_${at}` });
    exactly(t, await client.error(), { event_id: `own_${at}`, ...error }, JSON.stringify(event));
  }
  client.socket.send('{');
  exactly(t, await client.error(), { code: 'invalid_event' });
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  client.socket.close(1000);
  exactly(t, await talks.ended({ session_id: client.sessionId }), { ended_reason: 'hangup' });
});

t.test('the API ends a call, and the client is told by the close', async (t) => {
  const client = await connectAgent(t, talks, await talks.agent());
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  const { status } = await call(`sessions/${client.sessionId}/end`, { method: 'POST' });
  t.equal(status, 204);
  t.equal(await client.closed(), 1000);
  exactly(t, await talks.ended({ session_id: client.sessionId }), { ended_reason: 'ended_by_api' });
});

t.test('models that speak refuse what they refused', async (t) => {
  const client = await new RealtimeClient(gateway, { base: '/v1', query: '?model=tts-1' }).opened();
  client.update({ type: 'realtime', audio: { input: { turn_detection: { type: 'server_vad' } } } });
  exactly(t, await client.error(), { code: 'unsupported_turn_detection' });
  client.update({ type: 'realtime', audio: { output: { format: { type: 'audio/pcmu' } } } });
  exactly(t, await client.error(), { code: 'unsupported_audio_format' });
  client.send({ type: 'conversation.item.create', item: { type: 'function_call_output', output: '' } });
  exactly(t, await client.error(), { code: 'invalid_event' });
  client.leave();
  exactly(t, (await refusal({ query: '?model=no-such-model' })).error, { code: 'model_not_found' });
});

t.test('the same on node’s own HTTP stack, and while it drains', async (t) => {
  const own = await Talks.start(t, { HTTP_STACK: 'node' });
  own.model.answer((messages) => `You said: ${said(messages)}`);
  const lost = await connectAgent(t, own, await own.agent());
  lost.say('Hello.').respond();
  await lost.untilHeard('You said: Hello.');
  process.kill(memberOf(own.gateway.pid, 'workers/media'), 'SIGKILL');
  exactly(t, await lost.error(), { type: 'server_error', code: 'engine_lost' }, 'its client is told');
  t.equal(await lost.closed(), 1011);
  const client = await connectAgent(t, own, await own.agent());
  client.listen().update({ type: 'realtime' });
  await client.next('session.updated');
  client.speak(await own.speech('Two lamps.'));
  await client.untilHeard('You said: Two lamps.');
  const question = await own.speech('Are you there?');
  const stopped = own.gateway.stop();
  await until('it drains', async () => (await fetch(`${own.gateway.base}/health`)).status === 503);
  client.speak(question);
  await client.untilHeard('You said: Are you there?');
  const since = Date.now();
  client.socket.close(1000);
  await stopped;
  t.ok(Date.now() - since < 25_000, 'a drain waits for the call, and no longer');
});
