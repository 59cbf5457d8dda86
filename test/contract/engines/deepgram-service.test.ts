/** The engine deepgram-compatible against a double of the service, alone and behind a gateway. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import type { TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createDeepgramSpeech,
  createDeepgramTranscriber,
} from '../../../engines/backends/deepgram-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { DEEPGRAM_KEY, deepgramService } from '../../fixtures/engines/deepgram-service.js';
import { joined, segmentsOf, silence, streamed } from '../../fixtures/engines/listening.js';
import { toneOf } from '../../fixtures/engines/speech-double.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';

const service = await deepgramService(t);
const settings: RemoteSettings = {
  urls: [service.url],
  key: DEEPGRAM_KEY,
  keyAs: 'token',
  keySetting: 'REMOTE_DEEPGRAM_KEY',
  ttsModel: '',
  sttModel: 'nova-3',
  voices: ['aura-2-thalia-en', 'aura-2-celeste-es', 'own'],
  format: 'pcm',
  rate: RECOGNITION_RATE,
};
const engine = createDeepgramSpeech(settings);
const ears = createDeepgramTranscriber(settings);
const request: TtsRequest = {
  text: 'Tones carry text.',
  voice: 'aura-2-thalia-en',
  language: 'en',
  speed: 1,
};
const last = () => service.asked.at(-1)!;

t.afterEach(() => void Object.assign(service.faults, { status: undefined }));

t.test('it keeps the promises of its port', (t) =>
  ttsConformance(t, engine, { sentence: 'Tones carry text.', deterministic: true }),
);

t.test('a voice is a model that says its language', async (t) => {
  t.same(
    engine.voices.slice(0, 2).map(({ name, languages }) => [name, languages]),
    [
      ['aura-2-thalia-en', ['en']],
      ['aura-2-celeste-es', ['es']],
    ],
  );
  t.ok(engine.voices[2]!.languages.length > 2, 'one that says none may speak any');
  t.equal(engine.capabilities.anyScript, false);
  const told = createDeepgramSpeech({ ...settings, languages: ['it'] });
  t.same([told.voices[0]?.languages, told.capabilities.languages], [['it'], ['it']], 'a setting goes first');
});

t.test('it is asked for raw audio, with its own scheme of keys', async (t) => {
  await speakAll(engine, request);
  t.equal(last().headers.authorization, `Token ${DEEPGRAM_KEY}`);
  t.same(Object.fromEntries(last().query), {
    model: 'aura-2-thalia-en',
    encoding: 'linear16',
    container: 'none',
    sample_rate: '16000',
  });
  t.same(JSON.parse(last().body.toString()), { text: 'Tones carry text.' });
});

t.test('words come as they are written, with their times', async (t) => {
  const { bytes, words } = await toneOf('Tones carry text.');
  const audio = joined(silence(0.5), samplesOf(bytes));
  const [first] = await segmentsOf(ears, audio);
  exactly(t, first, { text: 'Tones carry text.', language: 'en' });
  t.same(Object.fromEntries(last().query), {
    model: 'nova-3',
    smart_format: 'true',
    detect_language: 'true',
  });
  const found = [];
  const asked = { words: true, language: 'de' };
  for await (const segment of ears.transcribe(streamed(audio), asked, new AbortController().signal))
    found.push(...(segment.words ?? []));
  t.same(Object.fromEntries(last().query), { model: 'nova-3', smart_format: 'true', language: 'de' });
  t.same(
    found.map(({ text }) => text),
    ['Tones', 'carry', 'text.'],
  );
  found.forEach(({ start }, at) => t.ok(Math.abs(start - 0.5 - words[at]!.start) < 0.05));
});

t.test('what it refuses is told to whom it concerns', async (t) => {
  const audio = samplesOf((await toneOf('No.')).bytes);
  for (const [status, told] of [
    [400, { status: 400, message: 'It says no.' }],
    [401, { status: 502, answered: 401, cause: { message: /see REMOTE_DEEPGRAM_KEY/ } }],
    [402, { status: 402, answered: 402 }],
    [429, { status: 429, retryAfter: 1 }],
  ] as const) {
    service.faults.status = status;
    await rejectsExactly(t, speakAll(engine, request), { code: 'provider_failed', ...told });
    await rejectsExactly(t, segmentsOf(ears, audio), { code: 'provider_failed', ...told });
  }
});

t.test('a gateway speaks and hears through it', async (t) => {
  const front = await startGateway({
    TTS_ENGINES: 'deepgram-compatible',
    STT_ENGINES: 'deepgram-compatible',
    REMOTE_DEEPGRAM_URL: service.url,
    REMOTE_DEEPGRAM_KEY: DEEPGRAM_KEY,
    REMOTE_DEEPGRAM_RATE: '16000',
  });
  t.teardown(() => front.stop());
  const spoken = await fetch(`${front.base}/v1/tts`, {
    method: 'POST',
    headers: { ...front.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'There and back again.', format: 'wav' }),
  });
  t.equal(spoken.status, 200);
  const form = new FormData();
  form.append('audio', await spoken.blob());
  const heard = await fetch(`${front.base}/v1/asr`, {
    method: 'POST',
    headers: front.authorization,
    body: form,
  });
  exactly(t, await heard.json(), { text: 'There and back again.' });
  const german = await fetch(`${front.base}/v1/tts`, {
    method: 'POST',
    headers: { ...front.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Guten Morgen, wie geht es dir heute?', format: 'wav' }),
  });
  t.equal(german.status, 400, 'its one voice speaks English');
});
