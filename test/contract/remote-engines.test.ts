/** Remote engines over real HTTP: a server whose answers the test sets, and another gateway of ours. */
import { getEventListeners } from 'node:events';
import { decode } from '@msgpack/msgpack';
import t from 'tap';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { LANGUAGES } from '../../contracts/speech/languages.js';
import type { TimedWord, TtsEngine, TtsRequest } from '../../contracts/ports/speech/tts.js';
import {
  createNativeSpeech,
  createNativeTranscriber,
} from '../../engines/backends/native-compatible/index.js';
import {
  createOpenaiSpeech,
  createOpenaiTranscriber,
} from '../../engines/backends/openai-compatible/index.js';
import { wavFile } from '../../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../../engines/backends/remote/settings.js';
import { createToneSpeech } from '../../engines/backends/tone/index.js';
import { speakAll, ttsConformance } from '../../engines/conformance.js';
import { joined, segmentsOf, silence, streamed } from '../fixtures/engines-listening.js';
import { sharedGateway, startGateway, TEST_KEY } from '../fixtures/gateway.js';
import { badField, remoteService } from '../fixtures/remote-service.js';
import { until } from '../fixtures/until.js';

const remote = await remoteService(t);
const settings: RemoteSettings = {
  urls: [remote.url],
  key: 'operators-own',
  ttsModel: 'm-tts',
  sttModel: 'm-stt',
  voices: ['nova', 'onyx'],
  languages: LANGUAGES,
  format: 'pcm',
  rate: RECOGNITION_RATE,
};
const openai = createOpenaiSpeech(settings);
const native = createNativeSpeech(settings);
const neverAborted = new AbortController().signal;
const request: TtsRequest = { text: 'Hello.', voice: 'nova', language: 'en', speed: 1.5 };
const pcm = (length: number) => wavFile(new Int16Array(length).fill(9)).subarray(44);

t.test('the request is in the words of its API', async (t) => {
  remote.answers((response) => void response.end(pcm(500)));
  t.equal((await speakAll(openai, request)).samples.length, 500);
  const spoken = remote.asked.at(-1)!;
  t.equal(spoken.url, '/audio/speech');
  t.equal(spoken.headers.authorization, 'Bearer operators-own');
  t.same(JSON.parse(spoken.body.toString()), {
    model: 'm-tts',
    voice: 'nova',
    input: 'Hello.',
    response_format: 'pcm',
    speed: 1.5,
  });

  const references = [{ audio: new Uint8Array([1, 2, 3]), text: 'as said' }];
  await speakAll(native, {
    ...request,
    references,
    sampling: { temperature: 0.5, topP: 0.6, repetitionPenalty: 1.1 },
  });
  const cloned = remote.asked.at(-1)!;
  t.equal(cloned.url, '/v1/tts');
  t.equal(cloned.headers['model'], 'm-tts');
  t.match(decode(cloned.body), {
    text: 'Hello.', format: 'pcm', sample_rate: RECOGNITION_RATE, reference_id: 'nova', prosody: { speed: 1.5 },
    temperature: 0.5, top_p: 0.6, repetition_penalty: 1.1,
    references: [{ audio: Buffer.from([1, 2, 3]), text: 'as said' }],
  }); // oxfmt-ignore
  await speakAll(native, { ...request, voice: 'default' });
  t.notOk('reference_id' in (decode(remote.asked.at(-1)!.body) as object), 'the default voice has no name');
});

t.test('the client’s options of the synthesis are passed on to a service with our own API', async (t) => {
  remote.answers((response) => void response.end(pcm(500)));
  const bodyOf = async (more: Partial<TtsRequest>) => {
    await speakAll(native, { ...request, ...more });
    return decode(remote.asked.at(-1)!.body) as Record<string, unknown>;
  };
  t.match(await bodyOf({ normalize: false, latency: 'balanced', chunkLength: 120 }), {
    normalize: false,
    latency: 'balanced',
    chunk_length: 120,
  });
  const plain = await bodyOf({});
  t.notOk('normalize' in plain || 'chunk_length' in plain, 'what nobody asked is left to the service');
  t.equal(plain['latency'], 'normal');
  t.same((await bodyOf({ voice: '', speakers: ['nova', 'onyx'] }))['reference_id'], ['nova', 'onyx']);
  const said = { audio: new Uint8Array([1]), text: 'a' };
  t.match(await bodyOf({ voice: '', speakers: [[said], [said, said]] }), {
    references: [[{ text: 'a' }], [{ text: 'a' }, { text: 'a' }]],
  });
});

