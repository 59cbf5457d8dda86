/** The engine elevenlabs-compatible against a double of the service. */
import t from '../../fixtures/tap.js';
import { RECOGNITION_RATE, samplesOf } from '../../../contracts/audio.js';
import type { TtsRequest } from '../../../contracts/ports/speech/tts.js';
import {
  createElevenlabsSpeech,
  createElevenlabsTranscriber,
} from '../../../engines/backends/elevenlabs-compatible/index.js';
import type { RemoteSettings } from '../../../engines/backends/remote/settings.js';
import { ELEVENLABS_KEY, elevenlabsService } from '../../fixtures/engines/elevenlabs-service.js';
import {
  heardBy,
  heardWhile,
  joined,
  segmentsOf,
  silence,
  wordsHeard,
} from '../../fixtures/engines/listening.js';
import { fieldsOf, heardIn, toneOf } from '../../fixtures/engines/speech-double.js';
import { speakAll, ttsConformance } from '../../fixtures/engine-conformance.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const service = await elevenlabsService(t);
const settings: RemoteSettings = {
  urls: [service.url],
  key: ELEVENLABS_KEY,
  keyAs: 'xi-api-key',
  keySetting: 'REMOTE_ELEVENLABS_KEY',
  ttsModel: 'eleven_flash_v2_5',
  sttModel: 'scribe_v1',
  voices: ['Rachel'],
  languages: ['en', 'de'],
  format: 'pcm',
  rate: RECOGNITION_RATE,
};
const engine = createElevenlabsSpeech(settings);
const request: TtsRequest = { text: 'Tones carry text.', voice: 'Rachel', language: 'en', speed: 1 };
const bySocket: TtsRequest = { ...request, latency: 'low' };
const signal = new AbortController().signal;
const last = () => service.asked.at(-1)!;

t.afterEach(() => {
  Object.assign(service.faults, { name: undefined, stalls: false, breaks: false, hides: false });
});

// Tones have only one speed.
const { voices, synthesize, name } = engine;
const capabilities = { ...engine.capabilities, speed: false };
t.test('it keeps the promises of its port', (t) =>
  ttsConformance(
    t,
    { name, voices, synthesize, capabilities },
    { sentence: 'Tones carry text.', deterministic: true },
  ),
);

t.test('whoever waits for the first audio is spoken to by the socket, others by REST', async (t) => {
  for (const [asked, path] of [
    [request, '/v1/text-to-speech/Rachel/stream'],
    [{ ...request, latency: 'normal' }, '/v1/text-to-speech/Rachel/stream'],
    [bySocket, '/v1/text-to-speech/Rachel/stream-input'],
    [{ ...request, latency: 'balanced' }, '/v1/text-to-speech/Rachel/stream-input'],
    [{ ...request, timing: true }, '/v1/text-to-speech/Rachel/stream-input'],
  ] as const) {
    const { samples } = await speakAll(engine, asked);
    t.same(
      (await heardIn(samples)).map(({ text }) => text),
      ['Tones', 'carry', 'text.'],
    );
    t.equal(last().path, path);
    t.equal(last().headers['xi-api-key'], ELEVENLABS_KEY);
    t.equal(last().query.get('output_format'), 'pcm_16000', 'its own raw audio is asked for');
  }
});

t.test('options of a request reach the service in its words', async (t) => {
  await speakAll(engine, { ...request, speed: 1.1, normalize: false, language: 'de' });
  exactly(t, JSON.parse(last().body.toString()), {
    text: 'Tones carry text.',
    model_id: 'eleven_flash_v2_5',
    language_code: 'de',
    apply_text_normalization: 'off',
    voice_settings: { speed: 1.1 },
  });
  await speakAll(engine, { ...bySocket, normalize: true, timing: true });
  t.same(Object.fromEntries(last().query), {
    model_id: 'eleven_flash_v2_5',
    output_format: 'pcm_16000',
    inactivity_timeout: '60',
    language_code: 'en',
    apply_text_normalization: 'on',
    sync_alignment: 'true',
  });
  const deaf = createElevenlabsSpeech({ ...settings, ttsModel: 'eleven_multilingual_v2' });
  await speakAll(deaf, request);
  t.notOk(last().body.toString().includes('language_code'), 'a model that refuses to be told is not told');
});

