/** Another gateway of ours as a remote engine. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE } from '../../../contracts/audio.js';
import { LANGUAGES } from '../../../contracts/speech/languages.js';
import type { TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createNativeSpeech,
  createNativeTranscriber,
} from '../../../engines/backends/native-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { hearsWordsInTime } from '../../fixtures/engines/speech-double.js';
import { speaksAndHears } from '../../fixtures/engines/through-gateway.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
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
  await t.test('its words come back with their times', (t) =>
    hearsWordsInTime(t, createNativeTranscriber(there)),
  );
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
    await speaksAndHears(t, front, 'Through two gateways.');
  });
});