t.test(
  'a refusal keeps its status, gives a reason only if it is about the request, and is not retried',
  async (t) => {
    const cases: [number, object | string, object][] = [
      [400, { error: { message: 'Input is too strange' } }, { message: 'Input is too strange' }],
      [422, { message: 'No such voice' }, { message: 'No such voice' }],
      [422, badField('voice', 'No such voice'), { message: 'body.voice: No such voice' }],
      [400, { error: 'The model is not loaded' }, { message: 'The model is not loaded' }],
      [
        401,
        { error: { message: 'Incorrect API key provided: operators-own' } },
        { status: 502, message: 'The speech provider does not accept this gateway' },
      ],
      [402, { message: 'pay' }, { status: 402 }],
      [429, 'slow down', { retryAfter: 7 }],
      [500, '<html>', { message: 'The speech provider answered 500' }],
      [503, '', { status: 503 }],
    ];
    remote.answers((response) => void response.writeHead(429).end());
    await t.rejects(
      speakAll(native, request),
      { code: 'provider_failed', status: 429, retryAfter: 1 },
      'a time is always told',
    );
    for (const engine of [openai, native]) {
      for (const [status, body, shown] of cases) {
        remote.answers((response) => {
          response
            .writeHead(status, { 'retry-after': '7' })
            .end(typeof body === 'string' ? body : JSON.stringify(body));
        });
        const before = remote.asked.length;
        await t.rejects(speakAll(engine, request), {
          code: 'provider_failed',
          origin: 'service',
          status,
          ...shown,
        });
        t.equal(remote.asked.length, before + 1, 'asked once');
      }
    }
    remote.answers((response) => void response.writeHead(307, { location: `${remote.url}/elsewhere` }).end());
    const before = remote.asked.length;
    await t.rejects(speakAll(openai, request), { code: 'provider_failed', status: 502 });
    t.equal(remote.asked.length, before + 1, 'a redirect is not followed');
    const nobody = createOpenaiSpeech({ ...settings, urls: ['http://127.0.0.1:1'] });
    await t.rejects(speakAll(nobody, request), { code: 'provider_failed', status: 502 });
  },
);

t.test('a stream that breaks is a failure, however it is sent', async (t) => {
  for (const length of [{}, { 'content-length': 100_000 }]) {
    remote.answers(async (response) => {
      response.writeHead(200, length);
      await new Promise((sent) => response.write(pcm(4000), sent));
      response.destroy();
    });
    await t.rejects(speakAll(openai, request), { code: 'provider_failed', status: 502 });
    await t.rejects(speakAll(native, request), { code: 'provider_failed', status: 502 });
  }
});

t.test('an answer without audio, or of something else, is a failure', async (t) => {
  for (const engine of [openai, native]) {
    remote.answers((response) => void response.end());
    await t.rejects(speakAll(engine, request), {
      code: 'provider_failed',
      status: 502,
      message: /without audio/,
    });
    for (const type of ['text/html; charset=utf-8', 'application/json', 'application/problem+json']) {
      remote.answers((response) => void response.writeHead(200, { 'content-type': type }).end('<html>'));
      await t.rejects(
        speakAll(engine, request),
        { code: 'provider_failed', message: /did not answer audio/ },
        type,
      );
    }
  }
  remote.answers((response) => void response.end());
  t.equal((await speakAll(openai, { ...request, text: '===' })).samples.length, 0, 'signs may be silent');
  remote.answers((response) => void response.end(wavFile(new Int16Array(0))));
  const wav = createOpenaiSpeech({ ...settings, format: 'wav' });
  await t.rejects(speakAll(wav, request), { code: 'provider_failed', message: /without audio/ });
});

