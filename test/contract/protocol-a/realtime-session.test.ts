/**
 * Protocol A's realtime sessions through a whole gateway: handshakes, keys, settings, and reports of mistakes
 * (docs/contract/protocol-a.md 5; docs/contract/decisions.md "Protocol A").
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { realtime, response, session } from '../../fixtures/protocol-a/realtime-events.js';
import { type Handshake, RealtimeClient } from '../../fixtures/protocol-a/realtime-client.js';
import { until } from '../../fixtures/until.js';

const gateway = await sharedGateway(t);

const { connect } = realtime(gateway);

t.test('all three bases, and each way to bring the key', async (t) => {
  for (const base of ['/compat/v1', '/compat/api/v1', '/compat/openai/v1']) {
    const client = await connect({ base });
    exactly(t, await client.next('session.created'), { session: { type: 'realtime' } }, base);
    client.leave();
  }
  const none = {};
  const byQuery = await connect({ headers: none, query: `?api_key=${TEST_KEY}&model=svc%2Fs2-pro` });
  exactly(t, await byQuery.next('session.created'), { session: { model: 'svc/s2-pro' } });
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
    exactly(t, JSON.parse(body), { error: { code: 401, type } });
  }
});

t.test('other faults of a handshake are reported in band, then 1008', async (t) => {
  const cases: [Handshake, object][] = [
    [{ query: '?model=gpt-4o' }, { code: 'model_not_found', param: 'model' }],
    [{ query: '?intent=transcription&model=nothing' }, { code: 'model_not_found', param: 'model.model' }],
    [
      { headers: { ...gateway.authorization, 'X-Svc-Temperature': '7' } },
      { code: 'invalid_event', param: 'X-Svc-Temperature' },
    ],
  ];
  for (const [handshake, error] of cases) {
    const client = await connect(handshake);
    exactly(t, await client.error(), { type: 'invalid_request_error', event_id: null, ...error });
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
  exactly(t, await first.next('session.created'), { session: { audio: { output: { speed: 2 } } } });
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
    exactly(t, shown, { id: /^sess_/, object, expires_at: Number });
    if (model) exactly(t, shown, { audio: { input: { transcription: { model } } } });
    client.leave();
  }
});

t.test(
  'session.update changes what it names, all or nothing, and answers with the whole session',
  async (t) => {
    const client = await connect();
    exactly(t, session(await client.next('session.created')), {
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
          transcription: { model: 'whisper-1', language: 'en' },
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
    exactly(t, session(await client.next('session.updated')), changed);
    client.update({ audio: { input: { turn_detection: null }, output: { voice: 'x', speed: 9 } } });
    exactly(t, await client.error(), { code: 'invalid_speed', param: 'session.audio.output.speed' });
    client.update({});
    exactly(t, session(await client.next('session.updated')), changed, 'nothing had changed');
    const heard = async (transcription: object) => {
      client.update({ audio: { input: { transcription } } });
      const { audio } = session(await client.next('session.updated')) as {
        audio: { input: { transcription?: object } };
      };
      return audio.input.transcription;
    };
    t.strictSame(await heard({ language: 'de' }), { model: 'whisper-1', language: 'de' });
    t.strictSame(await heard({ model: 'gpt-4o-transcribe' }), { model: 'gpt-4o-transcribe', language: 'de' });
    t.strictSame(await heard({ language: null }), { model: 'gpt-4o-transcribe' });
    client.update({
      audio: { input: { format: { type: 'audio/pcm' }, transcription: null }, output: { voice: '' } },
    });
    const { audio } = session(await client.next('session.updated')) as { audio: { input: object } };
    exactly(t, audio, {
      input: { format: { type: 'audio/pcm', rate: 24_000 } },
      output: { voice: 'default' },
    });
    t.notOk('transcription' in audio.input, 'null turns it off');
    client.leave();
  },
);

t.test('the flat shape of session.update is read as its places of today', async (t) => {
  const client = await connect();
  client.update({
    voice: 'alloy',
    speed: 1.5,
    modalities: ['audio', 'text'],
    input_audio_format: 'pcm16',
    output_audio_format: 'audio/mp3',
    turn_detection: null,
    input_audio_transcription: { model: 'whisper-1', language: 'de' },
  });
  const changed = {
    output_modalities: ['audio', 'text'],
    audio: {
      input: {
        format: { type: 'audio/pcm', rate: 24_000 },
        transcription: { model: 'whisper-1', language: 'de' },
        turn_detection: null,
      },
      output: { format: { type: 'audio/mp3', rate: 44_100 }, voice: 'alloy', speed: 1.5 },
    },
  };
  exactly(t, session(await client.next('session.updated')), changed);
  const refusals: [string, object, string?][] = [
    ['unsupported_audio_format', { input_audio_format: 'g711_ulaw' }, 'session.input_audio_format'],
    ['unsupported_audio_format', { output_audio_format: 'g711_alaw' }, 'session.output_audio_format'],
    ['unsupported_turn_detection', { turn_detection: { type: 'server_vad' } }, 'session.turn_detection'],
    ['unsupported_output_modalities', { modalities: ['text'] }, 'session.modalities'],
    ['invalid_speed', { speed: 9 }, 'session.speed'],
    ['invalid_voice', { voice: 7 }, 'session.voice'],
    ['model_not_found', { input_audio_transcription: { model: 'tts-1' } }],
  ];
  for (const [code, fields, param] of refusals) {
    client.update({ voice: 'default', ...fields });
    exactly(t, await client.error(), { code, ...(param && { param }) });
  }
  client.update({ speed: 3, audio: { output: { speed: 2 } } });
  const both = { audio: { output: { ...changed.audio.output, speed: 2 } } };
  exactly(
    t,
    session(await client.next('session.updated')),
    both,
    'today’s place wins; refusals changed nothing',
  );
  client.leave();
});

t.test('options of a transcription that have no effect are shown as they were set', async (t) => {
  const client = await connect();
  const heard = async (transcription: object) => {
    client.update({ audio: { input: { transcription } } });
    const { audio } = session(await client.next('session.updated')) as {
      audio: { input: { transcription?: object } };
    };
    return audio.input.transcription;
  };
  const shown = { delay: 'low', languages: ['en', 'de'], keywords: ['Zürich'] };
  const model = 'whisper-1';
  t.strictSame(await heard({ model, ...shown }), { model, ...shown });
  t.strictSame(await heard({ language: 'de' }), { model, language: 'de', ...shown }, 'absent ones stay');
  t.strictSame(await heard({ language: null, keywords: null, languages: [] }), { model, delay: 'low' });
  t.strictSame(await heard({ keywords: ['x'.repeat(20_000)] }), { model, delay: 'low' }, 'what is too long');
  client.leave();
});

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
    ['invalid_voice', output({ voice: 'Alloy' })],
    ['invalid_voice', output({ voice: { id: 'f'.repeat(32) } })],
    ['model_not_found', { type: 'session.update', session: { model: 'gpt-4o' } }],
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
    ['invalid_event', { type: 7 }],
    ['invalid_event', { type: ['response.cancel'] }],
  ];
  for (const [index, [code, event]] of cases.entries()) {
    client.send({ ...event, event_id: `mine-${index}` });
    const error = await client.error();
    const told = { type: 'invalid_request_error', code, message: String };
    exactly(t, error, { ...told, event_id: `mine-${index}` }, JSON.stringify(event));
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
    exactly(t, await client.error(), { code: 'invalid_event', event_id: null }, frame.slice(0, 20));
  }
  t.equal(client.of('session.updated').length, 0);
  client.socket.send(Buffer.from('{"type":"session.update","session":{}}'));
  await client.next('session.updated');
  client.leave();
});

t.test('an item that is no message is refused for its type, not for what messages have', async (t) => {
  const client = await connect();
  for (const item of [
    { type: 'function_call_output', call_id: 'a', output: 'b' },
    { type: 'function_call', name: 'a', arguments: '{}', call_id: 'b' },
  ]) {
    client.send({ type: 'conversation.item.create', item });
    const message = `unknown variant \`${item.type}\` for type, expected \`message\``;
    exactly(t, await client.error(), { code: 'invalid_event', param: 'item.type', message });
  }
  client.leave();
});

t.test('a voice is looked up before what comes behind it is answered', async (t) => {
  const client = await connect();
  const voice = (name: string) => ({ audio: { output: { voice: name } } });
  client.update(voice('nobody')).update(voice('alloy')).say('Hello.').respond();
  exactly(t, await client.error(), {
    code: 'invalid_voice',
    param: 'session.audio.output.voice',
    message: 'Reference not found: no voice "nobody"; GET /v1/audio/voices lists the voices',
  });
  exactly(t, session(await client.next('session.updated')), voice('alloy'));
  await client.next('conversation.item.done');
  exactly(t, response(await client.next('response.done')), {
    status: 'completed',
    audio: voice('alloy').audio,
  });
  t.equal(client.of('session.updated').length, 1);
  client.leave();
});

t.test('pcm16 is audio/pcm at 24 kHz; mu-law is refused with what to set instead', async (t) => {
  const client = await connect();
  client.update({ audio: { input: { format: 'pcm16' }, output: { format: { type: 'pcm16' } } } });
  const pcm = { format: { type: 'audio/pcm', rate: 24_000 } };
  exactly(t, session(await client.next('session.updated')), { audio: { input: pcm, output: pcm } });
  for (const name of ['g711_ulaw', 'g711_alaw']) {
    client.update({ audio: { output: { format: name } } });
    exactly(t, await client.error(), { code: 'unsupported_audio_format', message: /"rate": 8000/ });
  }
  client.update({ audio: { input: { turn_detection: { type: 'server_vad' } } } });
  exactly(t, await client.error(), { message: /set turn_detection to null/ });
  client.leave();
});
