/** Another gateway of ours as a remote engine, through protocol B: alone, and behind a gateway. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import type { TtsEngine, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createElevenlabsSpeech,
  createElevenlabsTranscriber,
} from '../../../engines/backends/elevenlabs-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { hearsWordsInTime, toneOf } from '../../fixtures/engines/speech-double.js';
import { Client } from '../../fixtures/protocol-b/realtime-client.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway, startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { BASE, KEY, type Timed } from '../../fixtures/protocol-b/rest.js';

const other = await sharedGateway(t);
const settings: RemoteSettings = {
  urls: [`${other.base}${BASE}`],
  key: TEST_KEY,
  keyAs: 'xi-api-key',
  ttsModel: 's2.1-pro',
  sttModel: 'transcribe-1',
  voices: ['default'],
  format: 'pcm',
  rate: RECOGNITION_RATE,
};
const request: TtsRequest = { text: 'Tones carry text.', voice: 'default', language: 'en', speed: 1 };

t.test('it keeps the promises of its port', (t) => {
  const engine = createElevenlabsSpeech(settings);
  const { name, voices } = engine;
  // Tones have one speed; and how long a mark at the end of a word lasts depends on what the other gateway knows when it tells it.
  const capabilities = { ...engine.capabilities, speed: false, timing: 'none' } as const;
  const synthesize: TtsEngine['synthesize'] = (asked, signal) =>
    engine.synthesize({ ...asked, timing: false, latency: 'low' }, signal);
  return ttsConformance(
    t,
    { name, voices, synthesize, capabilities },
    { sentence: 'Tones carry text.', deterministic: true },
  );
});

t.test('it lists its voices, and says who may not', async (t) => {
  const engine = createElevenlabsSpeech({ ...settings, voices: [] });
  await engine.learnVoices!(new AbortController().signal);
  t.ok(engine.voices.some(({ title }) => title === 'Tone (for tests)'));
  const [voice] = engine.voices;
  t.ok((await speakAll(engine, { ...request, voice: voice!.name })).samples.length > 0);
  const wrong = createElevenlabsSpeech({ ...settings, key: 'nobody' });
  for (const asked of [request, { ...request, latency: 'low' } as const])
    await rejectsExactly(t, speakAll(wrong, asked), { code: 'provider_failed', status: 502, answered: 401 });
});

t.test('its words come back with their times', (t) =>
  hearsWordsInTime(t, createElevenlabsTranscriber(settings)),
);

t.test('a gateway in front of it speaks, times and hears through it', async (t) => {
  const front = await startGateway({
    TTS_ENGINES: 'elevenlabs-compatible',
    STT_ENGINES: 'elevenlabs-compatible/speech-box',
    REMOTE_ELEVENLABS_URL: `${other.base}${BASE}`,
    REMOTE_ELEVENLABS_KEY: TEST_KEY,
    REMOTE_ELEVENLABS_TTS_MODEL: 's2.1-pro',
    REMOTE_ELEVENLABS_RATE: '16000',
    REMOTE_ELEVENLABS_PASS_THROUGH: 'mp3_44100_128,opus_48000',
    REMOTE_1_KIND: 'elevenlabs-compatible',
    REMOTE_1_NAME: 'speech-box',
    REMOTE_1_URL: `${other.base}${BASE}`,
    REMOTE_1_KEY: TEST_KEY,
    REMOTE_1_STT_MODEL: 'transcribe-1',
    REMOTE_1_STT_LIVE_MODEL: 'transcribe-1',
    REMOTE_1_VOICES: 'default',
    REMOTE_1_RATE: '16000',
    REMOTE_1_TTS_MODEL: 's2.1-pro',
  });
  t.teardown(() => front.stop());
  const { items } = (await (await fetch(`${front.base}/model`, { headers: front.authorization })).json()) as {
    items: { _id: string; title: string; tags: string[] }[];
  };
  t.ok(
    items.some(({ title }) => title === 'Tone (for tests)'),
    'the other one lists its voices here',
  );
  t.ok(items.some(({ tags }) => tags.includes('elevenlabs-compatible/speech-box')));
  const post = (path: string, body: object) =>
    fetch(`${front.base}${path}`, {
      method: 'POST',
      headers: { ...KEY, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const spoken = await post(`${BASE}/v1/text-to-speech/default/with-timestamps?output_format=pcm_16000`, {
    text: 'Through two gateways.',
    model_id: 's2.1-pro',
  });
  t.equal(spoken.status, 200);
  const { audio_base64: audio, alignment } = (await spoken.json()) as Timed;
  t.equal(alignment!.characters.join(''), 'Through two gateways.');
  const ends = alignment!.character_end_times_seconds;
  t.ok(ends.every((end, at) => at === 0 || end >= ends[at - 1]!) && ends.at(-1)! > 0.3);
  const form = new FormData();
  form.append('file', new Blob([Buffer.from(audio, 'base64')]));
  form.append('file_format', 'pcm_s16le_16');
  form.append('model_id', 'transcribe-1');
  const heard = await fetch(`${front.base}${BASE}/v1/speech-to-text`, {
    method: 'POST',
    headers: KEY,
    body: form,
  });
  exactly(t, await heard.json(), { text: 'Through two gateways.' });

  for (const format of ['mp3_44100_128', 'opus_48000_64']) {
    const path = `/v1/text-to-speech/default/stream?output_format=${format}`;
    const asked = { text: 'Passed on as it is.', model_id: 's2.1-pro' };
    const passed = await post(`${BASE}${path}`, asked);
    t.equal(passed.status, 200);
    const direct = await fetch(`${other.base}${BASE}${path}`, {
      method: 'POST',
      headers: { ...KEY, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    });
    const [here, there] = await Promise.all([passed, direct].map((each) => each.arrayBuffer()));
    t.equal(here!.byteLength, there!.byteLength, `${format} is what the other has encoded`);
    // Each Ogg stream has a number of its own.
    if (format.startsWith('mp3')) t.ok(Buffer.from(here!).equals(Buffer.from(there!)), 'byte for byte');
  }

  const client = new Client(front.base, '', KEY);
  await client.sees('session_started');
  // Partial transcripts are made of each 0.7 s, in which a tone is read once it is whole.
  const [one, two] = await Promise.all(['one', 'two'].map(toneOf));
  client.speak(joined(samplesOf(one!.bytes), silence(0.5), samplesOf(two!.bytes), silence(1)));
  t.match(String((await client.sees('partial_transcript'))['text']), /^one/);
  client.commit();
  t.equal((await client.sees('committed_transcript'))['text'], 'one two');
  client.socket.close();
});
