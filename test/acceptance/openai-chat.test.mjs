/** The unmodified openai SDK on chat completions: whole, streamed, its own streaming helper, errors, a stream that breaks. */
import OpenAI from 'openai';
import t from 'tap';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakEncoder, ENDLESS, failureOf, heardBy } from './streams.mjs';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const client = (apiKey = TEST_KEY) =>
  new OpenAI({ apiKey, baseURL: `${gateway.base}/compat/v1`, maxRetries: 0 });
const { completions } = client().chat;
const TEXT = 'Tones carry text, exactly. A second sentence follows.';
const speaking = (fields = {}) => ({
  model: 'svc/s2.1-pro',
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  messages: [{ role: 'user', content: TEXT }],
  ...fields,
});
const bytesOf = (base64) => Buffer.from(base64, 'base64');

t.test('create, whole', async (t) => {
  const completion = await completions.create(speaking());
  const [choice] = completion.choices;
  t.match(completion, { object: 'chat.completion', model: 'svc/s2.1-pro', usage: { total_tokens: Number } });
  t.match(choice, { finish_reason: 'stop', message: { role: 'assistant', content: null, refusal: null } });
  t.match(choice.message.audio, { id: String, transcript: TEXT, expires_at: Number });
  t.equal(await heardBy(gateway, bytesOf(choice.message.audio.data)), TEXT);
});

t.test('create, streamed: the pieces put together as its users do', async (t) => {
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
  t.match(usage, { prompt_tokens: Number, completion_tokens: Number, total_tokens: Number });
  t.equal(await heardBy(gateway, bytesOf(data)), TEXT);
});

t.test('its streaming helper comes to the finished audio', async (t) => {
  for (const format of ['wav', 'mp3']) {
    const stream = client().chat.completions.stream(speaking({ audio: { voice: { id: '' }, format } }));
    const message = await stream.finalMessage();
    t.match(message, { role: 'assistant', content: null, audio: { id: String, expires_at: Number } });
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

t.test('audio input comes back as content: whole, streamed, by the helper', async (t) => {
  for (const format of ['wav', 'mp3']) {
    const { choices } = await completions.create(await hearing(format));
    t.match(choices[0].message, { role: 'assistant', content: TEXT });
    let text = '';
    for await (const { choices } of await completions.create(await hearing(format, { stream: true })))
      text += choices[0]?.delta.content ?? '';
    t.equal(text, TEXT);
    t.equal(await completions.stream(await hearing(format)).finalContent(), TEXT);
  }
});

t.test('native options pass through the SDK as unknown fields, and as headers', async (t) => {
  const size = async (...asked) =>
    bytesOf((await completions.create(...asked)).choices[0].message.audio.data).length;
  const normal = await size(speaking({ provider: { options: { svc: { latency: 'normal' } } } }));
  t.ok(normal < (await size(speaking())), 'cut less often');
  t.equal(await size(speaking(), { headers: { 'X-Svc-Latency': 'normal' } }), normal);
});

t.test('errors are its own classes with our fields, streamed or not', async (t) => {
  for (const stream of [true, false]) {
    const refusal = (fields) => completions.create(speaking({ ...fields, stream }));
    t.type(await failureOf(refusal({ n: 2 })), OpenAI.BadRequestError);
    await t.rejects(refusal({ n: 2 }), { status: 400, param: 'n', type: 'invalid_request_error' });
    await t.rejects(refusal({ modalities: ['text'] }), { status: 400, param: 'modalities' });
    await t.rejects(refusal({ audio: { voice: 'Alloy', format: 'wav' } }), {
      status: 400,
      type: 'provider_error',
    });
    await t.rejects(refusal({ audio: { voice: 'alloy', format: 'flac' } }), { param: 'audio.format' });
    const both = await hearing('wav', { modalities: ['text', 'audio'], stream });
    await t.rejects(completions.create(both), { status: 400, param: 'modalities' });
  }
  const wrong = client('wrong').chat.completions.create(speaking());
  t.type(await failureOf(wrong), OpenAI.AuthenticationError);
});

t.test('a stream that fails midway is a failure, read by hand and by the helper', async (t) => {
  const endless = speaking({ stream: true, messages: [{ role: 'user', content: ENDLESS }] });
  const read = async () => {
    let chunks = 0;
    for await (const chunk of await completions.create(endless))
      if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
  };
  await t.rejects(read(), { code: 502, type: 'provider_error' });
  t.type(await failureOf(read()), OpenAI.APIError);
  const stream = client().chat.completions.stream(endless);
  stream.once('chunk', () => breakEncoder(gateway));
  await t.rejects(stream.finalMessage(), { code: 502 });
});

t.test('realtime client secrets', async (t) => {
  const made = await client().realtime.clientSecrets.create({
    expires_after: { anchor: 'created_at', seconds: 60 },
    session: { type: 'realtime', model: 'svc/s2.1-pro', audio: { output: { voice: 'alloy' } } },
  });
  t.match(made, { value: /^ek_/, expires_at: Number });
  t.match(made.session, { type: 'realtime', object: 'realtime.session', model: 'svc/s2.1-pro' });
  t.equal(made.session.audio.output.voice, 'alloy');
  const refused = client().realtime.clientSecrets.create({
    expires_after: { anchor: 'created_at', seconds: 5 },
  });
  await t.rejects(refused, { status: 400, param: 'expires_after.seconds' });
});