t.test('a service that stops in the middle is left, and a reader that stops is waited for', async (t) => {
  const impatient = { ...settings, stallMs: 300 };
  for (const engine of [createOpenaiSpeech(impatient), createNativeSpeech(impatient)]) {
    let gone = false;
    remote.answers((response) => {
      response.on('close', () => (gone = true));
      response.write(pcm(800));
    });
    const before = remote.asked.length;
    await t.rejects(speakAll(engine, request), { code: 'provider_failed', status: 502, message: /stopped/ });
    await until('its connection is destroyed', () => gone);
    t.equal(remote.asked.length, before + 1, 'nobody else is asked');

    remote.answers(async (response) => {
      await new Promise((sent) => response.write(pcm(800), sent));
      response.end(pcm(800));
    });
    let heard = 0;
    for await (const event of engine.synthesize(request, neverAborted)) {
      if (event.kind === 'audio') heard += event.samples.length;
      await new Promise((resolve) => setTimeout(resolve, 450));
    }
    t.equal(heard, 1600);
  }
});

t.test('audio is passed on as it comes, and leaving or aborting ends the request', async (t) => {
  for (const engine of [openai, native] as TtsEngine[]) {
    let gone = false;
    remote.answers((response) => {
      response.on('close', () => (gone = true));
      response.write(pcm(800));
    });
    for await (const event of engine.synthesize(request, neverAborted)) if (event.kind === 'audio') break;
    await until('the service sees that the reader left', () => gone);
    t.same(
      getEventListeners(neverAborted, 'abort'),
      [],
      'a signal that outlives the request keeps nothing of it',
    );

    gone = false;
    const abort = new AbortController();
    const reading = speakAll(engine, request, abort.signal);
    const asked = remote.asked.length;
    await until('it is asked', () => remote.asked.length > asked);
    abort.abort();
    await t.rejects(reading, { name: 'AbortError' });
    await until('the service sees the abort', () => gone);
  }
});

t.test('a text without words is not sent to the service', async (t) => {
  const before = remote.asked.length;
  for (const text of ['', ' ', '...', '—'])
    t.equal((await speakAll(openai, { ...request, text })).samples.length, 0);
  t.equal(remote.asked.length, before);
});

t.test('transcriptions: a WAV of the audio, words of the answer', async (t) => {
  remote.answers((response) => {
    response.end(
      JSON.stringify({
        text: 'Hello you.',
        words: [
          { word: 'Hello', start: 0.1, end: 0.4 },
          { word: 'you.', start: 0.4, end: 0.9 },
        ],
      }),
    );
  });
  const audio = new Int16Array(16_000).fill(1000);
  const heard = [];
  for await (const segment of createOpenaiTranscriber(settings).transcribe(
    streamed(audio),
    { language: 'de', words: true },
    neverAborted,
  ))
    heard.push(segment);
  t.same(
    heard[0]?.words?.map(({ text }) => text),
    ['Hello', 'you.'],
  );
  const asked = remote.asked.at(-1)!;
  t.equal(asked.url, '/audio/transcriptions');
  const form = await new Response(new Uint8Array(asked.body), {
    headers: { 'content-type': asked.headers['content-type']! },
  }).formData();
  t.equal(form.get('model'), 'm-stt');
  t.equal(form.get('language'), 'de');
  t.equal(form.get('response_format'), 'verbose_json');
  const file = Buffer.from(await (form.get('file') as File).arrayBuffer());
  t.ok(file.equals(wavFile(audio)), 'sample for sample');

  remote.answers((response) => void response.writeHead(429).end());
  await t.rejects(segmentsOf(createOpenaiTranscriber(settings), audio), {
    code: 'provider_failed',
    status: 429,
  });
  remote.answers(async (response) => {
    await new Promise((sent) => response.write('{"text": "Hel', sent));
    response.destroy();
  });
  await t.rejects(segmentsOf(createNativeTranscriber(settings), audio), {
    code: 'provider_failed',
    status: 502,
  });
});

