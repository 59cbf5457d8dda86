/** An agent as the model of a realtime socket (docs/contract/agent-realtime.md): what its client hears and is told, and the record. */
import t from '../../fixtures/tap.js';
import { messagesOf, Talks } from '../../fixtures/conversation/conversation.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import { connectAgent, typesOf } from '../../fixtures/protocol-a/agent-client.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const ITEM = 'conversation.item';
const AUDIO = 'response.output_audio';
/** What a client is told of an answer, and of a turn of the user, without repetitions. */
const ANSWER = [
  ...['response.created', 'response.output_item.added', `${ITEM}.added`, 'response.content_part.added'],
];
const DONE = [
  ...[`${AUDIO}.done`, `${AUDIO}_transcript.done`, 'response.content_part.done', `${ITEM}.done`],
  ...['response.output_item.done', 'response.done'],
];
const TURN = [
  ...[
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
  ],
  ...[`${ITEM}.added`, `${ITEM}.done`],
  ...[`${ITEM}.input_audio_transcription.delta`, `${ITEM}.input_audio_transcription.completed`],
];
/** 25 seconds of tones. */
const LONG = Array.from({ length: 200 }, (_, index) => String(index + 100)).join(' ');

const { talks } = await Talks.shared(t);
const { model } = talks;

model.answer((messages) => toolSaid(messages) ?? `You said: ${said(messages)}`);

t.test('a spoken conversation: the order of events, and the record', async (t) => {
  const agentId = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } });
  const client = await connectAgent(t, talks, agentId);
  exactly(t, await client.next('session.created'), {
    session: {
      ...{ type: 'realtime', model: agentId, output_modalities: ['audio'], instructions: '', tools: [] },
      audio: {
        input: { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: { type: 'semantic_vad' } },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'default' },
      },
    },
  });
  client.update({ type: 'realtime' });
  await client.next('session.updated');
  client.listen();
  await client.untilHeard('Welcome.');
  client.speak(await talks.speech('Two lamps.'));
  await client.untilHeard('You said: Two lamps.');
  await until('it is done', () => client.of('response.done').length === 2);
  t.strictSame(
    typesOf(client.events).filter((type) => !type.startsWith(AUDIO) || !type.endsWith('.delta')),
    ['session.created', 'session.updated', ...ANSWER, ...DONE, ...TURN, ...ANSWER, ...DONE],
  );
  const audio = client.audio();
  const length =
    (await talks.speech('Welcome.')).length + (await talks.speech('You said: Two lamps.')).length;
  const seconds = (audio.length / 2 - length) / 24_000;
  t.ok(seconds >= 0 && seconds < 0.5, `the sound is whole, and little more: ${seconds} s`);
  const added = client.of('conversation.item.added');
  const ids = added.map(({ item }) => (item as { id: string }).id);
  t.strictSame(
    added.map(({ previous_item_id: id }) => id),
    [null, ...ids.slice(0, -1)],
  );
  client.socket.close(1000);
  const record = await talks.ended({ session_id: client.sessionId });
  exactly(t, record, { status: 'completed', ended_reason: 'hangup', source: 'api_key', agent_id: agentId });
  t.same(messagesOf(record), ['assistant: Welcome.', 'user: Two lamps.', 'assistant: You said: Two lamps.']);
});

t.test(
  'an interruption: the voice is told once it interrupts, and the record keeps what the client has heard',
  async (t) => {
    model.answer(() => LONG);
    const client = await connectAgent(t, talks, await talks.agent());
    client.listen().update({ type: 'realtime' });
    await client.next('session.updated');
    client.speak(await talks.speech('Count.'));
    await until('it is heard', () => client.audioBytes > 48_000 * 2);
    client.speak(await talks.speech('Stop it now, please.'));
    const done = await client.next('response.done');
    exactly(t, done, { response: { status: 'cancelled', status_details: { reason: 'turn_detected' } } });
    const types = client.types.filter((type) => !type.endsWith('.delta'));
    const begun = types.lastIndexOf('input_audio_buffer.speech_started', types.indexOf('response.done'));
    t.ok(begun > types.indexOf('response.created'), 'the client learns first that the user speaks');
    const output = (done['response'] as { output: { id: string; content: { transcript: string }[] }[] })
      .output[0];
    const heard = String(output?.content[0]?.transcript);
    t.ok(LONG.startsWith(heard), heard);
    client.send({
      type: 'conversation.item.truncate',
      item_id: output?.id,
      content_index: 0,
      audio_end_ms: 700,
    });
    exactly(t, await client.next(`${ITEM}.truncated`), { item_id: output?.id, audio_end_ms: 700 });
    client.send({ type: `${ITEM}.retrieve`, item_id: output?.id });
    exactly(t, await client.next(`${ITEM}.retrieved`), { item: { role: 'assistant', status: 'incomplete' } });
    await until('it is answered', () => client.of('response.created').length === 2);
    client.socket.close(1000);
    const [, assistant = ''] = messagesOf(await talks.ended({ session_id: client.sessionId }));
    const kept = assistant.replace('assistant: ', '');
    t.ok(heard.startsWith(kept) && kept.length < heard.length, `${kept}: what the client says is believed`);
  },
);

