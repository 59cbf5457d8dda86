/** A conversation with an agent by protocol B's wire (docs/contract/agent-elevenlabs.md): what its client hears and is told, and the record. */
import t from '../../fixtures/tap.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  type ConversationClient,
  type ConversationFrame,
  converse,
  RATE,
} from '../../fixtures/protocol-b/conversation-client.js';
import { until } from '../../fixtures/until.js';

/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

const { talks } = await Talks.shared(t);
const { model, call } = talks;

const speech = (text: string) => talks.speech(text, RATE);

/** Audio is sent a little ahead of what is heard. */
const untilRecorded = (id: string, answer: string): Promise<unknown> =>
  until('it is heard', async () =>
    messagesOf(await talks.record({ session_id: id })).includes(`assistant: ${answer}`),
  );

t.test('a spoken conversation: the order of events, the sound, and the record', async (t) => {
  model.answer((messages) => `You said: ${said(messages)}`);
  const agentId = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } });
  const client = await converse(t, talks, { query: `?agent_id=${agentId}` });
  t.equal(client.socket.protocol, 'convai');
  const id = await client.initiate();
  exactly(t, client.frames[0], {
    type: 'conversation_initiation_metadata',
    conversation_initiation_metadata_event: {
      conversation_id: id,
      agent_output_audio_format: 'pcm_16000',
      user_input_audio_format: 'pcm_16000',
    },
  });
  client.listen();
  await untilRecorded(id, 'Welcome.');
  client.speak(await speech('Two lamps.'));
  await client.untilAnswered('You said: Two lamps.');
  const length = (await speech('Welcome.')).length + (await speech('You said: Two lamps.')).length;
  await until('it is heard', () => client.audio().length / 2 >= length);
  const seconds = (client.audio().length / 2 - length) / RATE;
  t.ok(seconds >= 0 && seconds < 0.5, `the sound is whole, and little more: ${seconds} s`);
  const types = client.frames.map(({ type }) => type).filter((type) => type !== 'ping');
  t.strictSame(
    types.filter((type, at) => types[at - 1] !== type),
    [
      ...['conversation_initiation_metadata', 'agent_response', 'audio'],
      ...['user_transcript', 'agent_response', 'audio'],
    ],
  );
  const ids = client.of('audio').map((frame) => (frame['audio_event'] as { event_id: number }).event_id);
  t.ok(
    ids.every((each, at) => at === 0 || each >= (ids[at - 1] ?? 0)),
    'later audio has a later id',
  );
  t.ok(client.of('ping').length > 0);
  await untilRecorded(id, 'You said: Two lamps.');
  client.socket.close(1000);
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { status: 'completed', ended_reason: 'hangup', source: 'api_key', agent_id: agentId });
  t.same(messagesOf(record), ['assistant: Welcome.', 'user: Two lamps.', 'assistant: You said: Two lamps.']);
  t.strictSame(client.said, ['Two lamps.']);
});

/** The id of the last frame of audio. */
const lastAudio = (client: ConversationClient): number =>
  (client.of('audio').at(-1) as { audio_event: { event_id: number } } & ConversationFrame).audio_event
    .event_id;

t.test('an interruption: the client is told what was heard, as it stands in the record', async (t) => {
  model.answer((messages) => (said(messages).includes('Count') ? LONG : 'I have stopped.'));
  const client = await converse(t, talks, { query: `?agent_id=${await talks.agent()}` });
  const id = await client.initiate();
  client.listen().speak(await speech('Count.'));
  await client.untilAnswered(LONG);
  await until('it is heard', () => client.audio().length > RATE * 3);
  const stop = await speech('Stop it now, please.');
  client.speak(stop);
  // Where a busy machine has torn the words apart, somebody says them again.
  const again = setInterval(() => client.speak(stop), 6000);
  t.teardown(() => clearInterval(again));
  const interruption = await client.next('interruption');
  clearInterval(again);
  const cut = interruption['interruption_event'] as { event_id: number };
  t.equal(cut.event_id, lastAudio(client), 'players drop what they have of it');
  await client.untilAnswered('I have stopped.');
  await until('its sound has come', () => lastAudio(client) > cut.event_id);
  const [heard = ''] = client.answers;
  t.ok(LONG.startsWith(heard) && heard.length > 0 && heard.length < LONG.length, heard);
  client.socket.close(1000);
  const [, assistant] = messagesOf(await talks.ended({ session_id: id }));
  t.equal(assistant, `assistant: ${heard}`);
});

