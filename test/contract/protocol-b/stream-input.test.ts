/** WebSocket stream-input through a whole gateway (docs/contract/protocol-b.md 3; docs/contract/decisions.md "Protocol B"; rules 4, 5). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { gauge } from '../../fixtures/native/live.js';
import { lentPlatform } from '../../fixtures/platform/platform.js';
import { SpeechSocketClient, type SpeechSocketOptions } from '../../fixtures/protocol-b/speech-socket.js';
import { until } from '../../fixtures/until.js';

const platform = await lentPlatform(t);
const { gateway } = platform;

const BYTES_PER_MS = 32;

const connect = (options: SpeechSocketOptions = {}) => new SpeechSocketClient(gateway, options).opened();
const running = () => gauge(gateway, 'speech_jobs_running');
const allFree = () => until('all slots are free', async () => (await running()) === 0);

/** The transcript of a file, or of PCM at 16 kHz. */
async function heard(audio: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set('audio', new Blob([audio]));
  const url = `${gateway.base}/v1/asr`;
  const response = await fetch(url, { method: 'POST', headers: gateway.authorization, body: form });
  return ((await response.json()) as { text: string }).text;
}

/** 16 kHz PCM as a file. */
function wavOf(pcm: Uint8Array): Uint8Array {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0);
  head.writeUInt32LE(36 + pcm.length, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(16_000, 24);
  head.writeUInt32LE(32_000, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34);
  head.write('data', 36);
  head.writeUInt32LE(pcm.length, 40);
  return Buffer.concat([head, pcm]);
}

const FINAL = { audio: null, isFinal: true, alignment: null, normalizedAlignment: null };
const SENTENCES = ['Hello there, world. ', 'How are you today? ', 'I am fine. '];

t.test(
  'matrix "Realtime TTS WebSocket", as the Python SDK sends: all text is spoken, the final frame is last, then 1000',
  async (t) => {
    const client = await connect();
    client.send({
      text: ' ',
      try_trigger_generation: true,
      voice_settings: null,
      generation_config: { chunk_length_schedule: [50] },
    });
    for (const text of SENTENCES) client.send({ text, try_trigger_generation: true });
    client.send({ text: '' });
    exactly(t, await client.ended(), { code: 1000 });
    t.equal(await heard(wavOf(client.audio())), SENTENCES.join('').trim());
    t.strictSame(client.frames.at(-1), FINAL);
    t.equal(client.frames.filter(({ isFinal }) => isFinal).length, 1);
    t.ok(client.frames.every((frame) => !('message' in frame)));
    t.ok(client.headers['x-generation-id']);
    for (const name of ['request-id', 'x-request-id'])
      t.equal(client.headers[name], client.headers['x-generation-id'], name);
    t.equal(client.text(), SENTENCES.join(''));
  },
);

t.test('every codec is one stream over all generations', async (t) => {
  const formats = ['mp3_44100_128', 'mp3_44100', 'mp3_44100_32', 'opus_48000_64', 'wav_24000'];
  for (const output_format of formats) {
    const client = await connect({ query: { output_format } });
    for (const text of SENTENCES) client.send({ text, flush: true });
    client.send({ text: '' });
    await client.ended();
    t.equal(await heard(client.audio()), SENTENCES.join('').trim(), output_format);
    t.equal(client.text(), SENTENCES.join(''), `${output_format}: alignment`);
  }
});

t.test('the default voice by an empty id and by name, on a doubled slash, in an encoded path', async (t) => {
  for (const voice of ['', 'default', '%64efault']) {
    const client = await connect({ voice });
    client.send({ text: 'Hello. ' }, { text: '' });
    exactly(t, await client.ended(), { code: 1000 }, voice);
    t.ok(client.audio().length > 1000);
  }
});

t.test('a voice that is not there: an error frame when it is to speak', async (t) => {
  for (const voice of ['Rachel', 'Alloy', 'f'.repeat(32)]) {
    const client = await connect({ voice });
    client.send({ text: 'Hello. ', flush: true });
    const message = `Reference not found: no voice "${voice}"; GET /v1/voices lists the voices`;
    exactly(t, await client.ended(), { code: 1008, reason: message });
    exactly(t, client.frames, [{ message, error: 'voice_not_found', code: 1008 }]);
    t.equal(client.frames.length, 1);
  }
});

