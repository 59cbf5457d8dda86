/** Protocol A's realtime socket through a whole gateway (protocol-a.md section 5; decisions.md "Protocol A"). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { startGateway, TEST_KEY } from '../fixtures/gateway.js';
import { gauge } from '../fixtures/live.js';
import { type Handshake, RealtimeClient, type ServerEvent } from '../fixtures/realtime.js';
import { memoryOf } from '../fixtures/memory.js';
import { pick, seeded } from '../fixtures/random.js';
import { until } from '../fixtures/until.js';

t.setTimeout(300_000);

const gateway = await startGateway({ CONCURRENCY: '60' });
t.teardown(() => gateway.stop());

const OVERLOADED = 503;

/** A gateway that sheds load, as it may after the largest frames, is asked again. */
const connect = (handshake: Handshake = {}): Promise<RealtimeClient> =>
  until('the socket is open', async () => {
    const client = new RealtimeClient(gateway, handshake);
    return client.opened().catch((error: unknown) => {
      if (client.refusal?.status !== OVERLOADED) throw error;
      return undefined;
    });
  });
const HEARING: Handshake = { query: '?intent=transcription' };

/** Speech as a file, in the format asked for. */
async function speech(text: string, format = 'pcm', rate = 24_000): Promise<Buffer> {
  const response = await fetch(`${gateway.base}/compat/v1/audio/speech`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', input: text, response_format: format, sample_rate: rate }),
  });
  if (!response.ok) throw new Error(await response.text());
  return Buffer.from(await response.arrayBuffer());
}