t.test('audio is handed on as it comes, and leaving ends the socket', async (t) => {
  service.faults.stalls = true;
  const abort = new AbortController();
  for await (const event of engine.synthesize(bySocket, abort.signal)) {
    t.equal(event.kind, 'audio', 'before the rest is made');
    break;
  }
  await until('the socket has ended', () => service.sockets.size === 0);
  const left = engine.synthesize(bySocket, abort.signal)[Symbol.asyncIterator]();
  await left.next();
  const waiting = left.next();
  abort.abort();
  await rejectsExactly(t, waiting, { name: 'AbortError' });
  await until('the socket has ended', () => service.sockets.size === 0);
});

t.test('for somebody on the line the socket of the next sentence is open before', async (t) => {
  const calling = createElevenlabsSpeech(settings);
  const demand = { workspaceTag: 'w', isLive: true, aheadSeconds: 0 };
  const online: TtsRequest = { ...bySocket, demand };
  const from = service.asked.length;
  await speakAll(calling, online);
  await until('one is open', () => service.asked.length === from + 2 && service.sockets.size === 1);
  const { samples } = await speakAll(calling, { ...online, text: 'Next one.' });
  t.same(
    (await heardIn(samples)).map(({ text }) => text),
    ['Next', 'one.'],
    'it says the next sentence',
  );
  await until('and another is', () => service.asked.length === from + 3 && service.sockets.size === 1);
  for (const socket of service.sockets) socket.pause();
  for (const socket of service.sockets) socket.terminate();
  const again = await speakAll(calling, { ...online, text: 'Still there.' });
  t.same(
    (await heardIn(again.samples)).map(({ text }) => text),
    ['Still', 'there.'],
    'a dead one costs no word',
  );
  await speakAll(calling, { ...online, voice: 'Domi' });
  const toDomi = () => service.asked.filter(({ path }) => path.includes('Domi')).length;
  await until('another voice has its own', () => service.sockets.size === 2 && toDomi() === 2);
  for (const socket of service.sockets) socket.terminate();
});

t.test('a socket that stalls or breaks off is a failure, never a short speech', async (t) => {
  const impatient = createElevenlabsSpeech({ ...settings, stallMs: 300 });
  service.faults.stalls = true;
  await rejectsExactly(t, speakAll(impatient, bySocket), {
    code: 'provider_failed',
    message: /stopped in the middle/,
  });
  Object.assign(service.faults, { stalls: false, breaks: true });
  await rejectsExactly(t, speakAll(engine, bySocket), { code: 'provider_failed', status: 502 });
});

t.test('what the service refuses is told to whom it concerns, by REST and socket alike', async (t) => {
  for (const [fault, told] of [
    ['invalid_api_key', { status: 502, answered: 401, message: /does not accept this gateway/ }],
    ['quota_exceeded', { status: 402, answered: 402, message: /no credit/ }],
    ['voice_not_found', { status: 404, answered: 404 }],
    ['too_many_concurrent_requests', { status: 429, retryAfter: 1 }],
  ] as const) {
    service.faults.name = fault;
    for (const asked of [request, bySocket])
      await rejectsExactly(t, speakAll(engine, asked), { code: 'provider_failed', ...told });
  }
  service.faults.name = undefined;
  const wrong = createElevenlabsSpeech({ ...settings, key: 'nobody' });
  for (const asked of [request, bySocket])
    await rejectsExactly(t, speakAll(wrong, asked), {
      status: 502,
      answered: 401,
      cause: { message: /see REMOTE_ELEVENLABS_KEY/ },
    });
});

t.test('a service that is not there is one', async (t) => {
  const nowhere = createElevenlabsSpeech({ ...settings, urls: ['http://127.0.0.1:1'] });
  for (const asked of [request, bySocket])
    await rejectsExactly(t, speakAll(nowhere, asked), { code: 'provider_failed', status: 502 });
});

t.test('its words come with their times, and codes of three letters are languages', async (t) => {
  const ears = createElevenlabsTranscriber(settings);
  const { bytes, words } = await toneOf('Tones carry text.');
  const audio = joined(silence(0.5), samplesOf(bytes));
  const found = [];
  for await (const segment of ears.transcribe(
    (async function* () {
      yield audio;
    })(),
    { words: true, language: 'en' },
    signal,
  ))
    found.push(segment);
  t.same(fieldsOf(last().body), {
    model_id: 'scribe_v1',
    timestamps_granularity: 'word',
    tag_audio_events: 'false',
    diarize: 'false',
    language_code: 'en',
  });
  exactly(t, found[0], { text: 'Tones carry text.', language: 'en' });
  t.same(
    found[0]?.words?.map(({ text }) => text),
    ['Tones', 'carry', 'text.'],
    'without what is between them',
  );
  found[0]!.words!.forEach(({ start }, at) => t.ok(Math.abs(start - 0.5 - words[at]!.start) < 0.05));
  t.equal(await heardBy(ears, samplesOf((await toneOf('Once more.')).bytes)), 'Once more.');
  service.faults.name = 'invalid_api_key';
  await rejectsExactly(t, segmentsOf(ears, audio), { status: 502, answered: 401 });
});