t.test('flush speaks at once and keeps the socket open', async (t) => {
  for (const output_format of ['pcm_16000', 'mp3_44100_128', 'opus_48000_64']) {
    const client = await connect({ query: { output_format } });
    client.send({ text: 'No end here', flush: true });
    const whole = 'No end here'.length;
    await until('all of its characters are told', () => client.text().length >= whole);
    t.equal(client.closed, undefined);
    t.equal(client.frames.filter(({ isFinal }) => isFinal).length, 0);
    client.send({ text: ' but here. ' }, { text: '' });
    await client.ended();
    const audio = client.audio();
    t.equal(await heard(output_format.startsWith('pcm') ? wavOf(audio) : audio), 'No end here but here.');
  }
});

t.test('chunk_length_schedule: audio begins when enough text has come, without a flush', async (t) => {
  const few = await connect({ query: { inactivity_timeout: '0.5' } });
  few.send({ text: 'word '.repeat(23) });
  exactly(t, await few.ended(), { code: 1008 });
  t.equal(few.audio().length, 0, '115 characters are too few');
  const enough = await connect();
  enough.send({ text: 'word '.repeat(23) }, { text: 'more words. ' });
  await enough.heard();
  const small = await connect();
  small.send({ text: ' ', generation_config: { chunk_length_schedule: [50] } }, { text: 'word '.repeat(11) });
  await small.heard();
  t.pass('50 are enough where the client says so');
  for (const open of [enough, small]) open.leave();
  await allFree();
});

t.test('auto_mode: each message is spoken as it comes', async () => {
  const client = await connect({ query: { auto_mode: 'true' } });
  client.send({ text: ' ' }, { text: 'Hi. ' });
  await client.heard();
  client.leave();
});

/** The pause after a sentence. It belongs to the full stop if both are in one frame; a later pause belongs to no character. */
const PAUSE_MS = 140;

t.test(
  'alignment: the first frame of a generation tells its characters from 0, laid end to end they fit',
  async (t) => {
    const client = await connect();
    for (const text of SENTENCES) client.send({ text, flush: true });
    client.send({ text: '' });
    await client.ended();
    const spoken = client.frames.filter(({ audio }) => audio);
    t.ok(spoken[0]?.alignment);
    t.ok(spoken.some(({ alignment }) => alignment === null));
    let told = 0;
    let at = 0;
    for (const { audio, alignment, normalizedAlignment } of spoken) {
      t.strictSame(normalizedAlignment, alignment);
      if (alignment) {
        t.ok(Math.abs(at - told) < 150, `a generation begins where the one before ended: ${told}, ${at}`);
        t.ok(
          (alignment.charStartTimesMs[0] ?? NaN) < 200 + PAUSE_MS,
          `its times begin anew: ${alignment.charStartTimesMs[0]}`,
        );
        told += (alignment.charStartTimesMs.at(-1) ?? NaN) + (alignment.charDurationsMs.at(-1) ?? NaN);
      }
      at += Buffer.from(audio ?? '', 'base64').length / BYTES_PER_MS;
    }
    t.ok(Math.abs(at - told) < 100, `${told} ms of characters, ${at} ms of audio`);
  },
);

t.test('sync_alignment: every frame has its own characters, in the time of the socket', async (t) => {
  for (const output_format of ['pcm_16000', 'mp3_44100_128', 'opus_48000_64']) {
    const client = await connect({ query: { sync_alignment: 'true', output_format } });
    for (const text of SENTENCES) client.send({ text, flush: true });
    client.send({ text: '' });
    await client.ended();
    const spoken = client.frames.filter(({ audio }) => audio);
    t.ok(spoken.every(({ alignment }) => alignment));
    t.equal(client.text(), SENTENCES.join(''));
    const starts = client.alignments().flatMap(({ charStartTimesMs }) => charStartTimesMs);
    t.strictSame(
      starts,
      starts.toSorted((a, b) => a - b),
      'never back',
    );
    t.ok(starts.every(Number.isInteger));
    if (output_format !== 'pcm_16000') continue;
    const length = client.audio().length / BYTES_PER_MS;
    const last = client.alignments().findLast(({ chars }) => chars.length > 0);
    const end = (last?.charStartTimesMs.at(-1) ?? NaN) + (last?.charDurationsMs.at(-1) ?? NaN);
    t.ok(end <= length && length - end <= PAUSE_MS, `${end} of ${length} ms`);
  }
});

t.test('frames hold at most 64 KiB of base64', async (t) => {
  const client = await connect({ query: { output_format: 'pcm_44100' } });
  client.send({ text: 'A sentence that is long enough to fill a frame. '.repeat(20) }, { text: '' });
  await client.ended();
  t.ok(client.frames.every(({ audio }) => (audio ?? '').length <= LIMITS.streamInput.audioFrameBytes));
  t.ok(Math.max(...client.lengths) < 128 * 1024);
});

