/**
 * The unmodified @openrouter/sdk on chat completions of the aggregator base. It checks every answer and every chunk
 * against its own schemas, so a call that resolves has passed them. It strips `audio` from a request: without a
 * hook, voice and format are our defaults.
 */
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import t from 'tap';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakEncoder, ENDLESS, failureOf, heardBy } from './streams.mjs';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const client = (apiKey = TEST_KEY, httpClient = undefined) =>
  new OpenRouter({
    apiKey,
    serverURL: `${gateway.base}/compat/api/v1`,
    retryConfig: { strategy: 'none' },
    ...(httpClient ? { httpClient } : {}),
  });

/** A client that adds fields to each request: the SDK would strip them. */
function adding(fields) {
  const http = new HTTPClient();
  http.addHook('beforeRequest', async (request) => {
    const body = { ...(await request.json()), ...fields };
    return new Request(request, { body: JSON.stringify(body) });
  });
  return client(TEST_KEY, http);
}

const WAV = { audio: { voice: 'alloy', format: 'wav' } };
const TEXT = 'Tones carry text, exactly.';
const send = (fields = {}, by = adding(WAV)) =>
  by.chat.send({
    chatRequest: {
      model: 'svc/s2.1-pro',
      modalities: ['text', 'audio'],
      messages: [{ role: 'user', content: TEXT }],
      ...fields,
    },
  });

let data;

t.test('whole: the result passes its schema', async (t) => {
  const result = await send();
  const { message, finishReason } = result.choices[0];
  t.match(result, { object: 'chat.completion', usage: { totalTokens: Number } });
  t.equal(finishReason, 'stop');
  t.match(message.audio, { id: String, transcript: TEXT, expiresAt: Number });
  ({ data } = message.audio);
  t.equal(await heardBy(gateway, Buffer.from(data, 'base64')), TEXT);
});

t.test('streamed: every chunk passes its schema', async (t) => {
  let streamed = '';
  let transcript = '';
  let usage;
  for await (const chunk of await send({ stream: true, streamOptions: { includeUsage: true } })) {
    t.notOk(chunk.error);
    const { audio } = chunk.choices[0]?.delta ?? {};
    streamed += audio?.data ?? '';
    transcript += audio?.transcript ?? '';
    usage = chunk.usage ?? usage;
  }
  t.equal(transcript, TEXT);
  t.equal(streamed, data);
  t.match(usage, { promptTokens: Number, completionTokens: Number, totalTokens: Number });
});

t.test('without a hook: the default voice, and pcm', async (t) => {
  const { choices } = await send({}, client());
  const pcm = Buffer.from(choices[0].message.audio.data, 'base64');
  t.equal(pcm.length % 2, 0);
  t.not(pcm.toString('latin1', 0, 4), 'RIFF');
});

t.test('audio input comes back as content', async (t) => {
  const messages = [
    { role: 'user', content: [{ type: 'input_audio', inputAudio: { data, format: 'wav' } }] },
  ];
  const hearing = { model: 'svc/transcribe-1', messages, modalities: undefined };
  t.equal((await send(hearing, client())).choices[0].message.content, TEXT);
  let text = '';
  for await (const { choices } of await send({ ...hearing, stream: true }, client()))
    text += choices[0]?.delta.content ?? '';
  t.equal(text, TEXT);
});

t.test('errors are its own classes, streamed or not', async (t) => {
  for (const stream of [true, false]) {
    t.type(await failureOf(send({ stream }, adding({ n: 2 }))), errors.BadRequestResponseError);
    const preset = adding({ audio: { voice: 'nova', format: 'wav' } });
    await t.rejects(send({ stream }, preset), { error: { code: 400, metadata: { provider_name: 'svc' } } });
    t.type(await failureOf(send({ stream }, client('wrong'))), errors.UnauthorizedResponseError);
  }
});

t.test('a stream that fails midway tells its error in a chunk that passes the schema', async (t) => {
  let last;
  let chunks = 0;
  const endless = { stream: true, messages: [{ role: 'user', content: ENDLESS }] };
  for await (const chunk of await send(endless)) {
    if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
    last = chunk;
  }
  t.match(last.error, { code: 502, metadata: { errorType: 'provider_unavailable' } });
  t.equal(last.choices[0].finishReason, 'error');
});