t.test('the recording has what was heard, to the word', async (t) => {
  model.answer(() => LONG);
  const client = await connectAgent(t, talks, await talks.agent({ conversation: { record_audio: true } }));
  client.listen().update({ type: 'realtime' });
  await client.next('session.updated');
  client.speak(await talks.speech('Count.'));
  await until('it is heard', () => client.audioBytes > 48_000 * 2);
  client.send({ type: 'response.cancel' });
  await client.next('response.done');
  client.socket.close(1000);
  const record = await talks.ended({ session_id: client.sessionId });
  const recording = await until('the recording is whole', async () => {
    const { body } = await talks.call(`sessions/${client.sessionId}/recording`);
    return body['status'] === 'complete' ? body : undefined;
  });
  const tracks = recording['tracks'] as { role: string; url: string }[];
  const heard = async (role: string): Promise<string> => {
    const url = tracks.find((track) => track.role === role)?.url ?? '';
    const form = new FormData();
    form.set('audio', new Blob([await (await fetch(url)).arrayBuffer()]), 'track.ogg');
    const { base, authorization: headers } = talks.gateway;
    const response = await fetch(`${base}/v1/asr`, { method: 'POST', headers, body: form });
    return ((await response.json()) as { text: string }).text;
  };
  const [shown = ''] = client.heard;
  t.same(messagesOf(record), ['user: Count.', `assistant: ${shown}`]);
  const sound = await heard('agent');
  t.ok(shown !== '' && sound.startsWith(shown), `${sound}: all that was shown`);
  t.ok(sound.length <= shown.length + ' 100'.length, 'and one word more at most');
  t.equal(await heard('user'), 'Count.');
});

t.test('the functions of a client: called, answered, and asked for again by nobody', async (t) => {
  model.answer((messages) => {
    const result = toolSaid(messages);
    if (result !== undefined) return `It is ${result}.`;
    return said(messages).includes('price')
      ? { text: 'One moment.', calls: { price: { of: 'lamp' } } }
      : 'Yes.';
  });
  const client = await connectAgent(t, talks, await talks.agent());
  const parameters = { type: 'object', properties: { of: { type: 'string' } } };
  const tool = { type: 'function', name: 'price', description: 'The price', parameters };
  client.listen().update({ type: 'realtime', tools: [tool] });
  exactly(t, await client.next('session.updated'), { session: { tools: [tool] } });
  client.speak(await talks.speech('What is the price?'));
  const called = await client.next('response.function_call_arguments.done');
  exactly(t, called, { name: 'price', arguments: '{"of":"lamp"}' });
  const done = await until('the response is done', () =>
    client.of('response.done').find(({ response }) => JSON.stringify(response).includes('function_call')),
  );
  exactly(t, done, { response: { status: 'completed' } });
  const output = { type: 'function_call_output', call_id: called['call_id'], output: 'two euros' };
  client.send({ type: 'conversation.item.create', item: output }).respond();
  await client.untilHeard('It is two euros.');
  t.strictSame(client.of('error'), []);
  client.send({ type: 'conversation.item.create', item: output });
  exactly(t, await client.error(), { code: 'item_not_found', param: 'item.call_id' });
  client.socket.close(1000);
  const record = await talks.ended({ session_id: client.sessionId });
  exactly(
    t,
    record.items.filter(({ type }) => type === 'tool_result'),
    [{ tool_name: 'price', tool_source: 'client', status: 'completed', output: 'two euros' }],
  );
});