t.test('a schedule that comes late is an error, the same one again is none', async (t) => {
  const schedule = { generation_config: { chunk_length_schedule: [50] } };
  const client = await connect();
  client.send({ text: ' ', ...schedule }, { text: 'Hello. ', ...schedule }, { text: '' });
  exactly(t, await client.ended(), { code: 1000 });
  const late = await connect();
  late.send({ text: ' ' }, { text: 'Hello. ', ...schedule });
  exactly(t, await late.ended(), { code: 1008, reason: /^generation_config/ });
});

t.test('what ends one of several contexts, or their socket, ends the only one', async (t) => {
  for (const flag of ['close_context', 'close_socket']) {
    const client = await connect();
    client.send({ text: 'Hello. ' }, { [flag]: true });
    exactly(t, await client.ended(), { code: 1000 }, flag);
    t.equal(await heard(wavOf(client.audio())), 'Hello.');
    t.strictSame(client.frames.at(-1), FINAL);
  }
});

t.test('keys: none, a wrong one, one in the first message', async (t) => {
  const silent = await connect({ headers: {} });
  silent.send({ text: ' ' });
  exactly(t, await silent.ended(), { code: 1008 });
  exactly(t, silent.frames, [{ error: 'authentication_required', code: 1008 }]);
  const wrong = await connect({ headers: { 'xi-api-key': 'wrong' } });
  exactly(t, await wrong.ended(), { code: 1008 });
  exactly(t, wrong.frames, [{ error: 'invalid_api_key', code: 1008 }]);
  const late = await connect({ headers: {} });
  late.send({ text: ' ', xi_api_key: TEST_KEY }, { text: 'Hello. ' }, { text: '' });
  exactly(t, await late.ended(), { code: 1000 });
  const asked = await connect({ headers: {}, query: { authorization: `Bearer ${TEST_KEY}` } });
  asked.send({ text: 'Hello. ' }, { text: '' });
  exactly(t, await asked.ended(), { code: 1000 });
});

t.test('a single-use token opens one socket', async (t) => {
  const url = `${gateway.base}/compat/elevenlabs/v1/single-use-token/tts_websocket`;
  const response = await fetch(url, { method: 'POST', headers: { 'xi-api-key': TEST_KEY } });
  const { token } = (await response.json()) as { token: string };
  const first = await connect({ headers: {}, query: { single_use_token: token } });
  first.send({ text: 'Hello. ' }, { text: '' });
  exactly(t, await first.ended(), { code: 1000 });
  const second = await connect({ headers: {}, query: { single_use_token: token } });
  exactly(t, await second.ended(), { code: 1008 });
  exactly(t, second.frames, [{ error: 'invalid_api_key' }]);
});

t.test('Protocol B TTS refuses ulaw_* and alaw_* output formats, in band', async (t) => {
  for (const output_format of ['ulaw_8000', 'alaw_8000', 'pcm_22050', 'mp3_22050_32', 'pcm_48000']) {
    const client = await connect({ query: { output_format } });
    exactly(t, await client.ended(), { code: 1008 });
    exactly(t, client.frames, [{ error: 'unsupported_output_format', code: 1008, param: 'output_format' }]);
  }
});

t.test('pronunciation dictionaries change the sound and are refused, in any message', async (t) => {
  const pronunciation_dictionary_locators = [{ pronunciation_dictionary_id: 'x', version_id: 'y' }];
  for (const before of [[], [{ text: ' ' }, { text: 'Hello ' }]]) {
    const client = await connect();
    client.send(...before, { text: ' ', pronunciation_dictionary_locators });
    exactly(t, await client.ended(), { code: 1008, reason: /spell the words/ });
    exactly(t, client.frames.at(-1), {
      error: 'unsupported_option',
      code: 1008,
      param: 'pronunciation_dictionary_locators',
    });
  }
  const client = await connect();
  client.send({ text: 'Hello. ', pronunciation_dictionary_locators: [] }, { text: '' });
  exactly(t, await client.ended(), { code: 1000 }, 'none are asked for');
});

t.test('rule 5: reference audio in X-Svc-References is refused at flush time, in band', async (t) => {
  const references = JSON.stringify([{ audio: Buffer.from('x').toString('base64'), text: 'x' }]);
  const client = await connect({ headers: { 'xi-api-key': TEST_KEY, 'X-Svc-References': references } });
  client.send({ text: ' ' }, { text: 'Hello ' }, { text: ' ' });
  t.equal(client.closed, undefined);
  client.send({ text: 'there. ', flush: true });
  exactly(t, await client.ended(), { code: 1008 });
  exactly(t, client.frames, [{ error: 'unsupported_option', code: 1008 }]);
});

