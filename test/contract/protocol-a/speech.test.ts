/** POST …/audio/speech on all three bases through a whole gateway (docs/contract/compatibility.md, docs/contract/protocol-a.md 1). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { longJson, postLong } from '../../fixtures/edge/long-bodies.js';
import {
  AGGREGATOR,
  audioOf,
  BASES,
  ENDLESS,
  type Fields,
  hear,
  PLAIN,
  refusal,
  ROOT,
  SDK,
  sender,
  speaker,
  SPEECH,
} from '../../fixtures/protocol-a/rest.js';

const gateway = await sharedGateway(t);

const post = sender(gateway, '/audio/speech');
const say = speaker(gateway);

t.test('matrix "TTS streamed as synthesized": speech on every base, with its default format', async (t) => {
  const types: Record<string, string> = {
    [PLAIN]: 'audio/mpeg',
    [AGGREGATOR]: 'audio/pcm',
    [SDK]: 'audio/mpeg',
    [ROOT]: 'audio/mpeg',
  };
  for (const base of BASES) {
    const byDefault = await say({}, {}, base);
    t.equal(byDefault.headers.get('content-type'), types[base]);
    t.equal(byDefault.headers.get('content-length'), null, 'sent as it is synthesised');
    t.ok((await audioOf(byDefault)).length > 1000);
    const wav = await say({ response_format: 'wav' }, {}, base);
    t.equal(wav.headers.get('content-type'), 'audio/wav');
    t.equal(await hear(gateway, await audioOf(wav)), SPEECH.input);
  }
});

t.test('decision 1: fields that a client sends without a value are unset', async (t) => {
  const fields = { voice: '', response_format: '', stream_format: '', instructions: '', speed: null };
  for (const base of BASES) {
    const absent = await say({}, {}, base);
    const audio = await audioOf(absent);
    for (const given of [fields, { response_format: 'null' }]) {
      const unset = await say(given, {}, base);
      t.equal(unset.headers.get('content-type'), absent.headers.get('content-type'), base);
      t.ok((await audioOf(unset)).equals(audio), base);
    }
  }
});

t.test('audio begins before the text is spoken to its end', async (t) => {
  const controller = new AbortController();
  const endless = { ...SPEECH, input: ENDLESS, response_format: 'pcm' };
  const response = await post(endless, {}, PLAIN, controller.signal);
  const first = await response.body?.getReader().read();
  t.ok(first?.value && first.value.length > 0, 'hours of audio were asked for');
  controller.abort();
});

t.test('rule 8: formats, their content types and their rates', async (t) => {
  const rates = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
  const taken: Record<string, [string, readonly number[]]> = {
    mp3: ['audio/mpeg', [32_000, 44_100]],
    wav: ['audio/wav', [8000, 16_000, 24_000, 32_000, 44_100]],
    pcm: ['audio/pcm', [8000, 16_000, 24_000, 32_000, 44_100]],
    pcm16: ['audio/pcm', [8000, 16_000, 24_000, 32_000, 44_100]],
    opus: ['audio/ogg', [48_000]],
  };
  for (const [format, [type, allowed]] of Object.entries(taken)) {
    for (const rate of rates) {
      const response = await say({ input: 'a', response_format: format, sample_rate: rate });
      if (allowed.includes(rate)) {
        t.equal(response.headers.get('content-type'), type, `${format} at ${rate}`);
        await audioOf(response);
      } else {
        const supported = `${format.replace('16', '')}. Supported: ${allowed.join(', ')}`;
        const message = `Invalid sample rate ${rate} for format ${supported}`;
        exactly(t, await refusal(response), { type: 'invalid_request_error', param: 'sample_rate', message });
      }
    }
  }
});

t.test('rule 8: pcm is 44.1 kHz, pcm16 is 24 kHz, an explicit sample_rate wins', async (t) => {
  const sizeOf = async (fields: Fields, base = PLAIN) => (await audioOf(await say(fields, {}, base))).length;
  const second = (await sizeOf({ response_format: 'pcm', sample_rate: 16_000 })) / 16_000;
  const near = (bytes: number, rate: number, what: string) =>
    t.ok(Math.abs(bytes - second * rate) < 100, what);
  near(await sizeOf({ response_format: 'pcm' }), 44_100, 'pcm');
  near(await sizeOf({ response_format: 'pcm16' }), 24_000, 'pcm16');
  near(await sizeOf({ response_format: 'pcm16', sample_rate: 8000 }), 8000, 'explicit');
  near(await sizeOf({}, AGGREGATOR), 44_100, 'the default of the aggregator base');
});

t.test('rule 9: the exact MP3 tier by X-Svc-Mp3-Bitrate; Opus bitrates are ignored', async (t) => {
  const sizeAt = async (bitrate: string) =>
    (await audioOf(await say({}, { 'X-Svc-Mp3-Bitrate': bitrate }))).length;
  const [low, middle, high] = [await sizeAt('64'), await sizeAt('128'), await sizeAt('192')];
  t.ok(low < middle && middle < high, `${low} ${middle} ${high}`);
  t.equal((await audioOf(await say({}))).length, middle, '128 by default');
  for (const bitrate of ['96', '320', 'high']) {
    t.equal((await refusal(await say({}, { 'X-Svc-Mp3-Bitrate': bitrate }))).param, 'X-Svc-Mp3-Bitrate');
  }
  const opus = (headers: Record<string, string>) => say({ response_format: 'opus' }, headers).then(audioOf);
  const automatic = (await opus({})).length;
  for (const bitrate of ['24000', '96000', 'high'])
    t.equal((await opus({ 'X-Svc-Opus-Bitrate': bitrate })).length, automatic, bitrate);
});

t.test('rule 10: mu-law and A-law are refused, with what to set instead', async (t) => {
  for (const format of ['ulaw_8000', 'alaw_8000', 'mulaw', 'audio/pcmu', 'audio/pcma']) {
    const { param, message } = await refusal(await say({ response_format: format }));
    t.equal(param, 'response_format', format);
    t.match(message, /set response_format to pcm/);
  }
});

t.test('rule 11: a WAV starts with the placeholder header', async (t) => {
  const bytes = await audioOf(await say({ response_format: 'wav', sample_rate: 24_000 }));
  t.equal(bytes.readUInt32LE(4), 4_294_967_076);
  t.equal(bytes.readUInt32LE(40), 4_294_967_040);
  t.equal(bytes.readUInt32LE(24), 24_000);
});

t.test('refused options: aac, flac, instructions, any stream_format but audio', async (t) => {
  const cases: [Fields, string][] = [
    [{ response_format: 'aac' }, 'response_format'],
    [{ response_format: 'flac' }, 'response_format'],
    [{ response_format: 'ogg' }, 'response_format'],
    [{ instructions: 'whisper' }, 'instructions'],
    [{ stream_format: 'sse' }, 'stream_format'],
  ];
  for (const base of BASES) {
    for (const [fields, param] of cases) {
      const error = await refusal(await say(fields, {}, base));
      exactly(t, error, { type: 'invalid_request_error', param });
      if (param === 'stream_format') t.match(error.message, /set it to that .*tts-1/);
      t.notOk(error.metadata, 'ours, so no metadata');
    }
  }
});

t.test('rules 2 and 3: what does not matter is ignored, what is unset is not refused', async () => {
  const ignored: Fields[] = [
    { seed: 7 },
    { user: 'u', session_id: 's', trace: { id: 1 } },
    { similarity_boost: 0.4, style: 1 },
    { unheard: { of: [1] } },
    { stream_format: 'audio' },
    { latency: 'no such thing' },
    ...[null, '', 'none', 'off', 'False', false, 0, [], {}].map((instructions) => ({ instructions })),
    ...[null, '', 'none', false].map((stream_format) => ({ stream_format })),
    { voice: null, response_format: null, sample_rate: null, speed: null, references: null, provider: null },
    { provider: { order: ['x'], options: null } },
    { provider: { options: { svc: null, other: { temperature: 'hot' } } } },
  ];
  for (const fields of ignored) await audioOf(await say(fields));
});

t.test('rule 1: voices', async (t) => {
  for (const base of BASES) {
    for (const voice of ['', 'default', 'alloy', { id: 'alloy' }, { id: '' }])
      await audioOf(await say({ voice }, {}, base));
    t.equal((await refusal(await say({ voice: 'Alloy' }, {}, base))).type, 'provider_error');
  }
  for (const voice of ['Alloy', 'nova', '-', 'Aria Sky', 'f'.repeat(32), 'x'.repeat(500), { id: 'echo' }]) {
    const error = await refusal(await say({ voice }));
    exactly(t, error, { type: 'provider_error', metadata: { provider_name: 'svc' } }, JSON.stringify(voice));
  }
  for (const voice of [7, ['alloy'], { name: 'alloy' }]) {
    t.equal((await refusal(await say({ voice }))).type, 'invalid_request_error');
  }
  t.equal(
    (await refusal(await say({ voice: 'alloy' }, { 'X-Svc-Reference-Id': 'nova' }))).type,
    'provider_error',
  );
  await audioOf(await say({ voice: 'nova' }, { 'X-Svc-Reference-Id': 'alloy' }));
});

t.test('model ids: with and without prefix, aliases; unknown and transcription models are 400', async (t) => {
  const taken = ['svc/s2.1-pro', 's2.1-pro-free', 's2-pro', 'svc/s1', 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];
  const aliases = ['playai-tts', 'playai-tts-arabic', 'canopylabs/orpheus-v1-english', 'eleven_turbo_v2'];
  for (const model of [...taken, ...aliases]) await audioOf(await say({ model, input: 'a' }));
  for (const model of ['nothing', 'svc/tts-1', '', 'svc/transcribe-1', 'whisper-1', 'scribe_v1']) {
    exactly(t, await refusal(await say({ model })), { type: 'invalid_request_error', param: 'model' }, model);
  }
  exactly(t, await refusal(await say({ model: 'whisper-1' })), { message: /transcribes/ });
});

t.test('bodies that are not valid', async (t) => {
  const cases: [unknown, string | undefined][] = [
    [{ input: 'a' }, 'model'],
    [{ model: 'tts-1' }, 'input'],
    [{ ...SPEECH, input: '' }, 'input'],
    [{ ...SPEECH, input: ' \n' }, 'input'],
    [{ ...SPEECH, input: 7 }, 'input'],
    [{ ...SPEECH, speed: 0.24 }, 'speed'],
    [{ ...SPEECH, speed: 4.01 }, 'speed'],
    [{ ...SPEECH, speed: 'fast' }, 'speed'],
    [{ ...SPEECH, sample_rate: '24000' }, 'sample_rate'],
    [{ ...SPEECH, provider: 'svc' }, 'provider'],
    [{ ...SPEECH, provider: { options: { svc: 'x' } } }, 'provider.options.svc'],
    [[], undefined],
    ['{"model":', undefined],
  ];
  for (const [body, param] of cases) {
    const error = await refusal(await post(body));
    t.equal(error.type, 'invalid_request_error');
    t.equal(error.param, param, JSON.stringify(body));
  }
  t.equal(
    (await refusal(await post('x', { 'content-type': 'text/plain' }), 415)).type,
    'invalid_request_error',
  );
});

t.test('decision 4: speed from 0.25 to 4', async () => {
  for (const speed of [0.25, 1, 4]) await audioOf(await say({ speed, input: 'a' }));
});

t.test('a body over 32 MiB is 413', async (t) => {
  const big = longJson({ ...SPEECH, input: '|' }, LIMITS.body.protocolASynthesis);
  const response = await postLong(`${gateway.base}${PLAIN}/audio/speech`, gateway.authorization, big);
  if (response) t.equal((await refusal(response, 413)).type, 'invalid_request_error');
  else t.pass('cut while it was sending');
});

t.test('rule 15: X-Generation-Id is on every response, each time another', async (t) => {
  const responses = await Promise.all([
    say({ input: 'a' }),
    say({ input: '' }),
    post({}, { authorization: '' }),
  ]);
  const ids = responses.map(({ headers }) => headers.get('x-generation-id'));
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => id));
  await Promise.all(responses.map((response) => response.arrayBuffer()));
});

t.test('rule 2: speed is the rate of speech', async (t) => {
  for (const base of BASES) {
    const lengthAt = async (speed: number) =>
      (await audioOf(await say({ speed, response_format: 'pcm16' }, {}, base))).length;
    const [slow, plain, fast] = [await lengthAt(0.5), await lengthAt(1), await lengthAt(2)];
    t.ok(slow > plain * 1.5 && plain > fast * 1.5, `${slow} ${plain} ${fast}`);
  }
});