/** A client tool of the workspace, as agents have it. */
async function priceTool(): Promise<string> {
  const { status, body } = await call('tools', {
    body: {
      ...{ name: 'price', tool_type: 'client', description: 'The price of a thing', expects_response: true },
      arguments: [{ name: 'of', description: 'What' }],
    },
  });
  if (status >= 300) throw new Error(`tool: ${status} ${JSON.stringify(body)}`);
  return String(body['tool_id']);
}

t.test(
  'a tool of the client: called, answered, and what is said around it told as it is recorded',
  async (t) => {
    model.answer((messages) => {
      const result = toolSaid(messages);
      if (result !== undefined) return `It is ${result}.`;
      return said(messages).includes('price')
        ? { text: 'One moment.', calls: { price: { of: 'lamp' } } }
        : 'Yes.';
    });
    const client = await converse(t, talks, {
      query: `?agent_id=${await talks.agent({ tools: { tool_ids: [await priceTool()] } })}`,
    });
    const id = await client.initiate();
    client.listen().speak(await speech('What is the price?'));
    const called = (await client.next('client_tool_call'))['client_tool_call'] as Record<string, unknown>;
    exactly(t, called, { tool_name: 'price', parameters: { of: 'lamp' } });
    const result = { type: 'client_tool_result', tool_call_id: called['tool_call_id'], is_error: false };
    client.send({ ...result, result: 'x'.repeat(50_000) });
    exactly(t, await client.error(), { error_type: 'invalid_message', details: { param: 'result' } });
    client.send({ ...result, result: 'two euros' });
    await client.untilAnswered('It is two euros.');
    client.send({ ...result, result: 'three euros' });
    exactly(t, await client.error(), { details: { param: 'tool_call_id' } });
    await untilRecorded(id, 'It is two euros.');
    client.socket.close(1000);
    const record = await talks.ended({ session_id: id });
    t.strictSame(
      messagesOf(record).filter((line) => line.startsWith('assistant')),
      client.answers.map((answer) => `assistant: ${answer}`),
    );
    exactly(
      t,
      record.items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'price', tool_source: 'client', status: 'completed', output: 'two euros' }],
    );
  },
);

t.test('typed lines, updates of the context, and a client without a player', async (t) => {
  model.answer((messages) => {
    const context = messages.some(({ content }) => content?.includes('The page is about lamps.') === true);
    return `${context ? 'Lamps' : 'Nothing'}: ${said(messages)}`;
  });
  const client = await converse(t, talks, { query: `?agent_id=${await talks.agent()}` });
  const id = await client.initiate({ conversation_config_override: { conversation: { text_only: true } } });
  client.send({ type: 'contextual_update', text: 'The page is about lamps.' });
  client.send({ type: 'user_activity' }, { type: 'user_message', text: 'Hello.' });
  await client.untilAnswered('Lamps: Hello.');
  await untilRecorded(id, 'Lamps: Hello.');
  client.send({ type: 'multimodal_message', text: { type: 'user_message', text: 'And now?' } });
  await client.untilAnswered('Lamps: And now?');
  t.strictSame(client.of('audio'), []);
  client.send({ type: 'feedback', score: 'like', event_id: 1 });
  client.socket.terminate();
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { ended_reason: 'transport_lost' });
  t.ok(messagesOf(record).includes('user: Hello.'));
});
