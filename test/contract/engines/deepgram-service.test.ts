/** The engine deepgram-compatible against a double of the service, alone and behind a gateway. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createDeepgramSpeech,
  createDeepgramTranscriber,
} from '../../../engines/backends/deepgram-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { DEEPGRAM_KEY, deepgramService } from '../../fixtures/engines/deepgram-service.js';
import {
  heardWhile,
  joined,
  segmentsOf,
  silence,
  streamed,
  wordsHeard,
} from '../../fixtures/engines/listening.js';
import { hearsWordsInTime, toneOf } from '../../fixtures/engines/speech-double.js';
import { speaksAndHears } from '../../fixtures/engines/through-gateway.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';
import { Client } from '../../fixtures/protocol-b/realtime-client.js';

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
  const [first] = await segmentsOf(ears, samplesOf((await toneOf('Tones carry text.')).bytes));
  exactly(t, first, { text: 'Tones carry text.', language: 'en' });
  t.same(Object.fromEntries(last().query), {
    model: 'nova-3',
    smart_format: 'true',
    detect_language: 'true',
  });
  await hearsWordsInTime(t, ears, { language: 'de' });
  t.same(Object.fromEntries(last().query), { model: 'nova-3', smart_format: 'true', language: 'de' });
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

const LIVE = { ...settings, liveModel: 'nova-3' };
const live = createDeepgramTranscriber(LIVE);
const impatient = createDeepgramTranscriber({ ...LIVE, stallMs: 300 });

t.test('it hears while somebody speaks, and the end of the audio makes the rest final', async (t) => {
  const { bytes, words } = await toneOf('These tones carry a text.');
  const audio = joined(silence(0.5), samplesOf(bytes), silence(1.5));
  const heard = await heardWhile(live, audio, { language: 'en' });
  t.equal(last().path, '/v1/listen');
  t.same(Object.fromEntries(last().query), {
    model: 'nova-3',
    encoding: 'linear16',
    sample_rate: '16000',
    channels: '1',
    interim_results: 'true',
    smart_format: 'true',
    language: 'en',
  });
  const interim = heard.flatMap((each) => (each.kind === 'interim' ? each.text : []));
  t.equal(interim.at(-1), 'These tones carry a text.', 'before it has ended');
  const [final] = heard.flatMap((each) => (each.kind === 'final' ? each.segment : []));
  t.equal(final?.text, 'These tones carry a text.');
  final!.words!.forEach(({ start }, at) => t.ok(Math.abs(start - 0.5 - words[at]!.start) < 0.1));
  await until('the socket has ended', () => service.sockets.size === 0);
  await heardWhile(live, audio, { sampleRate: 16_000 });
  t.equal(last().query.get('language'), 'multi', 'any language, if none is named');
  t.equal(ears.listen, undefined, 'without such a model it hears whole audio only');
});

t.test('words that are expected are told in the field of the model', async (t) => {
  const audio = samplesOf((await toneOf('Yes.')).bytes);
  const context = { terms: ['Kathryn Schmitt', 'OpenClaw', 'a:5', 'x'.repeat(61)], before: 'Your name?' };
  const told = (name: string) => last().query.getAll(name);
  for (const [model, keyterm, keywords] of [
    ['nova-3', ['Kathryn Schmitt', 'OpenClaw'], []],
    ['nova-2-general', [], ['Kathryn', 'Schmitt', 'OpenClaw']],
    ['whisper-large', [], []],
  ] as const) {
    await wordsHeard(createDeepgramTranscriber({ ...settings, sttModel: model }), audio, { context });
    t.same([told('keyterm'), told('keywords')], [keyterm, keywords], model);
    await heardWhile(createDeepgramTranscriber({ ...LIVE, liveModel: model }), audio, { context });
    t.same([told('keyterm'), told('keywords')], [keyterm, keywords], `${model}, while it is spoken`);
  }
  await heardWhile(createDeepgramTranscriber({ ...LIVE, context: 'off' }), audio, { context });
  t.same(told('keyterm'), []);
  const many = { terms: Array.from({ length: 1000 }, (_, at) => `Kathryn the ${at}th`) };
  await heardWhile(live, audio, { context: many });
  const { terms, bytes } = LIMITS.remote.expected.keyterm;
  t.ok(told('keyterm').length <= terms && Buffer.byteLength(told('keyterm').join('')) <= bytes);
  t.ok(told('keyterm').length > 25);
});

t.test(
  'a socket that refuses words that are expected is opened without them, and not told any more',
  async (t) => {
    const audio = samplesOf((await toneOf('No.')).bytes);
    const context = { terms: ['Kathryn'] };
    const own = createDeepgramTranscriber(LIVE);
    service.faults.refuses = 'keyterm';
    const before = service.asked.length;
    for (let round = 0; round < 2; round++) t.ok((await heardWhile(own, audio, { context })).length > 0);
    const told = service.asked.slice(before).map(({ query }) => query.has('keyterm'));
    t.strictSame(told, [true, false, false]);
    service.faults.refuses = 'encoding';
    await rejectsExactly(t, heardWhile(own, audio, { context }), {
      status: 400,
      message: 'No encoding here.',
    });
    service.faults.refuses = undefined;
    await heardWhile(live, audio, { context });
    t.ok(last().query.has('keyterm'), 'another engine still is');
  },
);

t.test('a socket that fails while it hears is a failure, never half a transcript', async (t) => {
  const audio = samplesOf((await toneOf('No.')).bytes);
  service.faults.status = 401;
  await rejectsExactly(t, heardWhile(live, audio), { code: 'provider_failed', status: 502, answered: 401 });
  Object.assign(service.faults, { status: undefined, breaks: true });
  await rejectsExactly(t, heardWhile(live, audio), { code: 'provider_failed', status: 502 });
  Object.assign(service.faults, { breaks: false, stalls: true });
  await rejectsExactly(t, heardWhile(impatient, audio), {
    code: 'provider_failed',
    message: /did not answer/,
  });
  service.faults.stalls = false;
  const abort = new AbortController();
  const left = live.listen!(streamed(audio), {}, abort.signal)[Symbol.asyncIterator]();
  const waiting = left.next();
  abort.abort();
  await rejectsExactly(t, waiting, { name: 'AbortError' });
  await until('the socket has ended', () => service.sockets.size === 0);
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
  await speaksAndHears(t, front, 'There and back again.');
  const german = await fetch(`${front.base}/v1/tts`, {
    method: 'POST',
    headers: { ...front.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Guten Morgen, wie geht es dir heute?', format: 'wav' }),
  });
  t.equal(german.status, 400, 'its one voice speaks English');

  await t.test('realtime transcription is heard while it is sent', async (t) => {
    const client = new Client(front.base, '?include_timestamps=true', { 'xi-api-key': TEST_KEY });
    await client.sees('session_started');
    const { bytes, words } = await toneOf('These tones carry a text.');
    const audio = joined(samplesOf(bytes), silence(1.5));
    const from = service.asked.length;
    client.speak(audio);
    const partial = await client.sees('partial_transcript');
    t.match(String(partial['text']), /^These/);
    client.commit();
    const { text } = await client.sees('committed_transcript');
    t.equal(text, 'These tones carry a text.');
    t.same(
      service.asked.slice(from).map(({ method, path }) => `${method} ${path}`),
      ['GET /v1/listen'],
      'one socket, and nothing is sent twice',
    );
    client.speak(audio).commit();
    await client.sees('committed_transcript', 2);
    const timed = await client.sees('committed_transcript_with_timestamps', 2);
    const [first] = timed['words'] as { start: number }[];
    const passed = audio.length / RECOGNITION_RATE;
    t.ok(Math.abs(first!.start - passed - words[0]!.start) < 0.1, 'times go on from commit to commit');

    const told = new Client(front.base, '?keyterms=Kathryn%20Schmitt&keyterms=OpenClaw', {
      'xi-api-key': TEST_KEY,
    });
    await told.sees('session_started');
    told.speak(audio).commit();
    await told.sees('committed_transcript');
    t.same(last().query.getAll('keyterm'), ['Kathryn Schmitt', 'OpenClaw'], 'keyterms go on to it');
    told.socket.close();

    service.faults.breaks = true;
    client.speak(audio).commit();
    const saved = await client.sees('committed_transcript', 3);
    t.equal(saved['text'], 'These tones carry a text.');
    t.equal(last().method, 'POST', 'a socket that breaks off costs no word: all of the audio is sent again');
    client.socket.close();
    await until('its sockets have ended', () => service.sockets.size === 0);
  });
});