t.test('what is typed is answered once that is asked for; instructions hold for one answer', async (t) => {
  model.answer((messages) => {
    const last = messages.at(-1)?.content ?? '';
    return last.includes('Be brief.') ? 'Brief.' : `You said: ${said(messages)}`;
  });
  const client = await connectAgent(t, talks, await talks.agent());
  client.say('First.').say('Second.');
  await client.next(`${ITEM}.done`);
  client.respond();
  await client.untilHeard('You said: First.\nSecond.');
  client.respond({ instructions: 'Be brief.', metadata: { mine: 'yes' } });
  await client.untilHeard('Brief.');
  await until('it has been played', () => client.of('response.done').length === 2);
  exactly(
    t,
    client.of('response.done').map(({ response }) => (response as { metadata: unknown }).metadata),
    [null, { mine: 'yes' }],
  );
  client.say('Third.').respond();
  await client.untilHeard('You said: Third.');
  client.send({ type: 'response.cancel', event_id: 'mine' });
  const notActive = { code: 'response_cancel_not_active', event_id: 'mine', message: /^Cancellation failed/ };
  exactly(t, await client.error(), notActive);
  client.socket.close(1000);
  t.same(messagesOf(await talks.ended({ session_id: client.sessionId })), [
    'user: First.\nSecond.',
    'assistant: You said: First.\nSecond.',
    'assistant: Brief.',
    'user: Third.',
    'assistant: You said: Third.',
  ]);
});

t.test('an answer asked for while the agent is about to greet is its greeting', async (t) => {
  model.answer(() => 'Something else.');
  const agentId = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } });
  const client = await connectAgent(t, talks, agentId);
  client.respond({ metadata: { mine: 'yes' } });
  exactly(t, await client.next('response.done'), {
    response: { status: 'completed', metadata: { mine: 'yes' } },
  });
  t.same(client.heard, ['Welcome.']);
  client.respond();
  await client.untilHeard('Something else.');
  client.send({ type: 'response.cancel', response_id: 'resp_another' });
  exactly(t, await client.error(), { code: 'response_cancel_not_active' });
  client.socket.close(1000);
});

t.test('a conversation of before, brought along: told to the model in its order', async (t) => {
  model.answer((messages) => `You said: ${said(messages)}`);
  const client = await connectAgent(t, talks, await talks.agent());
  const past = { call_id: 'call_1', name: 'price', arguments: '{"of":"lamp"}' };
  const bring = (item: object): unknown => client.send({ type: `${ITEM}.create`, item });
  const assistant = (text: string): object => ({
    role: 'assistant',
    content: [{ type: 'output_text', text }],
  });
  client.say('First question.');
  bring(assistant('First answer.'));
  client.say('What is the price?');
  bring({ type: 'function_call', ...past });
  bring({ type: 'function_call_output', call_id: 'call_1', output: 'two euros' });
  bring(assistant('Two euros.'));
  client.say('Thank you.').respond();
  await client.untilHeard('You said: Thank you.');
  t.strictSame(client.of('error'), []);
  const asked = model.asked.findLast((messages) => said(messages) === 'Thank you.') ?? [];
  const contents = asked.map(({ content }) => content ?? '');
  const TOLD = ['First question.', 'First answer.', 'What is the price?', 'two euros', 'Two euros.', 'Thank'];
  const places = TOLD.map((text) => contents.findIndex((content) => content.includes(text)));
  t.strictSame(
    places,
    [...places].sort((a, b) => a - b),
  );
  t.ok(places.every((place) => place >= 0) && new Set(places).size >= 5, JSON.stringify(contents));
  bring({ type: 'function_call_output', call_id: 'call_1', output: 'three euros' });
  exactly(t, await client.error(), { code: 'item_not_found' }, 'a call has one output');
  client.socket.close(1000);
  const told = messagesOf(await talks.ended({ session_id: client.sessionId }));
  t.equal(told.at(-1), 'assistant: You said: Thank you.');
});