/** What a transcriber hears in a file. */
async function heard(file: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('model', 'whisper-1');
  form.set('file', new Blob([file]), 'audio');
  const response = await fetch(`${gateway.base}/compat/v1/audio/transcriptions`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  return ((await response.json()) as { text: string }).text;
}

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
const ENDLESS = 'abcdefghi '.repeat(50_000);
const item = (event: ServerEvent) => event['item'] as Record<string, unknown> & { id: string };
const response = (event: ServerEvent) => event['response'] as Record<string, unknown> & { id: string };
const session = (event: ServerEvent) => event['session'] as Record<string, unknown>;
const format = (type: string, rate?: number) => ({
  audio: { input: { format: { type, rate } }, output: { format: { type, rate } } },
});

t.test('all three bases, and each way to bring the key', async (t) => {
  for (const base of ['/compat/v1', '/compat/api/v1', '/compat/openai/v1']) {
    const client = await connect({ base });
    t.match(await client.next('session.created'), { session: { type: 'realtime' } }, base);
    client.leave();
  }
  const none = {};
  const byQuery = await connect({ headers: none, query: `?api_key=${TEST_KEY}&model=svc%2Fs2-pro` });
  t.match(await byQuery.next('session.created'), { session: { model: 'svc/s2-pro' } });
  t.equal(byQuery.socket.protocol, '', 'none is answered where none was offered');
  const protocols = ['realtime', `openai-insecure-api-key.${TEST_KEY}`, 'openai-agents-sdk.0.20.0'];
  const byProtocol = await connect({ headers: none, protocols });
  await byProtocol.next('session.created');
  t.equal(byProtocol.socket.protocol, 'realtime');
  for (const client of [byQuery, byProtocol]) client.leave();
});

t.test('a missing or wrong key refuses the upgrade in this protocol’s shape', async (t) => {
  const cases: [Handshake, string][] = [
    [{ headers: {} }, 'authentication_error'],
    [{ headers: { authorization: 'Bearer wrong' } }, 'provider_error'],
    [{ headers: {}, query: '?api_key=wrong' }, 'provider_error'],
    [{ headers: {}, protocols: ['realtime', 'openai-insecure-api-key.wrong'] }, 'provider_error'],
    [{ headers: {}, protocols: ['realtime', 'openai-insecure-api-key.ek_wrong'] }, 'provider_error'],
  ];
  for (const [handshake, type] of cases) {
    const client = new RealtimeClient(gateway, handshake);
    const { status, body } = await until('the refusal', () => client.refusal);
    t.equal(status, 401);
    t.match(JSON.parse(body), { error: { code: 401, type } });
  }
});

t.test('what else is wrong with a handshake is said in band, then 1008', async (t) => {
  const cases: [Handshake, object][] = [
    [{ query: '?model=gpt-realtime' }, { code: 'model_not_found', param: 'model' }],
    [{ query: '?intent=transcription&model=nothing' }, { code: 'model_not_found', param: 'model.model' }],
    [
      { headers: { ...gateway.authorization, 'X-Svc-Temperature': '7' } },
      { code: 'invalid_event', param: 'X-Svc-Temperature' },
    ],
  ];
  for (const [handshake, error] of cases) {
    const client = await connect(handshake);
    t.match(await client.error(), { type: 'invalid_request_error', event_id: null, ...error });
    t.equal(await client.closed(), 1008);
    t.equal(client.events.length, 1);
  }
});

t.test('a short-lived key opens the session that it was made for, one socket at a time', async (t) => {
  const response = await fetch(`${gateway.base}/compat/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', audio: { output: { speed: 2 } } } }),
  });
  const { value } = (await response.json()) as { value: string };
  const handshake = { headers: {}, protocols: ['realtime', `openai-insecure-api-key.${value}`] };
  const first = await connect(handshake);
  t.match(await first.next('session.created'), { session: { audio: { output: { speed: 2 } } } });
  const second = new RealtimeClient(gateway, handshake);
  t.teardown(() => [first, second].forEach((client) => client.leave()));
  const answer = () => second.refusal?.status ?? (second.types.length > 0 ? 101 : undefined);
  t.equal(await until('an answer', answer), 401);
  first.leave();
  const third = await until('it is free again', async () => {
    const client = new RealtimeClient(gateway, handshake);
    return client.opened().catch(() => undefined);
  });
  await third.next('session.created');
  third.leave();
});

t.test('the kind of a session is settled by intent, else by the model', async (t) => {
  const kinds: [string, string, string?][] = [
    ['', 'realtime'],
    ['?model=tts-1', 'realtime'],
    ['?intent=transcription', 'transcription', 'svc/transcribe-1'],
    ['?model=svc%2Ftranscribe-1', 'transcription', 'svc/transcribe-1'],
    ['?model=whisper-1', 'transcription', 'whisper-1'],
    ['?model=svc%2Fs2.1-pro&intent=transcription', 'transcription', 'svc/transcribe-1'],
  ];
  for (const [query, type, model] of kinds) {
    const client = await connect({ query });
    const shown = session(await client.next('session.created'));
    t.equal(shown['type'], type, query);
    const object = type === 'realtime' ? 'realtime.session' : 'realtime.transcription_session';
    t.match(shown, { id: /^sess_/, object, expires_at: Number });
    if (model) t.match(shown, { audio: { input: { transcription: { model } } } });
    client.leave();
  }
});

t.test(
  'session.update changes what it names, all or nothing, and answers with the whole session',
  async (t) => {
    const client = await connect();
    t.match(session(await client.next('session.created')), {
      model: 'svc/s2.1-pro',
      output_modalities: ['audio'],
      audio: {
        input: { format: { type: 'audio/pcm', rate: 24_000 }, turn_detection: null },
        output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'default', speed: 1 },
      },
    });
    client.update({
      type: 'realtime',
      model: 'gpt-4o-mini-tts',
      instructions: 'ignored',
      tracing: 'auto',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 16_000 },
          turn_detection: { type: 'none' },
          noise_reduction: { type: 'near_field' },
          transcription: { model: 'whisper-1', language: 'en', prompt: 'ignored' },
        },
        output: { format: 'mp3', voice: { id: 'alloy' }, speed: 1.5 },
      },
    });
    const changed = {
      model: 'gpt-4o-mini-tts',
      tracing: null,
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 16_000 },
          transcription: { model: 'whisper-1', language: 'en' },
          turn_detection: null,
        },
        output: { format: { type: 'audio/mp3', rate: 44_100 }, voice: 'alloy', speed: 1.5 },
      },
    };
    t.match(session(await client.next('session.updated')), changed);
    client.update({ audio: { input: { turn_detection: null }, output: { voice: 'x', speed: 9 } } });
    t.match(await client.error(), { code: 'invalid_speed', param: 'session.audio.output.speed' });
    client.update({});
    t.match(session(await client.next('session.updated')), changed, 'nothing had changed');
    client.update({
      audio: { input: { format: { type: 'audio/pcm' }, transcription: null }, output: { voice: '' } },
    });
    const { audio } = session(await client.next('session.updated')) as { audio: Record<string, object> };
    t.match(audio, { input: { format: { type: 'audio/pcm', rate: 24_000 } }, output: { voice: 'default' } });
    t.notOk('transcription' in (audio['input'] ?? {}), 'null turns it off');
    client.leave();
  },
);

t.test('each refusal and each mistake: an error with its code and the event’s own id', async (t) => {
  const client = await connect();
  const update = (audio: object) => ({ type: 'session.update', session: { type: 'realtime', audio } });
  const output = (fields: object) => update({ output: fields });
  const created = (item: unknown, fields: object = {}) => ({
    type: 'conversation.item.create',
    item,
    ...fields,
  });
  const content = (role: string, ...parts: unknown[]) => created({ type: 'message', role, content: parts });
  const input = (...items: unknown[]) => ({ type: 'response.create', response: { input: items } });
  const text = { type: 'input_text', text: 'a' };
  const cases: [string, object][] = [
    ['unsupported_audio_format', output({ format: { type: 'audio/pcmu' } })],
    ['unsupported_audio_format', output({ format: { type: 'audio/pcma' } })],
    ['unsupported_audio_format', update({ input: { format: 'g711_ulaw' } })],
    ['unsupported_audio_format', output({ format: { type: 'audio/aac' } })],
    ['unsupported_audio_format', output({ format: { type: 'audio/pcm', rate: 22_050 } })],
    ['unsupported_audio_format', output({ format: { type: 'audio/pcm', rate: 48_000 } })],
    ['unsupported_audio_format', output({ format: { type: 'audio/opus', rate: 24_000 } })],
    ['unsupported_audio_format', output({ format: 7 })],
    ['unsupported_turn_detection', update({ input: { turn_detection: { type: 'server_vad' } } })],
    ['unsupported_turn_detection', update({ input: { turn_detection: { type: 'semantic_vad' } } })],
    ['unsupported_output_modalities', { type: 'session.update', session: { output_modalities: ['text'] } }],
    ['unsupported_output_modalities', { type: 'response.create', response: { output_modalities: [] } }],
    ['invalid_speed', output({ speed: 0.2 })],
    ['invalid_speed', output({ speed: 4.1 })],
    ['invalid_speed', output({ speed: '1' })],
    ['invalid_voice', output({ voice: 'v'.repeat(200) })],
    ['invalid_voice', output({ voice: 7 })],
    ['model_not_found', { type: 'session.update', session: { model: 'gpt-realtime' } }],
    ['model_not_found', { type: 'session.update', session: { model: 'whisper-1' } }],
    ['model_not_found', update({ input: { transcription: { model: 'tts-1' } } })],
    ['invalid_event', { type: 'session.update', session: { type: 'transcription' } }],
    ['invalid_event', { type: 'session.update' }],
    ['invalid_event', { type: 'session.update', session: { audio: [] } }],
    ['input_audio_buffer_commit_empty', { type: 'input_audio_buffer.commit' }],
    ['invalid_event', { type: 'input_audio_buffer.append' }],
    ['invalid_event', { type: 'input_audio_buffer.append', audio: 7 }],
    ['invalid_event', { type: 'input_audio_buffer.append', audio: 'A' }],
    ['invalid_event', { type: 'input_audio_buffer.append', audio: '%%%%' }],
    ['response_cancel_not_active', { type: 'response.cancel' }],
    ['item_not_found', { type: 'conversation.item.retrieve', item_id: 'nothing' }],
    ['item_not_found', { type: 'conversation.item.delete', item_id: 'nothing' }],
    ['item_not_found', { type: 'conversation.item.truncate', item_id: 'nothing', content_index: 0 }],
    ['invalid_event', { type: 'conversation.item.retrieve' }],
    ['item_not_found', { ...content('user', text), previous_item_id: 'nothing' }],
    ['item_not_found', input({ type: 'item_reference', id: 'nothing' })],
    ['invalid_event', input({ type: 'message', role: 'user', content: [] })],
    ['invalid_event', { type: 'response.create', response: { input: 'text' } }],
    ['invalid_event', { type: 'response.create' }],
    ['invalid_event', { type: 'response.create', response: 7 }],
    ['invalid_event', { type: 'response.create', response: { input: [], metadata: { a: 1 } } }],
    ['invalid_event', created(undefined)],
    ['invalid_event', created([])],
    ['invalid_event', created({ type: 'function_call_output', call_id: 'a', output: 'b' })],
    ['invalid_event', content('user')],
    ['invalid_event', content('nobody', text)],
    ['invalid_event', content('user', { type: 'output_text', text: 'a' })],
    ['invalid_event', content('assistant', text)],
    ['invalid_event', content('user', { type: 'audio', audio: 'AAAA' })],
    ['invalid_event', content('user', { type: 'input_image', image_url: 'x' })],
    ['invalid_event', content('user', { type: 'input_text' })],
    ['invalid_event', content('user', { type: 'input_audio' })],
    ['invalid_event', content('user', { type: 'input_audio', audio: '%' })],
    ['unknown_event_type', { type: 'transcription_session.update', session: {} }],
    ['unknown_event_type', { type: 'output_audio_buffer.clear' }],
    ['unknown_event_type', { type: 'constructor' }],
    ['invalid_event', { event: 'session.update' }],
  ];
  for (const [index, [code, event]] of cases.entries()) {
    client.send({ ...event, event_id: `mine-${index}` });
    const error = await client.error();
    const told = { type: 'invalid_request_error', code, message: String };
    const eventId = 'type' in event ? `mine-${index}` : null;
    t.match(error, { ...told, event_id: eventId }, JSON.stringify(event));
  }
  for (const frame of [
    '',
    'no json',
    '[]',
    'null',
    '7',
    '{"type":7}',
    '"session.update"',
    '[['.repeat(40_000),
  ]) {
    client.socket.send(frame);
    t.match(await client.error(), { code: 'invalid_event', event_id: null }, frame.slice(0, 20));
  }
  t.equal(client.of('session.updated').length, 0);
  client.socket.send(Buffer.from('{"type":"session.update","session":{}}'));
  await client.next('session.updated');
  client.leave();
});

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
  t.match(added, {
    previous_item_id: null,
    item: { type: 'message', role: 'user', status: 'completed', content: [{ type: 'input_text', text }] },
  });
  t.match(spoken, {
    previous_item_id: item(added!).id,
    item: { role: 'assistant', status: 'in_progress', content: [] },
  });
  const created = client.of('response.created')[0]!;
  const place = {
    response_id: response(created).id,
    item_id: item(spoken!).id,
    output_index: 0,
    content_index: 0,
  };
  for (const event of client.events.filter(({ type }) => /content_part|output_audio/.test(type)))
    t.match(event, place, event.type);
  t.match(created, {
    response: {
      object: 'realtime.response',
      status: 'in_progress',
      output: [],
      conversation_id: /^conv_/,
      output_modalities: ['audio'],
      audio: { output: { format: { type: 'audio/pcm', rate: 24_000 }, voice: 'default' } },
      metadata: { mine: '1' },
    },
  });
  t.match(client.of('response.done')[0], {
    response: {
      id: response(created).id,
      status: 'completed',
      output: [
        { id: item(spoken!).id, status: 'completed', content: [{ type: 'output_audio', transcript: text }] },
      ],
      usage: { input_tokens: 11, total_tokens: Number, output_token_details: { audio_tokens: Number } },
    },
  });
  t.match(client.of('response.content_part.done')[0], { part: { type: 'audio', transcript: text } });
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
    t.match(response(await client.next('response.created')), {
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
  t.match(created, own);
  await client.next('response.done');
  t.equal(client.audio(created.id).toString('latin1', 0, 4), 'RIFF');
  client.say('Two.').respond();
  t.match(response(await client.next('response.created')), { audio: { output: { voice: 'default' } } });
  client.leave();
});

t.test('speed', async (t) => {
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
  t.match(await client.error(), { code: 'invalid_event', event_id: 'again' }, 'nothing is left to say');
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
  t.match(done, { status: 'completed', conversation_id: null });
  t.equal(client.of('conversation.item.added').length, before);
  t.equal(client.of('conversation.item.done').length, before);
  t.ok(client.audio(done.id).length > 0);
  client.send({ type: 'conversation.item.retrieve', item_id: done.output[0]?.id });
  t.match(await client.error(), { code: 'item_not_found' });
  client.leave();
});

t.test('one response at a time; a cancel ends it at once, and the next one may begin', async (t) => {
  const client = await connect();
  client.say(ENDLESS).respond();
  const { id } = response(await client.next('response.created'));
  await client.next('response.output_audio.delta');
  client.say('More.').respond(undefined, 'second');
  t.match(await client.error(), { code: 'response_already_active', event_id: 'second' });
  client.send({
    type: 'conversation.item.delete',
    item_id: item(client.of('response.output_item.added')[0]!).id,
  });
  t.match(await client.error(), { code: 'invalid_event' }, 'what is being spoken cannot be deleted');
  client.send({ type: 'response.cancel', response_id: 'another', event_id: 'c' });
  t.match(await client.error(), { code: 'response_cancel_not_active', event_id: 'c' });
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
  t.match(done, {
    id,
    status: 'cancelled',
    status_details: { type: 'cancelled', reason: 'client_cancelled' },
    output: [{ status: 'incomplete', content: [{ type: 'output_audio', transcript: /^abcdefghi/ }] }],
  });
  client.send({ type: 'response.cancel' });
  t.match(await client.error(), { code: 'response_cancel_not_active' });
  client.respond();
  t.match(response(await client.next('response.done')), { status: 'completed' });
  t.equal(client.of('response.done').length, 2);
  t.match(client.of('response.output_audio_transcript.done').at(-1), { transcript: 'More.' });
  await until('its slot is free', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  client.leave();
});

t.test(
  'a response that fails: an error with the client’s event_id, and response.done; its text waits on',
  async (t) => {
    const client = await connect();
    client.say('Hello.').respond({ audio: { output: { voice: 'Alloy' } } }, 'mine');
    t.match(await client.error(), {
      code: 'invalid_voice',
      event_id: 'mine',
      message: 'Reference not found',
    });
    t.match(response(await client.next('response.done')), {
      status: 'failed',
      status_details: { type: 'failed', error: { code: 'invalid_voice', type: 'invalid_request_error' } },
      output: [{ status: 'incomplete' }],
    });
    client.respond();
    t.match(response(await client.next('response.done')), { status: 'completed' });
    t.match(client.of('response.output_audio_transcript.done').at(-1), { transcript: 'Hello.' });
    client.leave();
  },
);

t.test('speech to text: the order of events, overlapping commits told apart by their items', async (t) => {
  const client = await connect(HEARING);
  const texts = Array.from({ length: 8 }, (_, index) => `Commit number ${index}. It has two sentences.`);
  const spoken = await Promise.all(texts.map((text) => speech(text)));
  for (const audio of spoken) client.append(audio.subarray(0, 7001)).append(audio.subarray(7001)).commit();
  await until('all are transcribed', () => client.of(`${TRANSCRIPTION}.completed`).length === texts.length);
  const committed = client.of('input_audio_buffer.committed');
  t.equal(committed[0]?.['previous_item_id'], null);
  for (const [index, event] of committed.entries()) {
    const { item_id: id } = event;
    if (index > 0) t.equal(event['previous_item_id'], committed[index - 1]?.['item_id']);
    const own = client.events.filter(
      (other) => other['item_id'] === id || (other['item'] as { id?: string } | undefined)?.id === id,
    );
    const deltas = own.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => delta);
    t.strictSame(
      own.map(({ type }) => type).filter((type, at, types) => types[at - 1] !== type),
      [
        'input_audio_buffer.committed',
        'conversation.item.added',
        'conversation.item.done',
        `${TRANSCRIPTION}.delta`,
        `${TRANSCRIPTION}.completed`,
      ],
    );
    t.equal(deltas.length, 2, 'one a segment');
    t.equal(deltas.join(''), texts[index]);
    t.match(own.at(-1), {
      content_index: 0,
      transcript: texts[index],
      usage: { type: 'duration', seconds: Number },
    });
  }
  t.match(client.of('conversation.item.added')[0], {
    item: { role: 'user', content: [{ type: 'input_audio', transcript: null }] },
  });
  client.respond();
  t.match(await client.error(), { code: 'invalid_event' }, 'it does not speak');
  client.leave();
});

t.test('clear drops what waits; the next commit holds what came after', async (t) => {
  const client = await connect();
  client.append(await speech('Dropped.')).send({ type: 'input_audio_buffer.clear' });
  await client.next('input_audio_buffer.cleared');
  client.append(await speech('Kept.'));
  client.update(format('audio/pcm', 8000));
  t.match(await client.error(), { code: 'unsupported_audio_format' }, 'not while audio waits');
  client.commit();
  t.equal((await client.next(`${TRANSCRIPTION}.completed`))['transcript'], 'Kept.');
  client.leave();
});

t.test('without transcription a commit makes an item and no more', async (t) => {
  const client = await connect();
  const audio = await speech('Unheard.');
  client
    .update({ audio: { input: { transcription: null } } })
    .append(audio)
    .commit();
  const { id } = item(await client.next('conversation.item.done'));
  client.send({ type: 'conversation.item.retrieve', item_id: id });
  const retrieved = item(await client.next('conversation.item.retrieved'));
  t.match(retrieved, { content: [{ transcript: null, audio: audio.toString('base64') }] });
  client.leave();
});

t.test(
  'items: audio that is created is transcribed; retrieve answers with bytes; delete; truncate',
  async (t) => {
    const client = await connect();
    const audio = await speech('An item of its own.');
    const part = { type: 'input_audio', audio: audio.toString('base64') };
    client.send({ type: 'conversation.item.create', item: { id: 'heard', role: 'user', content: [part] } });
    t.match(await client.next('conversation.item.added'), {
      item: { id: 'heard', content: [{ transcript: null }] },
    });
    t.match(await client.next(`${TRANSCRIPTION}.completed`), {
      item_id: 'heard',
      transcript: 'An item of its own.',
    });
    const retrieve = async (id: unknown) => {
      client.send({ type: 'conversation.item.retrieve', item_id: id });
      return item(await client.next('conversation.item.retrieved')) as unknown as {
        content: Record<string, string>[];
      };
    };
    t.strictSame((await retrieve('heard')).content, [
      { type: 'input_audio', transcript: 'An item of its own.', audio: part.audio },
    ]);
    client.send({ type: 'conversation.item.create', item: { id: 'heard', role: 'user', content: [part] } });
    t.match(await client.error(), { code: 'invalid_event', param: 'item.id' }, 'an id stands for one item');
    const told = { type: 'input_audio', transcript: 'Known already.', audio: part.audio };
    client.send({ type: 'conversation.item.create', item: { id: 'known', role: 'user', content: [told] } });
    client.say('Spoken to be cut.').respond();
    const spoken = (response(await client.next('response.done')) as unknown as { output: { id: string }[] })
      .output[0]!.id;
    const whole = (await retrieve(spoken)).content[0];
    t.equal(whole?.['audio'], client.audio().toString('base64'));
    client.send({ type: 'conversation.item.truncate', item_id: spoken, content_index: 0, audio_end_ms: 100 });
    t.match(await client.next('conversation.item.truncated'), {
      item_id: spoken,
      content_index: 0,
      audio_end_ms: 100,
    });
    const cut = (await retrieve(spoken)).content[0];
    t.strictSame(cut, { type: 'output_audio', audio: client.audio().subarray(0, 4800).toString('base64') });
    for (const id of ['heard', 'known', spoken]) {
      client.send({ type: 'conversation.item.delete', item_id: id });
      t.match(await client.next('conversation.item.deleted'), { item_id: id });
      client.send({ type: 'conversation.item.retrieve', item_id: id });
      t.match(await client.error(), { code: 'item_not_found', param: 'item_id' });
    }
    t.equal(client.of(`${TRANSCRIPTION}.completed`).length, 1, 'what has a transcript is not transcribed');
    client.send({ type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: -1 });
    t.match(await client.error(), { code: 'item_not_found' });
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
  t.match(await client.error(), { code: 'unsupported_native_options', event_id: 'commit' });
  const part = { type: 'input_audio', audio: 'AAAA' };
  client.send({ type: 'conversation.item.create', item: { role: 'user', content: [part] } });
  t.match(await client.error(), { code: 'unsupported_native_options' });
  for (const open of [plain.client, whole.client, fast.client]) open.leave();
});

t.test('limits: text of an item, text of a response, pending items', async (t) => {
  const client = await connect();
  const most = 'a'.repeat(LIMITS.realtime.itemTextBytes);
  client.say(`${most}b`);
  t.match(await client.error(), { code: 'conversation_too_large' });
  client.say(most);
  await client.next('conversation.item.done');
  client.say('One more.').respond();
  t.match(await client.error(), { code: 'conversation_too_large', param: 'response.input' });
  for (let index = 2; index < LIMITS.realtime.pendingItems; index += 1) client.say(`Item ${index}.`);
  await until(
    'all are taken',
    () => client.of('conversation.item.done').length === LIMITS.realtime.pendingItems,
  );
  client.say('Too much.');
  t.match(await client.error(), { code: 'conversation_too_large' });
  client.append(Buffer.alloc(4800)).commit();
  t.match(await client.error(), { code: 'conversation_too_large' }, 'audio counts among the pending');
  const [first] = client.of('conversation.item.added');
  client.send({ type: 'conversation.item.delete', item_id: item(first!).id });
  await client.next('conversation.item.deleted');
  client.say('Room again.');
  await client.next('conversation.item.done');
  client.leave();
});

t.test('limits: 100 MiB of audio in buffer and items together; what does not fit is dropped', async (t) => {
  const client = await connect();
  const MiB = 2 ** 20;
  const piece = Buffer.alloc(20 * MiB);
  for (let index = 0; index < 4; index += 1) client.append(piece);
  client.append(Buffer.alloc(20 * MiB - 1));
  const audio = (bytes: number) => ({
    type: 'conversation.item.create',
    item: { role: 'user', content: [{ type: 'input_audio', audio: Buffer.alloc(bytes).toString('base64') }] },
  });
  client.send(audio(2));
  t.match(await client.error(), { code: 'conversation_too_large' });
  client.append(Buffer.alloc(2));
  t.match(await client.error(), { code: 'conversation_too_large', param: 'audio' });
  client.append(Buffer.alloc(1)).append(Buffer.alloc(1));
  t.match(await client.error(), { code: 'conversation_too_large' });
  client.send({ type: 'input_audio_buffer.clear' });
  await client.next('input_audio_buffer.cleared');
  client.append(Buffer.alloc(2)).commit();
  t.match(await client.next(`${TRANSCRIPTION}.completed`), { transcript: '' });
  client.leave();
});

t.test('a frame over 32 MiB closes with 1009', async (t) => {
  const client = await connect();
  client.socket.send('x'.repeat(LIMITS.socket.frameBytes + 1));
  t.equal(await client.closed(), 1009);
});

/** Anything that JSON carries, a few levels deep. */
function anything(random: () => number, depth = 0): unknown {
  const leaves: [unknown, ...unknown[]] = [
    null,
    true,
    -1,
    1e300,
    0.1,
    '',
    'AAAA',
    'root',
    'one',
    'audio/pcm',
    '\u0000\ud800',
    'x'.repeat(2000),
  ];
  if (depth > 4 || random() < 0.4) return pick(random, leaves);
  const members = Array.from({ length: Math.floor(random() * 6) }, () => anything(random, depth + 1));
  if (random() < 0.5) return members;
  return Object.fromEntries(members.map((member) => [pick(random, NAMES), member]));
}

const NAMES = [
  'type',
  'session',
  'audio',
  'input',
  'output',
  'format',
  'rate',
  'voice',
  'speed',
  'turn_detection',
  'transcription',
  'model',
  'item',
  'id',
  'item_id',
  'role',
  'content',
  'text',
  'transcript',
  'response',
  'previous_item_id',
  'event_id',
  'metadata',
  'conversation',
  'content_index',
  'audio_end_ms',
  '__proto__',
] as const;
const TYPES = [
  'session.update',
  'conversation.item.create',
  'conversation.item.retrieve',
  'conversation.item.delete',
  'conversation.item.truncate',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'response.create',
  'response.cancel',
] as const;

/** An event that is sound but for one member, most of the time. */
function nearly(random: () => number): object {
  const message = {
    id: pick(random, ['one', 'two', 'three']),
    type: 'message',
    role: pick(random, ['user', 'user', 'assistant', 'system']),
    content: [
      pick(random, [
        { type: 'input_text', text: 'a b. ' },
        { type: 'input_audio', audio: 'AAAAAAAA' },
      ]),
    ],
  };
  const event: Record<string, unknown> = {
    type: pick(random, TYPES),
    event_id: 'e',
    session: { audio: { input: { format: pick(random, ['audio/pcm', 'audio/wav']) }, output: { speed: 2 } } },
    item: message,
    item_id: pick(random, ['one', 'two', 'three']),
    audio: pick(random, ['AAAA', 'AAA=', 'AA', 'A', '%', 'data:audio/wav;base64,AAAA']),
    response: pick<object>(random, [
      {},
      { input: [message] },
      { input: [{ type: 'item_reference', id: 'one' }] },
    ]),
    content_index: 0,
    audio_end_ms: 10,
  };
  if (random() < 0.3) event[pick(random, NAMES)] = anything(random);
  return event;
}

function fuzzed(random: () => number): string | Uint8Array {
  const frames: [() => string | Uint8Array, ...(() => string | Uint8Array)[]] = [
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify({ type: pick(random, TYPES), ...(anything(random) as object) }),
    () => JSON.stringify(anything(random)),
    () => Buffer.from(JSON.stringify(nearly(random))),
    () => Uint8Array.from({ length: Math.floor(random() * 400) }, () => Math.floor(random() * 256)),
    () => '{"type":'.repeat(Math.floor(random() * 3000)),
    () => `{"type":"input_audio_buffer.append","audio":"${'/+8='.repeat(Math.floor(random() * 30_000))}"}`,
    () => `{"type":"session.update","session":${'['.repeat(9000)}${']'.repeat(9000)}}`,
  ];
  const frame = pick(random, frames)();
  return random() < 0.1 ? frame.slice(0, Math.floor(random() * frame.length)) : frame;
}

t.test('random frames never end a session, crash or leak', async (t) => {
  const random = seeded(11);
  const before = memoryOf(gateway.pid);
  for (let round = 0; round < 4; round += 1) {
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => connect(random() < 0.3 ? HEARING : {})),
    );
    for (const client of clients) {
      for (let frame = 0; frame < 60; frame += 1) client.socket.send(fuzzed(random));
      client.send({ type: 'the end', event_id: 'last' });
    }
    for (const client of clients) {
      const isLast = (event: ServerEvent) => (event['error'] as { event_id?: string }).event_id === 'last';
      await until('the last is answered', () => client.closeCode || client.of('error').some(isLast));
      t.equal(client.closeCode, undefined);
      t.ok(client.of('error').length > 5);
      client.leave();
    }
  }
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
  await until('no job is left', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  t.ok(memoryOf(gateway.pid) - before < 300 * 2 ** 20);
  const client = await connect();
  client.say('Still here.').respond();
  t.match(response(await client.next('response.done')), { status: 'completed' });
  client.leave();
});

t.test('a client that does not read holds its own synthesis back', async (t) => {
  const client = await connect();
  client.say(ENDLESS).respond();
  await client.next('response.output_audio.delta');
  client.socket.pause();
  const queued = () => gauge(gateway, 'egress_queue_bytes');
  await until('its queue is full', async () => (await queued()) > LIMITS.http.egressBytes / 4);
  t.ok((await queued()) < 4 * LIMITS.http.egressBytes);
  t.equal(await gauge(gateway, 'speech_jobs_running'), 1);
  const before = client.of('response.output_audio.delta').length;
  client.socket.resume();
  await until('it goes on', () => client.of('response.output_audio.delta').length > before + 500);
  client.leave();
  await until(
    'the job ends with its client',
    async () => (await gauge(gateway, 'speech_jobs_running')) === 0,
  );
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
});
