/**
 * The unmodified groq-sdk, which adds `/openai/v1` to its base itself, on protocol A's REST, and on chat completions with
 * audio, which it passes on although its own service has none.
 */
import Groq, { toFile } from 'groq-sdk';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakable, breakableOnce, failsHoweverItBreaks } from './breaks.mjs';
import { breakEncoder, ENDLESS, failureOf, heardBy } from './streams.mjs';

const { gateway } = breakable;

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
  exactly(t, verbose, { text: TEXT, language: 'en' });
  t.strictSame(
    verbose.words.map(({ word }) => word),
    TEXT.split(' '),
  );
  t.equal(await transcribe({ response_format: 'text' }), `${TEXT}\n`);
});

t.test('models.list', async (t) => {
  const { data } = await client('any key').models.list();
  t.equal(data.length, 5);
  exactly(t, data[0], { id: 'svc/s2.1-pro', object: 'model', owned_by: 'svc' });
});

t.test('errors are its own classes with our body', async (t) => {
  t.type(await failureOf(speak({ voice: 'Fritz-PlayAI' })), Groq.BadRequestError);
  await rejectsExactly(t, speak({ voice: 'Fritz-PlayAI' }), {
    error: { error: { code: 400, type: 'provider_error' } },
  });
  for (const response_format of ['mulaw', 'flac', 'ogg']) {
    await rejectsExactly(t, speak({ response_format }), { error: { error: { param: 'response_format' } } });
  }
  await rejectsExactly(t, speak({ sample_rate: 22_050 }), { error: { error: { param: 'sample_rate' } } });
  t.type(await failureOf(speak({}, 'wrong')), Groq.AuthenticationError);
  const byAddress = client().audio.transcriptions.create({
    model: 'whisper-large-v3',
    url: 'https://example.com/a.wav',
  });
  await rejectsExactly(t, byAddress, { error: { error: { param: 'url', type: 'invalid_request_error' } } });
  const translated = client().audio.translations.create({
    model: 'whisper-large-v3',
    file: await toFile(audio, 'a.wav'),
  });
  t.type(await failureOf(translated), Groq.NotFoundError);
});

t.test('a stream that fails midway is a failure', async (t) => {
  const start = async (model) => (await speak({ model, voice: 'default', input: ENDLESS })).body;
  await failsHoweverItBreaks(t, breakableOnce, start, { message: /terminated|aborted|other side closed/ });
});

const { completions } = client().chat;
const speaking = (fields = {}) => ({
  model: 'playai-tts',
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  messages: [{ role: 'user', content: TEXT }],
  ...fields,
});

let data;

t.test('chat: spoken whole and streamed', async (t) => {
  const completion = await completions.create(speaking());
  ({ data } = completion.choices[0].message.audio);
  t.equal(await heardBy(gateway, Buffer.from(data, 'base64')), TEXT);
  let streamed = '';
  for await (const { choices } of await completions.create(speaking({ stream: true })))
    streamed += choices[0]?.delta.audio?.data ?? '';
  t.equal(streamed, data);
});

t.test('chat: audio input comes back as content', async (t) => {
  const content = [{ type: 'input_audio', input_audio: { data, format: 'wav' } }];
  const hearing = { model: 'whisper-large-v3', messages: [{ role: 'user', content }] };
  t.equal((await completions.create(hearing)).choices[0].message.content, TEXT);
  let text = '';
  for await (const { choices } of await completions.create({ ...hearing, stream: true }))
    text += choices[0]?.delta.content ?? '';
  t.equal(text, TEXT);
});

t.test('chat: errors are its own classes with our body', async (t) => {
  t.type(await failureOf(completions.create(speaking({ n: 2 }))), Groq.BadRequestError);
  await rejectsExactly(t, completions.create(speaking({ n: 2, stream: true })), {
    error: { error: { code: 400, param: 'n' } },
  });
  t.type(await failureOf(client('wrong').chat.completions.create(speaking())), Groq.AuthenticationError);
});

t.test('chat: a stream that fails midway is a failure', async (t) => {
  const read = async () => {
    let chunks = 0;
    const endless = speaking({ stream: true, messages: [{ role: 'user', content: ENDLESS }] });
    for await (const chunk of await completions.create(endless))
      if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
  };
  t.type(await failureOf(read()), Groq.APIError);
  await breakable.recovered();
});