t.test('it hears while somebody speaks, and the end of the audio is its one commit', async (t) => {
  const live = createElevenlabsTranscriber({ ...settings, liveModel: 'scribe_v2_realtime' });
  const { bytes, words } = await toneOf('These tones carry a text.');
  const audio = joined(silence(0.5), samplesOf(bytes), silence(1.5));
  const heard = await heardWhile(live, audio, { language: 'en' });
  t.equal(last().path, '/v1/speech-to-text/realtime');
  t.same(Object.fromEntries(last().query), {
    model_id: 'scribe_v2_realtime',
    audio_format: 'pcm_16000',
    commit_strategy: 'manual',
    include_timestamps: 'true',
    language_code: 'en',
  });
  const interim = heard.flatMap((each) => (each.kind === 'interim' ? each.text : []));
  t.equal(interim.at(-1), 'These tones carry a text.', 'before it has ended');
  const [final] = heard.flatMap((each) => (each.kind === 'final' ? each.segment : []));
  t.equal(final?.text, 'These tones carry a text.');
  final!.words!.forEach(({ start }, at) => t.ok(Math.abs(start - 0.5 - words[at]!.start) < 0.1));
  t.same(await heardWhile(live, silence(0.1)), [], 'too little to commit is no failure');
  service.faults.name = 'quota_exceeded';
  await rejectsExactly(t, heardWhile(live, silence(1)), { code: 'provider_failed', status: 402 });
  service.faults.name = undefined;
  await rejectsExactly(t, heardWhile(live, silence(81)), { message: /80 s at most/ });
  await until('the sockets have ended', () => service.sockets.size === 0);
});

t.test('words that are expected are told as keyterms, to models that take them', async (t) => {
  const audio = samplesOf((await toneOf('Yes.')).bytes);
  const context = { terms: ['Kathryn Schmitt', 'Llanfairpwllgwyngyllgogerych', '{a}'], before: 'Your name?' };
  const inForm = () => [
    ...last()
      .body.toString('latin1')
      .matchAll(/name="keyterms"\r\n\r\n(.*)\r\n/g),
  ];
  for (const [model, told] of [
    ['scribe_v2', ['Kathryn Schmitt', 'Llanfairpwllgwyngyllgogerych']],
    ['scribe_v1', []],
  ] as const) {
    await wordsHeard(createElevenlabsTranscriber({ ...settings, sttModel: model }), audio, { context });
    t.same(
      inForm().map(([, term]) => term),
      told,
      model,
    );
  }
  const live = createElevenlabsTranscriber({ ...settings, liveModel: 'scribe_v2_realtime' });
  await heardWhile(live, audio, { context });
  t.same(last().query.getAll('keyterms'), ['Kathryn Schmitt'], 'shorter ones while it is spoken');
});

t.test('an open socket that refuses them has had audio: the next one is not told', async (t) => {
  const audio = samplesOf((await toneOf('Yes.')).bytes);
  const context = { terms: ['Kathryn'] };
  const live = createElevenlabsTranscriber({ ...settings, liveModel: 'scribe_v2_realtime' });
  service.faults.refuses = 'keyterms';
  await rejectsExactly(t, heardWhile(live, audio, { context }), {
    code: 'provider_failed',
    status: 400,
    message: 'No keyterms here',
  });
  t.ok((await heardWhile(live, audio, { context })).length > 0);
  t.notOk(last().query.has('keyterms'));
  service.faults.refuses = undefined;
});

t.test('voices that no setting names are those that the service lists', async (t) => {
  const listed = createElevenlabsSpeech({ ...settings, voices: [] });
  t.same(listed.voices, []);
  service.faults.hides = true;
  await rejectsExactly(t, listed.learnVoices!(signal), { code: 'provider_failed' });
  service.faults.hides = false;
  await listed.learnVoices!(signal);
  t.same(listed.voices, [
    { name: '21m00Tcm4TlvDq8ikWAM', title: 'Rachel', languages: ['en', 'de'] },
    { name: 'AZnzlk1XvdvUeBnXmlld', title: 'Domi', languages: ['en', 'de'] },
  ]);
  t.equal(engine.learnVoices, undefined, 'named ones are not asked for');
});