t.test('a service whose model tells no times is asked for the text alone', async (t) => {
  const audio = new Int16Array(16_000).fill(1000);
  const formatOf = (body: Buffer) => /name="response_format"\r\n\r\n(\w+)/.exec(body.toString('latin1'))?.[1];
  const refusals = [
    { error: { message: "response_format 'verbose_json' is not compatible with this model. Use 'json'." } },
    { object: 'error', message: 'Currently only support response_format `text` or `json`' },
    badField('response_format', "Input should be 'json'"),
  ];
  for (const refusal of refusals) {
    const asked: (string | undefined)[] = [];
    remote.answers((response, body) => {
      asked.push(formatOf(body));
      const told = asked.at(-1) === 'json' && !body.includes('timestamp_granularities');
      response.writeHead(told ? 200 : 400).end(JSON.stringify(told ? { text: 'Hello you.' } : refusal));
    });
    const transcriber = createOpenaiTranscriber(settings);
    for (let round = 0; round < 2; round++)
      t.match(await segmentsOf(transcriber, audio), [{ text: 'Hello you.' }]);
    t.strictSame(asked, ['verbose_json', 'json', 'json'], 'it is remembered');
  }
  const before = remote.asked.length;
  remote.answers(
    (response) => void response.writeHead(400).end('{"error":{"message":"Audio is too short"}}'),
  );
  await t.rejects(segmentsOf(createOpenaiTranscriber(settings), audio), { message: 'Audio is too short' });
  t.equal(remote.asked.length, before + 1, 'any other refusal is final');
});

t.test('speech is the same wherever it lies in what is received', async (t) => {
  const samples = Int16Array.from({ length: 500 }, (_, index) => index);
  // In one packet with its head, which puts it at an even place or, a byte longer, at an odd one.
  for (const padding of ['a', 'aa']) {
    const head = `HTTP/1.1 200 OK\r\nx-padding: ${padding}\r\ncontent-length: 1000\r\n\r\n`;
    const packet = Buffer.concat([Buffer.from(head), wavFile(samples).subarray(44)]);
    remote.answers(({ socket }) => void socket?.end(packet));
    t.strictSame((await speakAll(native, request)).samples, samples, padding);
  }
});

t.test('another gateway as the remote', async (t) => {
  const other = await sharedGateway(t);
  const there: RemoteSettings = { ...settings, urls: [other.base], key: TEST_KEY, voices: ['default'] };
  for (const format of ['pcm', 'wav'] as const) {
    await t.test(`speech as ${format}`, (t) => {
      const engine = createNativeSpeech({ ...there, format });
      // Tones have only one speed; requests with a speed are tested above.
      const capabilities = { ...engine.capabilities, speed: false };
      return ttsConformance(
        t,
        { ...engine, capabilities },
        { sentence: 'Tones carry text.', deterministic: true },
      );
    });
  }
  await t.test('its words come back with their times', async (t) => {
    const tone = await speakAll(createToneSpeech(), {
      text: 'Tones carry text.',
      voice: 'tone',
      language: 'en',
      speed: 1,
      timing: true,
    });
    const words: TimedWord[] = [];
    const audio = joined(silence(0.5), tone.samples);
    for await (const segment of createNativeTranscriber(there).transcribe(
      streamed(audio),
      { words: true },
      neverAborted,
    ))
      words.push(...(segment.words ?? []));
    t.same(
      words.map(({ text }) => text),
      ['Tones', 'carry', 'text.'],
    );
    words.forEach(({ start }, index) => t.ok(Math.abs(start - 0.5 - tone.words[index]!.start) < 0.05));
  });
  await t.test('its refusals are ours: a wrong key, reference audio that it cannot use', async (t) => {
    const wrong = createNativeSpeech({ ...there, key: 'nobody' });
    await t.rejects(speakAll(wrong, { ...request, speed: 1 }), { code: 'provider_failed', status: 502 });
    const references = [{ audio: new Uint8Array([1]), text: 'x' }];
    await t.rejects(
      speakAll(createNativeSpeech(there), { ...request, voice: 'default', speed: 1, references }),
      { code: 'provider_failed', status: 400 },
    );
  });
  await t.test('a gateway in front of it speaks and hears through it', async (t) => {
    const front = await startGateway({
      TTS_ENGINES: 'native-compatible',
      STT_ENGINES: 'native-compatible',
      REMOTE_NATIVE_URL: other.base,
      REMOTE_NATIVE_KEY: TEST_KEY,
      REMOTE_NATIVE_RATE: '16000',
    });
    t.teardown(() => front.stop());
    const spoken = await fetch(`${front.base}/v1/tts`, {
      method: 'POST',
      headers: { ...front.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Through two gateways.', format: 'wav' }),
    });
    t.equal(spoken.status, 200);
    const form = new FormData();
    form.append('audio', await spoken.blob());
    const heard = await fetch(`${front.base}/v1/asr`, {
      method: 'POST',
      headers: front.authorization,
      body: form,
    });
    t.match(await heard.json(), { text: 'Through two gateways.' });
  });
});
