/** The unmodified groq-sdk on chat completions with audio, which it passes on although its own service has none. */
import Groq from 'groq-sdk';
import t from 'tap';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakEncoder, ENDLESS, failureOf, heardBy } from './streams.mjs';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const client = (apiKey = TEST_KEY) => new Groq({ apiKey, baseURL: `${gateway.base}/compat`, maxRetries: 0 });
const { completions } = client().chat;
const TEXT = 'Tones carry text, exactly.';
const speaking = (fields = {}) => ({
  model: 'playai-tts',
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'wav' },
  messages: [{ role: 'user', content: TEXT }],
  ...fields,
});

let data;

t.test('spoken whole and streamed', async (t) => {
  const completion = await completions.create(speaking());
  ({ data } = completion.choices[0].message.audio);
  t.equal(await heardBy(gateway, Buffer.from(data, 'base64')), TEXT);
  let streamed = '';
  for await (const { choices } of await completions.create(speaking({ stream: true })))
    streamed += choices[0]?.delta.audio?.data ?? '';
  t.equal(streamed, data);
});

t.test('audio input comes back as content', async (t) => {
  const content = [{ type: 'input_audio', input_audio: { data, format: 'wav' } }];
  const hearing = { model: 'whisper-large-v3', messages: [{ role: 'user', content }] };
  t.equal((await completions.create(hearing)).choices[0].message.content, TEXT);
  let text = '';
  for await (const { choices } of await completions.create({ ...hearing, stream: true }))
    text += choices[0]?.delta.content ?? '';
  t.equal(text, TEXT);
});

t.test('errors are its own classes with our body', async (t) => {
  t.type(await failureOf(completions.create(speaking({ n: 2 }))), Groq.BadRequestError);
  await t.rejects(completions.create(speaking({ n: 2, stream: true })), {
    error: { error: { code: 400, param: 'n' } },
  });
  t.type(await failureOf(client('wrong').chat.completions.create(speaking())), Groq.AuthenticationError);
});

t.test('a stream that fails midway is a failure', async (t) => {
  const read = async () => {
    let chunks = 0;
    const endless = speaking({ stream: true, messages: [{ role: 'user', content: ENDLESS }] });
    for await (const chunk of await completions.create(endless))
      if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
  };
  t.type(await failureOf(read()), Groq.APIError);
});
