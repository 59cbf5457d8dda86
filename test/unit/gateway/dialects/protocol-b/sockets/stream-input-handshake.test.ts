/**
 * The handshake of protocol B's speech sockets: keys and the time of their look-up, options of the handshake, voice
 * settings of the first frame (docs/contract/protocol-b.md 3, rule 5).
 */
import t from '../../../../../fixtures/tap.js';
import { CLOSE } from '../../../../../../contracts/close-codes.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { exactly, rejectsExactly } from '../../../../../fixtures/exactly.js';
import type { SpeechFrame } from '../../../../../fixtures/protocol-b/speech-socket.js';
import {
  type Close,
  open,
  type Opening,
  turns,
} from '../../../../../fixtures/protocol-b/stream-input-host.js';

t.test('keys: header, bearer, query, single-use token, first message in every spelling', async (t) => {
  const good: [Opening, object][] = [
    [{}, {}],
    [{ headers: { authorization: 'Bearer good' } }, {}],
    [{ headers: {}, query: { authorization: 'good' } }, {}],
    [{ headers: {}, query: { authorization: 'Bearer good' } }, {}],
    [{ headers: {}, query: { 'xi-api-key': 'good' } }, {}],
    [{ headers: {}, query: { xi_api_key: 'good', authorization: '' } }, {}],
    [{ headers: {}, query: { single_use_token: 'once' } }, {}],
    [{ headers: {} }, { xi_api_key: 'good' }],
    [{ headers: {} }, { 'xi-api-key': 'good' }],
    [{ headers: {} }, { authorization: 'Bearer good' }],
  ];
  const bad: [Opening, object, string][] = [
    [{ headers: { 'xi-api-key': 'bad' } }, {}, 'invalid_api_key'],
    [{ headers: { authorization: 'Basic x' } }, {}, 'invalid_api_key'],
    [{ headers: {}, query: { authorization: 'bad' } }, {}, 'invalid_api_key'],
    [{ headers: {}, query: { xi_api_key: 'bad' } }, {}, 'invalid_api_key'],
    [{ headers: { 'xi-api-key': 'bad' }, query: { xi_api_key: 'good' } }, {}, 'invalid_api_key'],
    [{ headers: {}, query: { single_use_token: 'twice' } }, {}, 'invalid_api_key'],
    [{ headers: {} }, { xi_api_key: 'bad' }, 'invalid_api_key'],
    [{ headers: {} }, { xi_api_key: '\u0000'.repeat(200) }, 'invalid_api_key'],
    [{ headers: {} }, {}, 'authentication_required'],
  ];
  for (const path of ['stream-input', 'multi-stream-input'] as const) {
    for (const [opening, fields] of good) {
      const { speech, send, log } = await open({ ...opening, path });
      send({ text: ' ', ...fields }, { text: 'Hello. ', flush: true });
      await turns();
      t.equal(speech.jobs.length, 1, JSON.stringify([opening, fields]));
      t.strictSame(log, []);
    }
    for (const [opening, fields, error] of bad) {
      const { send, log } = await open({ ...opening, path });
      send({ text: ' ', ...fields });
      await turns();
      exactly(t, log, [{ error, code: 1008, message: String }, { close: { code: 1008 } }], error);
      t.equal(log.length, 2);
    }
  }
});

t.test('a key in the header is not overruled by the first message', async (t) => {
  const { speech, send } = await open();
  send({ text: ' ', xi_api_key: 'bad' }, { text: 'Hello. ', flush: true });
  await turns();
  t.equal(speech.jobs.length, 1);
});

t.test('frames that come while their sender is authenticated take effect in their order', async (t) => {
  const { speech, send, asked, log } = await open({ headers: {}, slowKeys: true });
  send({ text: ' ', xi_api_key: 'good' }, { text: 'Hello ' }, { text: 'world. ', flush: true }, { text: '' });
  await turns();
  t.equal(speech.jobs.length, 0);
  t.equal(asked.length, 1, 'the key is looked up once');
  asked[0]?.();
  await turns();
  speech.goOn(0, 2);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello world. ');
  exactly(t, log.at(-1), { close: CLOSE.normal });
});

