/**
 * The unmodified @openrouter/sdk on the aggregator base: speech, transcriptions, models, chat completions. It checks every
 * answer and every chunk against its own schemas, so a call that resolves has passed them. It strips `audio` from a
 * request of chat: without a hook, voice and format are our defaults.
 */
import { HTTPClient, OpenRouter } from '@openrouter/sdk';
import * as errors from '@openrouter/sdk/models/errors';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakable, breakableOnce, failsHoweverItBreaks } from './breaks.mjs';
import { breakEncoder, bytesOf, ENDLESS, failureOf, heardBy } from './streams.mjs';

const { gateway } = breakable;

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

const TEXT = 'Tones carry text, exactly.';
const speak = (fields = {}, by = client()) =>
  by.tts.createSpeech({ speechRequest: { model: 'svc/s2.1-pro', input: TEXT, ...fields } });

let audio;
const transcribe = (fields = {}) =>
  client().stt.createTranscription({
    sttRequest: {
      model: 'svc/transcribe-1',
      inputAudio: { data: audio.toString('base64'), format: 'mp3' },
      ...fields,
    },
  });

t.test('tts.createSpeech: mp3, and pcm by default', async (t) => {
  audio = await bytesOf(await speak({ responseFormat: 'mp3' }));
  t.equal(audio[0], 0xff);
  const pcm = await bytesOf(await speak({ voice: 'alloy' }));
  t.ok(pcm.length > audio.length);
});

t.test('options that the SDK itself would strip, added on the way', async (t) => {
  await rejectsExactly(t, speak({}, adding({ temperature: 7 })), { message: /temperature/ });
});

t.test('stt.createTranscription: JSON, plain and verbose with words', async (t) => {
  exactly(t, await transcribe(), { text: TEXT, usage: { seconds: Number } });
  const verbose = await transcribe({
    responseFormat: 'verbose_json',
    timestampGranularities: ['word'],
    language: 'en',
  });
  exactly(t, verbose, { text: TEXT, task: 'transcribe', language: 'en', duration: Number });
  t.strictSame(
    verbose.words.map(({ word }) => word),
    TEXT.split(' '),
  );
  t.equal(verbose.segments.map(({ text }) => text).join(' '), TEXT);
  t.equal((await transcribe({ responseFormat: 'verbose_json' })).language, '');
});

t.test('stt.createTranscriptionMultipart', async (t) => {
  const requestBody = {
    model: 'svc/transcribe-1',
    file: { fileName: 'speech.mp3', content: audio },
    responseFormat: 'verbose_json',
    timestampGranularities: ['word', 'segment'],
  };
  const verbose = await client().stt.createTranscriptionMultipart({ requestBody });
  t.equal(verbose.text, TEXT);
  t.equal(verbose.words.length, TEXT.split(' ').length);
});

t.test('models.list passes its schema', async (t) => {
  const ids = async (outputModalities) => {
    const found = [];
    const pages = await client('any-key').models.list({ outputModalities });
    for await (const page of pages) found.push(...page.result.data.map(({ id }) => id));
    return found;
  };
  t.equal((await ids(undefined)).length, 5);
  t.equal((await ids('speech')).length, 4);
  t.strictSame(await ids('text'), ['svc/transcribe-1']);
});

t.test('models.list by pages ends', async (t) => {
  const pages = await client().models.list({ limit: 2 });
  const sizes = [];
  for await (const { result } of pages) {
    sizes.push(result.data.length);
    if (sizes.length > 5) break;
  }
  t.strictSame(sizes, [2, 2, 1]);
});

t.test('errors are its own classes', async (t) => {
  t.type(await failureOf(speak({ voice: 'Alloy' })), errors.BadRequestResponseError);
  await rejectsExactly(t, speak({ voice: 'Alloy' }), {
    error: { code: 400, metadata: { provider_name: 'svc' } },
  });
  t.type(await failureOf(speak({ responseFormat: 'flac' })), errors.BadRequestResponseError);
  t.type(await failureOf(speak({}, client('wrong'))), errors.UnauthorizedResponseError);
  t.type(await failureOf(transcribe({ model: 'svc/s1' })), errors.BadRequestResponseError);
  const inputReferences = [
    { type: 'input_audio', inputAudio: { data: audio.toString('base64'), format: 'mp3' } },
    { type: 'text', text: TEXT },
  ];
  await rejectsExactly(
    t,
    speak({ inputReferences }),
    { message: /reference audio/ },
    'no engine here can clone',
  );
});

t.test('a stream that fails midway is a failure', async (t) => {
  const start = (model) => speak({ model, input: ENDLESS, responseFormat: 'mp3' });
  await failsHoweverItBreaks(t, breakableOnce, start, { message: /terminated|aborted|other side closed/ });
});

const WAV = { audio: { voice: 'alloy', format: 'wav' } };
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

t.test('chat: whole: the result passes its schema', async (t) => {
  const result = await send();
  const { message, finishReason } = result.choices[0];
  exactly(t, result, { object: 'chat.completion', usage: { totalTokens: Number } });
  t.equal(finishReason, 'stop');
  exactly(t, message.audio, { id: String, transcript: TEXT, expiresAt: Number });
  ({ data } = message.audio);
  t.equal(await heardBy(gateway, Buffer.from(data, 'base64')), TEXT);
});

t.test('chat: streamed: every chunk passes its schema', async (t) => {
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
  exactly(t, usage, { promptTokens: Number, completionTokens: Number, totalTokens: Number });
});

t.test('chat: without a hook: the default voice, and pcm', async (t) => {
  const { choices } = await send({}, client());
  const pcm = Buffer.from(choices[0].message.audio.data, 'base64');
  t.equal(pcm.length % 2, 0);
  t.not(pcm.toString('latin1', 0, 4), 'RIFF');
});

t.test('chat: audio input comes back as content', async (t) => {
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

t.test('chat: errors are its own classes, streamed or not', async (t) => {
  for (const stream of [true, false]) {
    t.type(await failureOf(send({ stream }, adding({ n: 2 }))), errors.BadRequestResponseError);
    const preset = adding({ audio: { voice: 'nova', format: 'wav' } });
    await rejectsExactly(t, send({ stream }, preset), {
      error: { code: 400, metadata: { provider_name: 'svc' } },
    });
    t.type(await failureOf(send({ stream }, client('wrong'))), errors.UnauthorizedResponseError);
  }
});

t.test('chat: a stream that fails midway has its error in a chunk that fits the schema', async (t) => {
  let last;
  let chunks = 0;
  const endless = { stream: true, messages: [{ role: 'user', content: ENDLESS }] };
  for await (const chunk of await send(endless)) {
    if (chunk.choices[0]?.delta.audio?.data && ++chunks === 1) breakEncoder(gateway);
    last = chunk;
  }
  exactly(t, last.error, { code: 502, metadata: { errorType: 'provider_unavailable' } });
  t.equal(last.choices[0].finishReason, 'error');
  await breakable.recovered();
});
