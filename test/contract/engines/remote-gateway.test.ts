/** Another gateway of ours as a remote engine. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { TimedWord, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createNativeSpeech,
  createNativeTranscriber,
} from '../../../engines/backends/native-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { createToneSpeech } from '../../../engines/backends/tone/index.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { joined, silence, streamed } from '../../fixtures/engines/listening.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway, startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';

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
const neverAborted = new AbortController().signal;
const request: TtsRequest = { text: 'Hello.', voice: 'nova', language: 'en', speed: 1.5 };

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
    await rejectsExactly(t, speakAll(wrong, { ...request, speed: 1 }), {
      code: 'provider_failed',
      status: 502,
    });
    const references = [{ audio: new Uint8Array([1]), text: 'x' }];
    await rejectsExactly(
      t,
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
    exactly(t, await heard.json(), { text: 'Through two gateways.' });
  });
});