t.test('rule 4: native options by X-Svc headers on the handshake', async (t) => {
  const length = async (headers: Record<string, string>): Promise<number> => {
    const client = await connect({ headers: { 'xi-api-key': TEST_KEY, ...headers } });
    client.send({ text: 'One clause, and another clause, and the end of it. ' }, { text: '' });
    await client.ended();
    return client.audio().length;
  };
  const low = await length({});
  t.ok((await length({ 'X-Svc-Latency': 'normal' })) < low, 'cut less often than low, the default (rule 7)');
  t.ok((await length({ 'X-Svc-Prosody': '{"speed":2}' })) < low * 0.7, 'faster');
});

t.test('what breaks the protocol: one error frame, then the close code', async (t) => {
  const cases: [name: string, data: string | Uint8Array, code: number, error: string][] = [
    ['binary', new Uint8Array(3), 1008, 'invalid_input_message'],
    ['not JSON', '{', 1008, 'invalid_input_message'],
    ['no text', '{}', 1008, 'invalid_input_message'],
    ['1 MiB of text and more', JSON.stringify({ text: 'a'.repeat(2 ** 20 + 1) }), 1009, 'buffer_overflow'],
    ['a frame over any text', 'a'.repeat(8 * 2 ** 20), 1009, 'message_too_large'],
    ['a frame over 32 MiB', 'a'.repeat(33 * 2 ** 20), 1009, 'message_too_large'],
  ];
  for (const [name, data, code, error] of cases) {
    const client = await connect();
    client.raw(data);
    const { code: closed, reason } = await client.ended();
    t.equal(closed, code, name);
    exactly(t, client.frames, [{ message: String, error, code }], name);
    t.ok(Buffer.byteLength(reason) <= 123 && client.frames[0]?.message?.startsWith(reason));
  }
});

t.test('inactivity: an error frame and 1008, and blanks put it off', async (t) => {
  const client = await connect({ query: { inactivity_timeout: '0.5' } });
  client.send({ text: 'Never flushed' });
  exactly(t, await client.ended(), { code: 1008, reason: /0\.5 seconds/ });
  exactly(t, client.frames, [{ error: 'input_timeout_exceeded', code: 1008 }]);
});

t.test('a client that leaves frees its slot', async (t) => {
  const clients = await Promise.all([connect(), connect()]);
  for (const client of clients) client.send({ text: 'a long story. '.repeat(30_000), flush: true });
  await Promise.all(clients.map((client) => client.heard()));
  t.equal(await running(), 2);
  for (const client of clients) client.leave();
  await allFree();
});

t.test('a client that stops reading holds back only its own synthesis, in bounded memory', async (t) => {
  const stalled = await connect({ query: { output_format: 'pcm_44100' } });
  stalled.socket.pause();
  stalled.send({ text: 'This goes on for hours. '.repeat(30_000), flush: true });
  await until('it has begun', async () => (await running()) === 1);
  let last = -1;
  await until('its queue stands still', async () => {
    const before = last;
    last = await gauge(gateway, 'egress_queue_bytes');
    return last > 0 && last === before;
  });
  t.ok(last < 2 * LIMITS.http.egressBytes, `${last} bytes are queued`);
  const other = await connect();
  other.send({ text: 'Not held back. ' }, { text: '' });
  exactly(t, await other.ended(), { code: 1000 });
  t.equal(stalled.closed, undefined);
  stalled.leave();
  await allFree();
});

t.test('more sockets than jobs are allowed: the rest are told so (decision 6)', async (t) => {
  const { authorization: headers } = await platform.limited({ concurrency: 1 });
  const [first, second] = await Promise.all([connect({ headers }), connect({ headers })]);
  first.send({ text: 'Hello. ', flush: true });
  await first.heard();
  second.send({ text: 'Hello. ', flush: true });
  exactly(t, await second.ended(), { code: 1008 });
  exactly(t, second.frames, [{ error: 'too_many_concurrent_requests', code: 1008 }]);
  first.leave();
});

t.test('an encoder that dies: an error frame and 1011, never a short success', async (t) => {
  const client = await connect({ query: { output_format: 'mp3_44100_128' } });
  client.send({ text: 'This goes on for hours. '.repeat(30_000) }, { text: '' });
  await client.heard();
  process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');
  exactly(t, await client.ended(), { code: 1011 });
  exactly(t, client.frames.at(-1), { error: 'internal_error', code: 1011, message: String });
  t.notOk(client.frames.some(({ isFinal }) => isFinal));
  await allFree();
});