t.test('what the agent was cut off in is deleted by a client that has played nothing of it', async (t) => {
  model.answer(() => LONG);
  const client = await connectAgent(t, talks, await talks.agent());
  client.say('Count.').respond();
  const { item } = await client.next('response.output_item.added');
  const { id } = item as { id: string };
  await until('it is heard', () => client.audioBytes > 48_000);
  client.send({ type: 'response.cancel' });
  await client.next('response.done');
  client.send({ type: `${ITEM}.delete`, item_id: id });
  exactly(t, await client.next(`${ITEM}.deleted`), { item_id: id });
  client.send({ type: `${ITEM}.retrieve`, item_id: id });
  exactly(t, await client.error(), { code: 'item_not_found' });
  const asked = client.of(`${ITEM}.added`)[0]?.['item'] as { id: string };
  client.send({ type: `${ITEM}.delete`, item_id: asked.id });
  exactly(t, await client.error(), { code: 'unsupported_option' }, 'the user’s words are the record');
  client.say('Again.');
  const next = await until('another item', () => client.of(`${ITEM}.added`)[2]);
  exactly(t, next, { previous_item_id: asked.id });
  client.socket.close(1000);
  const told = messagesOf(await talks.ended({ session_id: client.sessionId }));
  t.same(
    told.filter((line) => line.startsWith('assistant')),
    [],
  );
});

t.test('without turn detection the client says when the turn is over, however fast it sends', async (t) => {
  model.answer((messages) => `You said: ${said(messages)}`);
  const client = await connectAgent(t, talks, await talks.agent());
  client.update({ type: 'realtime', audio: { input: { turn_detection: null } } });
  exactly(t, await client.next('session.updated'), {
    session: { audio: { input: { turn_detection: null } } },
  });
  client.commit();
  exactly(t, await client.error(), { code: 'input_audio_buffer_commit_empty' });
  // At once, and with a pause in the middle that would end a turn.
  const bytes = (samples: Int16Array): Buffer =>
    Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength);
  client.append(bytes(await talks.speech('Two lamps.')));
  client.append(Buffer.alloc(48_000 * 2)).append(bytes(await talks.speech('And a chair.')));
  client.commit().respond();
  await client.untilHeard('You said: Two lamps. And a chair.');
  t.strictSame(client.of('input_audio_buffer.speech_started'), []);
  t.equal(client.of('input_audio_buffer.committed').length, 1);
  t.same(client.said, ['Two lamps. And a chair.']);
  client.append(Buffer.alloc(4800)).commit().respond();
  await until('silence is answered as well', () => client.of('response.created').length === 2);
  client.socket.close(1000);
});

t.test('a response that is cancelled, and the audio of telephone lines', async (t) => {
  model.answer(() => LONG);
  const client = await connectAgent(t, talks, await talks.agent());
  const audio = { input: { format: { type: 'audio/pcmu' } }, output: { format: { type: 'audio/pcma' } } };
  client.update({ type: 'realtime', audio });
  exactly(t, await client.next('session.updated'), { session: { audio } });
  client.say('Count.').respond();
  await until('it is heard', () => client.audioBytes > 8000);
  client.send({ type: 'response.cancel' });
  exactly(t, await client.next('response.done'), {
    response: { status: 'cancelled', status_details: { reason: 'client_cancelled' } },
  });
  const [delta] = client.of(`${AUDIO}.delta`);
  t.equal(Buffer.from(String(delta?.['delta']), 'base64').length, 160, '20 ms at 8 kHz');
  t.strictSame(client.of('input_audio_buffer.speech_started'), []);
  client.update({ type: 'realtime', audio: { output: { format: { type: 'audio/pcm', rate: 24_000 } } } });
  exactly(t, await client.error(), { code: 'unsupported_audio_format' }, 'not while the call lasts');
  client.socket.close(1000);
});

t.test('the agent hangs up: its last words are heard, then the socket closes', async (t) => {
  model.answer((messages) =>
    toolSaid(messages) === undefined ? { text: 'Goodbye.', calls: { hang_up_call: {} } } : 'Bye.',
  );
  const agentId = await talks.agent({ tools: { system_tools: { hang_up_call: true } } });
  const client = await connectAgent(t, talks, agentId);
  client.say('That was all.').respond();
  t.equal(await client.closed(), 1000);
  t.same(client.heard, ['Goodbye.']);
  exactly(t, client.of('response.done'), [{ response: { status: 'completed' } }]);
  exactly(t, await talks.ended({ session_id: client.sessionId }), { ended_reason: 'hangup' });
});
