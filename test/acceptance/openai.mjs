/**
 * The unmodified openai SDK on protocol A's REST: speech, transcriptions, models, errors, a stream that breaks; and on chat
 * completions: whole, streamed, its own streaming helper.
 */
import OpenAI, { toFile } from 'openai';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakable, failsHoweverItBreaks } from './breaks.mjs';
import { breakEncoder, ENDLESS, failureOf, heardBy } from './streams.mjs';

const { gateway } = breakable;

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
  exactly(t, verbose, { text: TEXT, language: 'en', duration: Number, usage: { type: 'duration' } });
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
  exactly(t, done, { type: 'transcript.text.done', text: TEXT });
});

t.test('models.list, and no retrieve', async (t) => {
  const ids = [];
  for await (const model of client('any key').models.list()) ids.push(model.id);
  t.strictSame(ids, ['svc/s2.1-pro', 'svc/s2.1-pro-free', 'svc/s2-pro', 'svc/s1', 'svc/transcribe-1']);
  t.type(await failureOf(client().models.retrieve('svc/s2.1-pro')), OpenAI.NotFoundError);
});

t.test('errors are its own classes with our fields', async (t) => {
  const provider = { type: 'provider_error', error: { metadata: { provider_name: 'svc' } } };
  await rejectsExactly(t, speak({ voice: 'Alloy' }), { status: 400, code: 400, ...provider });
  t.type(await failureOf(speak({ voice: 'Alloy' })), OpenAI.BadRequestError);
  await rejectsExactly(t, speak({ instructions: 'whisper' }), {
    type: 'invalid_request_error',
    param: 'instructions',
  });
  await rejectsExactly(t, speak({ stream_format: 'sse' }), { param: 'stream_format' });
  await rejectsExactly(t, speak({ response_format: 'aac' }), { status: 400, param: 'response_format' });
  await rejectsExactly(t, transcribe({ include: ['logprobs'] }), { status: 400, param: 'include' });
  await rejectsExactly(t, transcribe({ known_speaker_names: ['a'] }), { param: 'known_speaker_names' });
  await rejectsExactly(t, transcribe({ known_speaker_references: ['a'] }), {
    param: 'known_speaker_references',
  });
  await rejectsExactly(t, transcribe({ model: 'tts-1' }), { status: 400, param: 'model' });
  await rejectsExactly(t, client('wrong').audio.speech.create({ model: 'tts-1', voice: '', input: 'a' }), {
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

const { completions } = client().chat;
const speaking = (fields = {}) => ({
  model: 'svc/s2.1-pro',
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  messages: [{ role: 'user', content: TEXT }],
  ...fields,
});
const bytesOf = (base64) => Buffer.from(base64, 'base64');

t.test('chat: create, whole', async (t) => {
  const completion = await completions.create(speaking());
  const [choice] = completion.choices;
  exactly(t, completion, {
    object: 'chat.completion',
    model: 'svc/s2.1-pro',
    usage: { total_tokens: Number },
  });
  exactly(t, choice, { finish_reason: 'stop', message: { role: 'assistant', content: null, refusal: null } });
  exactly(t, choice.message.audio, { id: String, transcript: TEXT, expires_at: Number });
  t.equal(await heardBy(gateway, bytesOf(choice.message.audio.data)), TEXT);
});

t.test('chat: create, streamed: the pieces put together as its users do', async (t) => {
  const stream = await completions.create(
    speaking({ stream: true, stream_options: { include_usage: true } }),
  );
  let data = '';
  let transcript = '';
  let usage;
  let finish;
  for await (const chunk of stream) {
    const { audio } = chunk.choices[0]?.delta ?? {};
    data += audio?.data ?? '';
    transcript += audio?.transcript ?? '';
    finish = chunk.choices[0]?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  t.equal(transcript, TEXT);
  t.equal(finish, 'stop');
  exactly(t, usage, { prompt_tokens: Number, completion_tokens: Number, total_tokens: Number });
  t.equal(await heardBy(gateway, bytesOf(data)), TEXT);
});

t.test('chat: its streaming helper comes to the finished audio', async (t) => {
  for (const format of ['wav', 'mp3']) {
    const stream = client().chat.completions.stream(speaking({ audio: { voice: { id: '' }, format } }));
    const message = await stream.finalMessage();
    exactly(t, message, { role: 'assistant', content: null, audio: { id: String, expires_at: Number } });
    t.equal(message.audio.transcript, TEXT);
    t.equal(await heardBy(gateway, bytesOf(message.audio.data)), TEXT);
    const completion = await stream.finalChatCompletion();
    t.equal(completion.choices[0].finish_reason, 'stop');
  }
});

const audioOf = async (format) =>
  (await completions.create(speaking({ audio: { voice: 'alloy', format } }))).choices[0].message.audio.data;
const hearing = async (format, fields = {}) => ({
  model: 'whisper-1',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Transcribe this.' },
        { type: 'input_audio', input_audio: { data: await audioOf(format), format } },
      ],
    },
  ],
  ...fields,
});

t.test('chat: audio input comes back as content: whole, streamed, by the helper', async (t) => {
  for (const format of ['wav', 'mp3']) {
    const { choices } = await completions.create(await hearing(format));
    exactly(t, choices[0].message, { role: 'assistant', content: TEXT });
    let text = '';
    for await (const { choices } of await completions.create(await hearing(format, { stream: true })))
      text += choices[0]?.delta.content ?? '';
    t.equal(text, TEXT);
    t.equal(await completions.stream(await hearing(format)).finalContent(), TEXT);
  }
});

t.test('chat: native options pass through the SDK as unknown fields, and as headers', async (t) => {
  const size = async (...asked) =>
    bytesOf((await completions.create(...asked)).choices[0].message.audio.data).length;
  const normal = await size(speaking({ provider: { options: { svc: { latency: 'normal' } } } }));
  t.ok(normal < (await size(speaking())), 'cut less often');
  t.equal(await size(speaking(), { headers: { 'X-Svc-Latency': 'normal' } }), normal);
});

t.test('chat: errors are its own classes with our fields, streamed or not', async (t) => {
  for (const stream of [true, false]) {
    const refusal = (fields) => completions.create(speaking({ ...fields, stream }));
    t.type(await failureOf(refusal({ n: 2 })), OpenAI.BadRequestError);
    await rejectsExactly(t, refusal({ n: 2 }), { status: 400, param: 'n', type: 'invalid_request_error' });
    await rejectsExactly(t, refusal({ modalities: ['text'] }), { status: 400, param: 'modalities' });
    await rejectsExactly(t, refusal({ audio: { voice: 'Alloy', format: 'wav' } }), {
      status: 400,
      type: 'provider_error',
    });
    await rejectsExactly(t, refusal({ audio: { voice: 'alloy', format: 'flac' } }), {
      param: 'audio.format',
    });
    const both = await hearing('wav', { modalities: ['text', 'audio'], stream });
    await rejectsExactly(t, completions.create(both), { status: 400, param: 'modalities' });
  }
  const wrong = client('wrong').chat.completions.create(speaking());
  t.type(await failureOf(wrong), OpenAI.AuthenticationError);
});

t.test('chat: a stream that fails midway is a failure, read by hand and by the helper', async (t) => {
  const endless = speaking({ stream: true, messages: [{ role: 'user', content: ENDLESS }] });
  const read = async () => {
    let chunks = 0;
    for await (const chunk of await completions.create(endless))
      if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
  };
  const failure = await failureOf(read());
  t.type(failure, OpenAI.APIError);
  exactly(t, failure, { code: 502, type: 'provider_error' });
  await breakable.recovered();
  const stream = client().chat.completions.stream(endless);
  stream.once('chunk', () => breakEncoder(gateway));
  await rejectsExactly(t, stream.finalMessage(), { code: 502 });
  await breakable.recovered();
});

t.test('realtime client secrets', async (t) => {
  const made = await client().realtime.clientSecrets.create({
    expires_after: { anchor: 'created_at', seconds: 60 },
    session: { type: 'realtime', model: 'svc/s2.1-pro', audio: { output: { voice: 'alloy' } } },
  });
  exactly(t, made, { value: /^ek_/, expires_at: Number });
  exactly(t, made.session, { type: 'realtime', object: 'realtime.session', model: 'svc/s2.1-pro' });
  t.equal(made.session.audio.output.voice, 'alloy');
  const refused = client().realtime.clientSecrets.create({
    expires_after: { anchor: 'created_at', seconds: 5 },
  });
  await rejectsExactly(t, refused, { status: 400, param: 'expires_after.seconds' });
});