t.test('a client that leaves before its key is known leaves nothing', async (t) => {
  const { speech, send, asked, log, leave, clock } = await open({ headers: {}, slowKeys: true });
  send({ text: ' ', xi_api_key: 'good' }, { text: 'Hello. ', flush: true });
  leave();
  asked[0]?.();
  await turns();
  t.strictSame([log.length, speech.jobs.length, clock.pending], [0, 0, 0]);
});

t.test('a client without a key makes the gateway keep little', async (t) => {
  for (const frame of [
    { text: 'a'.repeat(600_000) },
    { text: ' ', voice_settings: { x: 'a'.repeat(600_000) } },
  ]) {
    const { send, log } = await open({ headers: {}, slowKeys: true });
    send({ text: ' ', xi_api_key: 'good' }, frame, frame);
    exactly(t, log, [{ error: 'buffer_overflow', code: 1009 }, { close: { code: 1009 } }]);
  }
  const many = await open({ headers: {}, slowKeys: true });
  for (let frame = 0; frame < 1100; frame++) many.send({ text: 'a' });
  exactly(t, many.log, [{ error: 'buffer_overflow' }, { close: { code: 1009 } }]);
});

t.test('a quota that is used up is told in band', async (t) => {
  const checkQuota = () => Promise.reject(new ServiceError('quota_exceeded'));
  for (const headers of [{ 'xi-api-key': 'good' }, {}]) {
    const { send, log } = await open({ headers, speech: { checkQuota } });
    send({ text: ' ', xi_api_key: 'good' });
    await turns();
    exactly(t, log, [{ error: 'quota_exceeded', code: 1008 }, { close: { code: 1008 } }]);
  }
});

t.test('our own failure before the upgrade is an HTTP error', async (t) => {
  const checkQuota = () => Promise.reject(new ServiceError('overloaded'));
  await rejectsExactly(t, open({ speech: { checkQuota } }), { code: 'overloaded' });
});

t.test('what the handshake asks for and there is not: one error frame, then 1008', async (t) => {
  const cases: [Opening, string, RegExp | undefined][] = [
    [{ query: { output_format: 'ulaw_8000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'alaw_8000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'pcm_22050' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'pcm_48000' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'mp3_24000_48' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'mp3_44100_256' } }, 'unsupported_output_format', /output_format/],
    [{ query: { output_format: 'ogg' } }, 'unsupported_output_format', /output_format/],
    [{ query: { model_id: 'scribe_v1' } }, 'model_not_found', /model_id/],
    [{ query: { model_id: 'nobody' } }, 'model_not_found', /model_id/],
    [{ query: { language_code: 'xx' } }, 'language_unavailable', /language_code/],
    [{ query: { auto_mode: 'maybe' } }, 'invalid_request', /auto_mode/],
    [{ query: { sync_alignment: 'maybe' } }, 'invalid_request', /sync_alignment/],
    [{ query: { inactivity_timeout: '0' } }, 'invalid_request', /inactivity_timeout/],
    [{ query: { inactivity_timeout: '-1' } }, 'invalid_request', /inactivity_timeout/],
    [{ query: { inactivity_timeout: 'soon' } }, 'invalid_request', /inactivity_timeout/],
    [{ params: { voice_id: 'v'.repeat(129) } }, 'voice_not_found', /voice_id/],
    [{ headers: { 'xi-api-key': 'good', 'x-svc-top-p': '7' } }, 'invalid_request', /X-Svc-Top-P/],
    [{ headers: { 'xi-api-key': 'good', 'x-svc-mp3-bitrate': '100' } }, 'invalid_request', /Bitrate/],
  ];
  for (const path of ['stream-input', 'multi-stream-input'] as const) {
    for (const [opening, error, param] of cases) {
      const { log } = await open({ headers: { 'xi-api-key': 'good' }, ...opening, path });
      exactly(t, log, [{ message: String, error, code: 1008, param }, { close: { code: 1008 } }], error);
      t.equal(log.length, 2);
      const [told, { close }] = log as [SpeechFrame, Close];
      t.equal(close.reason, told.message, 'the reason is the message');
    }
  }
});

