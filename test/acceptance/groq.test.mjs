/** The unmodified groq-sdk, which adds `/openai/v1` to its base itself, on protocol A's REST. */
import Groq, { toFile } from 'groq-sdk';
import t from 'tap';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { failsHoweverItBreaks, startBreakable } from './breaks.mjs';
import { ENDLESS, failureOf } from './streams.mjs';

const breakable = await startBreakable();
const { gateway } = breakable;
t.teardown(() => breakable.stop());

const client = (apiKey = TEST_KEY) => new Groq({ apiKey, baseURL: `${gateway.base}/compat`, maxRetries: 0 });
const TEXT = 'Tones carry text, exactly.';
const speak = (fields = {}, apiKey = TEST_KEY) =>
  client(apiKey).audio.speech.create({
    model: 'playai-tts',
    voice: 'alloy',
    input: TEXT,
    response_format: 'wav',
    ...fields,
  });

let audio;
const transcribe = async (fields = {}) =>
  client().audio.transcriptions.create({
    model: 'whisper-large-v3-turbo',
    file: await toFile(audio, 'speech.wav'),
    ...fields,
  });

t.test('audio.speech.create', async (t) => {
  const response = await speak({ sample_rate: 24_000 });
  t.equal(response.headers.get('content-type'), 'audio/wav');
  audio = Buffer.from(await response.arrayBuffer());
  t.equal(audio.readUInt32LE(24), 24_000);
});

t.test('audio.transcriptions.create', async (t) => {
  t.equal((await transcribe()).text, TEXT);
  const verbose = await transcribe({
    response_format: 'verbose_json',
    timestamp_granularities: ['word'],
    language: 'en',
  });
  t.match(verbose, { text: TEXT, language: 'en' });
  t.strictSame(
    verbose.words.map(({ word }) => word),
    TEXT.split(' '),
  );
  t.equal(await transcribe({ response_format: 'text' }), `${TEXT}\n`);
});

t.test('models.list', async (t) => {
  const { data } = await client('any key').models.list();
  t.equal(data.length, 5);
  t.match(data[0], { id: 'svc/s2.1-pro', object: 'model', owned_by: 'svc' });
});

t.test('errors are its own classes with our body', async (t) => {
  t.type(await failureOf(speak({ voice: 'Fritz-PlayAI' })), Groq.BadRequestError);
  await t.rejects(speak({ voice: 'Fritz-PlayAI' }), {
    error: { error: { code: 400, type: 'provider_error' } },
  });
  for (const response_format of ['mulaw', 'flac', 'ogg']) {
    await t.rejects(speak({ response_format }), { error: { error: { param: 'response_format' } } });
  }
  await t.rejects(speak({ sample_rate: 22_050 }), { error: { error: { param: 'sample_rate' } } });
  t.type(await failureOf(speak({}, 'wrong')), Groq.AuthenticationError);
  const byAddress = client().audio.transcriptions.create({
    model: 'whisper-large-v3',
    url: 'https://example.com/a.wav',
  });
  await t.rejects(byAddress, { error: { error: { param: 'url', type: 'invalid_request_error' } } });
  const translated = client().audio.translations.create({
    model: 'whisper-large-v3',
    file: await toFile(audio, 'a.wav'),
  });
  t.type(await failureOf(translated), Groq.NotFoundError);
});

t.test('a stream that fails midway is a failure', async (t) => {
  const start = async (model) => (await speak({ model, voice: 'default', input: ENDLESS })).body;
  await failsHoweverItBreaks(t, breakable, start, { message: /terminated|aborted|other side closed/ });
});
