/** The unmodified openai SDK on protocol A's REST: speech, transcriptions, models, errors, a stream that breaks. */
import OpenAI, { toFile } from 'openai';
import t from 'tap';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { failsHoweverItBreaks, startBreakable } from './breaks.mjs';
import { ENDLESS, failureOf } from './streams.mjs';

const breakable = await startBreakable();
const { gateway } = breakable;
t.teardown(() => breakable.stop());

const client = (apiKey = TEST_KEY) =>
  new OpenAI({ apiKey, baseURL: `${gateway.base}/compat/v1`, maxRetries: 0 });
const TEXT = 'Tones carry text, exactly. A second sentence follows.';
const speak = (fields = {}) =>
  client().audio.speech.create({
    model: 'tts-1',
    voice: 'alloy',
    input: TEXT,
    response_format: 'mp3',
    ...fields,
  });

let audio;
const transcribe = async (fields = {}) =>
  client().audio.transcriptions.create({
    model: 'whisper-1',
    file: await toFile(audio, 'speech.mp3'),
    ...fields,
  });

t.test('audio.speech.create', async (t) => {
  const response = await speak();
  t.equal(response.headers.get('content-type'), 'audio/mpeg');
  t.ok(response.headers.get('x-generation-id'));
  audio = Buffer.from(await response.arrayBuffer());
  t.ok(audio.length > 1000);
  const pcm = Buffer.from(
    await (await speak({ response_format: 'pcm', voice: { id: 'default' } })).arrayBuffer(),
  );
  t.ok(pcm.length > audio.length);
});

t.test('native options pass through the SDK as unknown fields, and as headers', async (t) => {
  const options = { provider: { options: { svc: { latency: 'normal' } } } };
  const size = async (...asked) =>
    (await (await client().audio.speech.create(...asked)).arrayBuffer()).byteLength;
  const body = { model: 'svc/s2.1-pro', voice: '', input: TEXT, response_format: 'pcm' };
  const whole = await size({ ...body, ...options });
  t.ok(whole < (await size(body)), 'cut less often');
  t.equal(await size(body, { headers: { 'X-Svc-Latency': 'normal' } }), whole);
});

t.test('audio.transcriptions.create in every form', async (t) => {
  t.equal((await transcribe()).text, TEXT);
  t.equal(await transcribe({ response_format: 'text' }), `${TEXT}\n`);
  t.match(await transcribe({ response_format: 'srt' }), /^1\n00:00:00,\d{3} --> /);
  t.match(await transcribe({ response_format: 'vtt' }), /^WEBVTT\n\n/);
  const verbose = await transcribe({
    response_format: 'verbose_json',
    timestamp_granularities: ['word', 'segment'],
    language: 'en',
    temperature: 0,
    prompt: 'ignored',
  });
  t.match(verbose, { text: TEXT, language: 'en', duration: Number, usage: { type: 'duration' } });
  t.strictSame(
    verbose.words.map(({ word }) => word),
    TEXT.split(' '),
  );
  t.equal(verbose.segments.map(({ text }) => text).join(' '), TEXT);
});

t.test('audio.transcriptions.create streamed', async (t) => {
  let text = '';
  let done;
  for await (const event of await transcribe({ stream: true })) {
    if (event.type === 'transcript.text.delta') text += event.delta;
    else done = event;
  }
  t.equal(text, TEXT);
  t.match(done, { type: 'transcript.text.done', text: TEXT });
});

t.test('models.list, and no retrieve', async (t) => {
  const ids = [];
  for await (const model of client('any key').models.list()) ids.push(model.id);
  t.strictSame(ids, ['svc/s2.1-pro', 'svc/s2.1-pro-free', 'svc/s2-pro', 'svc/s1', 'svc/transcribe-1']);
  t.type(await failureOf(client().models.retrieve('svc/s2.1-pro')), OpenAI.NotFoundError);
});

t.test('errors are its own classes with our fields', async (t) => {
  const provider = { type: 'provider_error', error: { metadata: { provider_name: 'svc' } } };
  await t.rejects(speak({ voice: 'Alloy' }), { status: 400, code: 400, ...provider });
  t.type(await failureOf(speak({ voice: 'Alloy' })), OpenAI.BadRequestError);
  await t.rejects(speak({ instructions: 'whisper' }), {
    type: 'invalid_request_error',
    param: 'instructions',
  });
  await t.rejects(speak({ stream_format: 'sse' }), { param: 'stream_format' });
  await t.rejects(speak({ response_format: 'aac' }), { status: 400, param: 'response_format' });
  await t.rejects(transcribe({ include: ['logprobs'] }), { status: 400, param: 'include' });
  await t.rejects(transcribe({ known_speaker_names: ['a'] }), { param: 'known_speaker_names' });
  await t.rejects(transcribe({ known_speaker_references: ['a'] }), { param: 'known_speaker_references' });
  await t.rejects(transcribe({ model: 'tts-1' }), { status: 400, param: 'model' });
  await t.rejects(client('wrong').audio.speech.create({ model: 'tts-1', voice: '', input: 'a' }), {
    status: 401,
    ...provider,
  });
  t.type(
    await failureOf(client('wrong').audio.speech.create({ model: 'tts-1', voice: '', input: 'a' })),
    OpenAI.AuthenticationError,
  );
  const translated = client().audio.translations.create({
    model: 'whisper-1',
    file: await toFile(audio, 'a.mp3'),
  });
  t.type(await failureOf(translated), OpenAI.NotFoundError);
});

t.test('a stream that fails midway is a failure', async (t) => {
  const start = async (model) => (await speak({ model, voice: 'default', input: ENDLESS })).body;
  await failsHoweverItBreaks(t, breakable, start, { message: /terminated|aborted|other side closed/ });
});
