/**
 * Responses of protocol A's realtime socket through a whole gateway: text to speech, its events, formats, order,
 * cancelling and back-pressure (docs/contract/protocol-a.md 5).
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { gauge } from '../../fixtures/native/live.js';
import {
  ENDLESS,
  format,
  item,
  realtime,
  response,
  session,
  TRANSCRIPTION,
} from '../../fixtures/protocol-a/realtime-events.js';
import { until } from '../../fixtures/until.js';

const gateway = await sharedGateway(t);

const { connect, heard } = realtime(gateway);

interface OutputItem {
  readonly id: string;
  readonly status: string;
  readonly content: readonly { readonly type: string; readonly transcript: string }[];
}
const outputOf = (response: Record<string, unknown>) => response['output'] as OutputItem[];

t.test('text to speech: every event in its order, each with all its fields', async (t) => {
  const client = await connect();
  const text = 'Tones carry text. A second sentence follows.';
  client.say(text).respond({ metadata: { mine: '1' } });
  await client.next('response.done');
  const told = client.types.filter((type, at, types) => !type.endsWith('.delta') || types[at - 1] !== type);
  const withoutDeltas = told.filter((type) => !type.endsWith('.delta'));
  t.strictSame(withoutDeltas, [
    'session.created',
    'conversation.item.added',
    'conversation.item.done',
    'response.created',
    'response.output_item.added',
    'conversation.item.added',
    'response.content_part.added',
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'conversation.item.done',
    'response.output_item.done',
    'response.done',
  ]);
  const [added, spoken] = client.of('conversation.item.added');
  exactly(t, added, {
    previous_item_id: null,
    item: { type: 'message', role: 'user', status: 'completed' },
  });
  t.strictSame(item(added!)['content'], [{ type: 'input_text', text }]);
  exactly(t, spoken, {
    previous_item_id: item(added!).id,
    item: { role: 'assistant', status: 'in_progress' },
  });
  t.strictSame(item(spoken!)['content'], []);
  const created = client.of('response.created')[0]!;
  const place = {
    response_id: response(created).id,
    item_id: item(spoken!).id,
    output_index: 0,
    content_index: 0,
  };
  for (const event of client.events.filter(({ type }) => /content_part|output_audio/.test(type)))
    exactly(t, event, place, event.type);
  exactly(t, created, {
    response: {
      object: 'realtime.response',
      status: 'in_progress',
      conversation_id: /^conv_/,
      audio: { output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'default' } },
      metadata: { mine: '1' },
    },
  });
  t.strictSame(response(created)['output'], []);
  t.strictSame(response(created)['output_modalities'], ['audio']);
  const done = client.of('response.done')[0]!;
  const [output, ...others] = outputOf(response(done));
  exactly(t, output, { id: item(spoken!).id, status: 'completed' });
  t.strictSame([output?.content, others], [[{ type: 'output_audio', transcript: text }], []]);
  exactly(t, done, {
    response: {
      id: response(created).id,
      status: 'completed',
      usage: { input_tokens: 11, total_tokens: Number, output_token_details: { audio_tokens: Number } },
    },
  });
  exactly(t, client.of('response.content_part.done')[0], { part: { type: 'audio', transcript: text } });
  const deltas = client.of('response.output_audio_transcript.delta').map(({ delta }) => delta);
  t.ok(deltas.length > 1, `${deltas.length} transcript deltas`);
  t.equal(deltas.join(''), text);
  const ids = client.events.map(({ event_id: id }) => id);
  t.equal(new Set(ids).size, ids.length, 'each event has an id of its own');
  client.leave();
});

t.test('all formats both ways: what one response says, a commit hears', async (t) => {
  const formats: [string, number?][] = [
    ['audio/pcm', 8000],
    ['audio/pcm', 16_000],
    ['audio/pcm', 24_000],
    ['audio/pcm', 32_000],
    ['audio/pcm', 44_100],
    ['audio/wav', 24_000],
    ['audio/wav'],
    ['audio/mp3'],
    ['audio/opus'],
  ];
  for (const [type, rate] of formats) {
    const client = await connect();
    const text = `Spoken as ${type} at ${rate}.`;
    client.update(format(type, rate));
    const shown = session(await client.next('session.updated')) as { audio: { output: { format: object } } };
    client.say(text).respond();
    exactly(t, response(await client.next('response.created')), {
      audio: { output: { format: shown.audio.output.format } },
    });
    await client.next('response.done');
    const audio = client.audio();
    for (let at = 0; at < audio.length; at += 10_001) client.append(audio.subarray(at, at + 10_001));
    client.commit();
    const completed = await client.next(`${TRANSCRIPTION}.completed`);
    t.equal(completed['transcript'], text);
    if (type !== 'audio/pcm') t.equal(await heard(audio), text, 'a file on its own');
    client.leave();
  }
});

t.test('a response may have a format and a voice of its own; the session keeps its', async (t) => {
  const client = await connect();
  const own = { audio: { output: { format: { type: 'audio/wav', rate: 8000 }, voice: 'alloy' } } };
  client.say('One.').respond(own);
  const created = response(await client.next('response.created'));
  exactly(t, created, own);
  await client.next('response.done');
  t.equal(client.audio(created.id).toString('latin1', 0, 4), 'RIFF');
  client.say('Two.').respond();
  exactly(t, response(await client.next('response.created')), { audio: { output: { voice: 'default' } } });
  client.leave();
});

t.test('speed makes the audio shorter or longer by its factor', async (t) => {
  const sizes: number[] = [];
  for (const speed of [1, 2, 0.5]) {
    const client = await connect();
    client
      .update({ audio: { output: { speed } } })
      .say('The same text, whatever its speed.')
      .respond();
    await client.next('response.done');
    sizes.push(client.audio().length);
    client.leave();
  }
  const [one = 0, fast = 0, slow = 0] = sizes;
  t.ok(Math.abs(fast / one - 0.5) < 0.1 && Math.abs(slow / one - 2) < 0.2, sizes.join(' '));
});

t.test('what is spoken: unspoken user text in order, or response.input with references', async (t) => {
  const client = await connect();
  client
    .say('First.', { id: 'first' })
    .say('Third.')
    .send({
      type: 'conversation.item.create',
      previous_item_id: 'first',
      item: { role: 'user', content: [{ type: 'input_text', text: 'Second.' }] },
    });
  const system = { role: 'system', content: [{ type: 'input_text', text: 'Not spoken.' }] };
  client.send({ type: 'conversation.item.create', previous_item_id: 'root', item: system });
  await client.next('conversation.item.added');
  client.respond();
  const transcript = async () =>
    (await client.next('response.output_audio_transcript.done'))['transcript'] as string;
  t.equal(await transcript(), 'First.\nSecond.\nThird.');
  await client.next('response.done');
  client.respond(undefined, 'again');
  exactly(t, await client.error(), { code: 'invalid_event', event_id: 'again' }, 'nothing is left to say');
  const message = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'New.' }] };
  client.respond({ input: [{ type: 'item_reference', id: 'first' }, message] });
  t.equal(await transcript(), 'First.\nNew.');
  await client.next('response.done');
  const places = client
    .of('conversation.item.added')
    .map((event) => [item(event).id, event['previous_item_id']]);
  t.equal(places[2]?.[1], 'first');
  t.equal(places[3]?.[1], null, 'at the front');
  t.equal(places[4]?.[1], places[1]?.[0], 'what was spoken comes last');
  client.leave();
});

t.test('conversation "none": no item, no conversation', async (t) => {
  const client = await connect();
  client.say('Out of band.');
  await client.next('conversation.item.done');
  const before = client.of('conversation.item.added').length;
  client.respond({ conversation: 'none' });
  const done = response(await client.next('response.done')) as { output: { id: string }[]; id: string };
  exactly(t, done, { status: 'completed', conversation_id: null });
  t.equal(client.of('conversation.item.added').length, before);
  t.equal(client.of('conversation.item.done').length, before);
  t.ok(client.audio(done.id).length > 0);
  client.send({ type: 'conversation.item.retrieve', item_id: done.output[0]?.id });
  exactly(t, await client.error(), { code: 'item_not_found' });
  client.leave();
});

t.test('one response at a time; a cancel ends it at once, and the next one may begin', async (t) => {
  const client = await connect();
  client.say(ENDLESS).respond();
  const { id } = response(await client.next('response.created'));
  await client.next('response.output_audio.delta');
  client.say('More.').respond(undefined, 'second');
  exactly(t, await client.error(), { code: 'response_already_active', event_id: 'second' });
  client.send({
    type: 'conversation.item.delete',
    item_id: item(client.of('response.output_item.added')[0]!).id,
  });
  exactly(t, await client.error(), { code: 'invalid_event' }, 'what is being spoken cannot be deleted');
  client.send({ type: 'response.cancel', response_id: 'another', event_id: 'c' });
  exactly(t, await client.error(), { code: 'response_cancel_not_active', event_id: 'c' });
  client.send({ type: 'response.cancel', response_id: id });
  const done = response(await client.next('response.done'));
  const at = client.types.lastIndexOf('response.done');
  t.strictSame(client.types.slice(at - 5, at + 1), [
    'response.output_audio.done',
    'response.output_audio_transcript.done',
    'response.content_part.done',
    'conversation.item.done',
    'response.output_item.done',
    'response.done',
  ]);
  exactly(t, done, {
    id,
    status: 'cancelled',
    status_details: { type: 'cancelled', reason: 'client_cancelled' },
    output: [{ status: 'incomplete', content: [{ type: 'output_audio', transcript: /^abcdefghi/ }] }],
  });
  const [{ content } = { content: [] }, ...more] = outputOf(done);
  t.strictSame([content.length, more], [1, []], 'one item of one part');
  client.send({ type: 'response.cancel' });
  exactly(t, await client.error(), { code: 'response_cancel_not_active' });
  client.respond();
  exactly(t, response(await client.next('response.done')), { status: 'completed' });
  t.equal(client.of('response.done').length, 2);
  exactly(t, client.of('response.output_audio_transcript.done').at(-1), { transcript: 'More.' });
  await until('its slot is free', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  client.leave();
});

t.test(
  'a response that fails: an error with the client’s event_id, and response.done; its text waits on',
  async (t) => {
    const client = await connect();
    client.say('Hello.').respond({ audio: { output: { voice: 'Alloy' } } }, 'mine');
    exactly(t, await client.error(), {
      code: 'invalid_voice',
      event_id: 'mine',
      message: 'Reference not found: no voice "Alloy"; GET /v1/audio/voices lists the voices',
    });
    const failed = response(await client.next('response.done'));
    exactly(t, failed, {
      status: 'failed',
      status_details: { type: 'failed', error: { code: 'invalid_voice', type: 'invalid_request_error' } },
    });
    t.strictSame(
      outputOf(failed).map(({ status }) => status),
      ['incomplete'],
    );
    client.respond();
    exactly(t, response(await client.next('response.done')), { status: 'completed' });
    exactly(t, client.of('response.output_audio_transcript.done').at(-1), { transcript: 'Hello.' });
    client.leave();
  },
);

t.test('native options of the handshake hold for speech, and refuse transcriptions', async (t) => {
  const speakWith = async (headers: Record<string, string>, fields: object = {}) => {
    const client = await connect({ headers: { ...gateway.authorization, ...headers } });
    client.update({ audio: { output: fields } });
    client.say('The same text, cut or not. And a second sentence of some length.').respond();
    await client.next('response.done');
    const size = client.audio().length;
    return { client, size };
  };
  const plain = await speakWith({});
  const whole = await speakWith({ 'X-Svc-Latency': 'normal' });
  t.ok(whole.size < plain.size, 'cut less often');
  const fast = await speakWith({ 'X-Svc-Prosody': '{"speed":2}' }, { speed: 1 });
  t.ok(fast.size < plain.size * 0.6, 'the header wins');
  const { client } = whole;
  client.append(Buffer.alloc(4800)).send({ type: 'input_audio_buffer.commit', event_id: 'commit' });
  exactly(t, await client.error(), { code: 'unsupported_native_options', event_id: 'commit' });
  const part = { type: 'input_audio', audio: 'AAAA' };
  client.send({ type: 'conversation.item.create', item: { role: 'user', content: [part] } });
  exactly(t, await client.error(), { code: 'unsupported_native_options' });
  for (const open of [plain.client, whole.client, fast.client]) open.leave();
});

t.test('a client that does not read holds its own synthesis back', async (t) => {
  const running = () => gauge(gateway, 'speech_jobs_running');
  await until('those before have left', async () => (await gauge(gateway, 'open_sockets')) === 0);
  await until('their jobs have ended', async () => (await running()) === 0);
  const client = await connect();
  client.say(ENDLESS).respond();
  await client.next('response.output_audio.delta');
  client.socket.pause();
  const queued = () => gauge(gateway, 'egress_queue_bytes');
  await until('its queue is full', async () => (await queued()) > LIMITS.http.egressBytes / 4);
  t.ok((await queued()) < 4 * LIMITS.http.egressBytes);
  t.equal(await running(), 1);
  const before = client.of('response.output_audio.delta').length;
  client.socket.resume();
  await until('it goes on', () => client.of('response.output_audio.delta').length > before + 500);
  client.leave();
  await until('the job ends with its client', async () => (await running()) === 0);
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
});
