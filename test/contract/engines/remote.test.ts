/** Remote engines over real HTTP: speech from a server whose answers the test sets. */
import { getEventListeners } from 'node:events';
import { decode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { TtsEngine, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { createNativeSpeech } from '../../../engines/backends/native-compatible/index.js';
import {
  createOpenaiSpeech,
  createOpenaiTranscriber,
} from '../../../engines/backends/openai-compatible/index.js';
import { wavFile } from '../../../engines/backends/remote/audio.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import { segmentsOf } from '../../fixtures/engines/listening.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { badField, remoteService } from '../../fixtures/engines/remote-service.js';
import { until } from '../../fixtures/until.js';

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
  exactly(t, decode(cloned.body), {
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
  exactly(t, await bodyOf({ normalize: false, latency: 'balanced', chunkLength: 120 }), {
    normalize: false,
    latency: 'balanced',
    chunk_length: 120,
  });
  const plain = await bodyOf({});
  t.notOk('normalize' in plain || 'chunk_length' in plain, 'what nobody asked is left to the service');
  t.equal(plain['latency'], 'normal');
  t.same((await bodyOf({ voice: '', speakers: ['nova', 'onyx'] }))['reference_id'], ['nova', 'onyx']);
  const said = { audio: new Uint8Array([1]), text: 'a' };
  exactly(t, await bodyOf({ voice: '', speakers: [[said], [said, said]] }), {
    references: [[{ text: 'a' }], [{ text: 'a' }, { text: 'a' }]],
  });
});

t.test('a service with our own API is asked for the model that the client named', async (t) => {
  remote.answers((response) => void response.end(pcm(500)));
  const front = await startGateway({
    TTS_ENGINES: 'native-compatible',
    STT_ENGINES: 'tone',
    REMOTE_NATIVE_URL: remote.url,
    REMOTE_NATIVE_RATE: '16000',
    REMOTE_NATIVE_TTS_MODEL: 'own',
    REMOTE_NATIVE_TTS_MODELS: 's1,s2-pro',
  });
  t.teardown(() => front.stop());
  const asked = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${front.base}${path}`, {
      method: 'POST',
      headers: { ...front.authorization, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    t.equal(response.status, 200, path);
    await response.arrayBuffer();
    return remote.asked.at(-1)?.headers['model'];
  };
  const [native, protocolA, protocolB] = ['/v1/tts', '/compat/v1/audio/speech', '/compat/elevenlabs/v1/text-to-speech/default']; // oxfmt-ignore
  t.equal(await asked(native, { text: 'Hello.' }, { model: 's1' }), 's1', 'the header');
  t.equal(await asked(protocolA, { model: 'svc/s1', input: 'Hello.' }), 's1');
  t.equal(await asked(protocolB, { model_id: 'svc/s2-pro', text: 'Hello.' }), 's2-pro');
  t.equal(await asked(native, { text: 'Hello.' }), 'own', 'no model');
  t.equal(await asked(protocolA, { model: 'tts-1', input: 'Hello.' }), 'own', 'an alias');
  for (const text of ['One.', 'Two.'])
    t.equal(await asked(native, { text }, { model: 's2.1-pro-free' }), 'own', 'a model that is not listed');
  const said = (): number => front.stderr().split('REMOTE_NATIVE_TTS_MODELS does not list').length - 1;
  await until('the log says so', () => said() > 0);
  t.equal(said(), 1, 'once');
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
    await rejectsExactly(
      t,
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
        await rejectsExactly(t, speakAll(engine, request), {
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
    await rejectsExactly(t, speakAll(openai, request), { code: 'provider_failed', status: 502 });
    t.equal(remote.asked.length, before + 1, 'a redirect is not followed');
    const nobody = createOpenaiSpeech({ ...settings, urls: ['http://127.0.0.1:1'] });
    await rejectsExactly(t, speakAll(nobody, request), { code: 'provider_failed', status: 502 });
  },
);

t.test('a refusal whose message is unusable, or never comes, is told by its status', async (t) => {
  const plain = 'The speech provider answered 400';
  const bodies: [object, string][] = [
    [{ error: '' }, plain],
    [{ error: ' ', message: 'Too strange' }, 'Too strange'],
    [{ detail: [{ loc: [{ toString: 1 }], msg: 'No' }] }, 'No'],
    [{ detail: [{ loc: ['body', 0, { toString: 1 }], msg: 'No' }] }, 'body.0: No'],
    [{ message: `${'x'.repeat(299)}👍` }, `${'x'.repeat(299)}\ufffd`],
  ];
  for (const [body, message] of bodies) {
    remote.answers((response) => void response.writeHead(400).end(JSON.stringify(body)));
    await rejectsExactly(t, speakAll(openai, request), { code: 'provider_failed', status: 400, message });
  }
  remote.answers((response) => void response.writeHead(400).write('{"message":'));
  for (const engine of [createOpenaiSpeech, createNativeSpeech].map((made) =>
    made({ ...settings, stallMs: 100 }),
  ))
    await rejectsExactly(t, speakAll(engine, request), { status: 400, message: plain });
  const transcriber = createOpenaiTranscriber({ ...settings, stallMs: 100 });
  const audio = new Int16Array(16_000).fill(1000);
  await rejectsExactly(t, segmentsOf(transcriber, audio), { status: 400, message: plain });
});

t.test('a stream that breaks is a failure, however it is sent', async (t) => {
  for (const length of [{}, { 'content-length': 100_000 }]) {
    remote.answers(async (response) => {
      response.writeHead(200, length);
      await new Promise((sent) => response.write(pcm(4000), sent));
      response.destroy();
    });
    await rejectsExactly(t, speakAll(openai, request), { code: 'provider_failed', status: 502 });
    await rejectsExactly(t, speakAll(native, request), { code: 'provider_failed', status: 502 });
  }
});

t.test('an answer without audio, or of something else, is a failure', async (t) => {
  for (const engine of [openai, native]) {
    remote.answers((response) => void response.end());
    await rejectsExactly(t, speakAll(engine, request), {
      code: 'provider_failed',
      status: 502,
      message: /without audio/,
    });
    for (const type of ['text/html; charset=utf-8', 'application/json', 'application/problem+json']) {
      remote.answers((response) => void response.writeHead(200, { 'content-type': type }).end('<html>'));
      await rejectsExactly(
        t,
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
  await rejectsExactly(t, speakAll(wav, request), { code: 'provider_failed', message: /without audio/ });
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
    await rejectsExactly(t, speakAll(engine, request), {
      code: 'provider_failed',
      status: 502,
      message: /stopped/,
    });
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
    await rejectsExactly(t, reading, { name: 'AbortError' });
    await until('the service sees the abort', () => gone);
  }
});

t.test('a text without words is not sent to the service', async (t) => {
  const before = remote.asked.length;
  for (const text of ['', ' ', '...', '—'])
    t.equal((await speakAll(openai, { ...request, text })).samples.length, 0);
  t.equal(remote.asked.length, before);
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