t.test('what passes: other names of the same, and options that change nothing', async (t) => {
  const queries = [
    { output_format: 'mp3_44100' },
    { output_format: 'mp3_44100_32' },
    { output_format: 'opus_48000_96' },
    { model_id: 'eleven_turbo_v2_5', enable_logging: 'true', enable_ssml_parsing: 'false' },
    { inactivity_timeout: '300', apply_text_normalization: 'auto', optimize_streaming_latency: '3' },
    { enable_logging: 'false', seed: '1', language_code: 'en-US', sync_alignment: '', auto_mode: 'False' },
  ];
  for (const query of queries) {
    const { speech, send } = await open({ query });
    send({ text: 'Hello. ', flush: true });
    await turns();
    t.equal(speech.jobs.length, 1, JSON.stringify(query));
    t.equal(speech.jobs[0]?.request.latency, 'low');
  }
});

t.test('voice settings of the first frame, and headers over them', async (t) => {
  const settings = { stability: 0.25, similarity_boost: 0.8, style: 1, use_speaker_boost: true, speed: 1.1 };
  const first = { text: ' ', voice_settings: settings };
  const { speech, send } = await open();
  send(first, { text: 'Hello. ', flush: true });
  await turns();
  exactly(t, speech.jobs[0]?.request, { speed: 1.1, sampling: { temperature: 0.75 } });
  const headed = await open({
    headers: { 'xi-api-key': 'good', 'x-svc-temperature': '0.1', 'x-svc-latency': 'normal' },
  });
  headed.send(first, { text: 'Hello. ', flush: true });
  await turns();
  exactly(t, headed.speech.jobs[0]?.request, {
    sampling: { temperature: 0.1 },
    latency: 'normal',
    speed: 1.1,
  });
  for (const wrong of [{ speed: 1.3 }, { speed: 0.6 }, { stability: 2 }, 'loud']) {
    const { send, log } = await open();
    send({ text: ' ', voice_settings: wrong });
    exactly(t, log, [{ error: 'invalid_request', param: /^voice_settings/ }, { close: { code: 1008 } }]);
  }
});

t.test(
  'voice settings later: unchanged passes, others end the socket, or on multi the context',
  async (t) => {
    const first = { text: ' ', voice_settings: { stability: 0.5 } };
    const single = await open();
    single.send(
      first,
      { text: 'a ', voice_settings: { stability: 0.5, style: 0 } },
      { text: 'b ', voice_settings: null },
    );
    t.strictSame(single.log, []);
    single.send({ text: 'c ', voice_settings: { stability: 0.6 } });
    exactly(t, single.log, [
      { error: 'invalid_input_message', param: 'voice_settings' },
      { close: { code: 1008 } },
    ]);
    const multi = await open({ path: 'multi-stream-input' });
    multi.send({ ...first, context_id: 'a' }, { text: 'x ', context_id: 'a' }, { ...first, context_id: 'b' });
    t.strictSame(multi.log, []);
    multi.send({ ...first, context_id: 'a' });
    t.strictSame(multi.log, [], 'the same again');
    multi.send({ text: ' ', voice_settings: { stability: 0.6 }, context_id: 'a' });
    exactly(t, multi.log, [{ error: 'invalid_input_message', param: 'voice_settings', contextId: 'a' }]);
    t.equal(multi.log.length, 1);
  },
);

t.test('reference audio is refused at flush time, not before (rule 5)', async (t) => {
  const references = JSON.stringify([{ audio: 'AAAA', text: 'x' }]);
  const headers = { 'xi-api-key': 'good', 'x-svc-references': references };
  const ways: [name: string, frames: object[]][] = [
    ['flush', [{ text: 'more ', flush: true }]],
    ['a flush of nothing', [{ text: ' ', flush: true }]],
    ['the schedule', [{ text: 'word '.repeat(40) }]],
    ['the end', [{ text: '' }]],
    ['try_trigger_generation', [{ text: 'sentence. ', try_trigger_generation: true }]],
  ];
  for (const [name, frames] of ways) {
    const { send, log, speech } = await open({ headers });
    send({ text: ' ' }, { text: 'Hello ' });
    await turns();
    t.strictSame(log, [], 'not at the handshake');
    send(...frames);
    await turns();
    exactly(
      t,
      log,
      [{ error: 'unsupported_option', param: 'X-Svc-References' }, { close: { code: 1008 } }],
      name,
    );
    t.equal(speech.jobs.length, 0);
  }
});
