/**
 * The unmodified clients of protocol B's realtime transcription, with the embedded engines: the JS SDK with all of
 * its events, and LiveKit's plugin for agents.
 */
import { AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from '@elevenlabs/elevenlabs-js';
import { initializeLogger, stt } from '@livekit/agents';
import { STT } from '@livekit/agents-plugin-elevenlabs';
import { AudioFrame } from '@livekit/rtc-node';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { wordErrors } from '../../dist/test/fixtures/engines-listening.js';
import { until } from '../../dist/test/fixtures/until.js';

initializeLogger({ pretty: false, level: 'silent' });

const SENTENCE = 'The package was delivered to the front door this morning.';
const gateway = await sharedGateway(t, 'speech');
const base = `${gateway.base}/compat/elevenlabs`;

async function spoken(text, sampleRate = 16_000) {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: sampleRate }),
  });
  if (!response.ok) throw new Error(await response.text());
  return Buffer.from(await response.arrayBuffer());
}

const audio = await spoken(SENTENCE);

/** A connection, and every event that it has emitted. */
async function connect(options = {}, apiKey = TEST_KEY) {
  const client = new ElevenLabsClient({ apiKey, baseUrl: base });
  const connection = await client.speechToText.realtime.connect({
    modelId: 'scribe_v2_realtime',
    audioFormat: AudioFormat.PCM_16000,
    sampleRate: 16_000,
    ...options,
  });
  const events = [];
  for (const name of Object.values(RealtimeEvents))
    connection.on(name, (data) => events.push({ name, data }));
  const sees = (name, count = 1) =>
    until(
      `${count} ${name}, not ${JSON.stringify(events).slice(-500)}`,
      () => events.filter((event) => event.name === name)[count - 1],
    ).then(({ data }) => data);
  const names = () => events.map(({ name }) => name);
  return { connection, events, sees, names };
}

const send = (connection, bytes, length = 3201) => {
  for (let at = 0; at < bytes.length; at += length)
    connection.send({ audioBase64: bytes.subarray(at, at + length).toString('base64') });
};

t.test('SDK: a session, partials, commits, words', async (t) => {
  const { connection, sees, names, events } = await connect({
    commitStrategy: CommitStrategy.MANUAL,
    includeTimestamps: true,
    languageCode: 'en',
    noVerbatim: false,
    enableLogging: true,
    keyterms: ['package'],
  });
  t.match(await sees('session_started'), { session_id: String, config: { model_id: 'svc/transcribe-1' } });
  send(connection, audio);
  t.match(await sees('partial_transcript'), { text: /\w/ });
  connection.commit();
  const { text } = await sees('committed_transcript');
  t.ok(wordErrors(SENTENCE, text) <= 2, text);
  const timed = await sees('committed_transcript_with_timestamps');
  t.match(timed, { text, language_code: 'en' });
  t.equal(timed.words.map((word) => word.text).join(''), text);
  t.ok(timed.words.every(({ start, end }) => end >= start));
  send(connection, audio);
  connection.commit();
  t.ok(wordErrors(SENTENCE, (await sees('committed_transcript', 2)).text) <= 2, 'a second segment');
  connection.commit();
  t.match(await sees('commit_throttled'), { error: /0\.3s/ });
  connection.close();
  await sees('close');
  t.equal(names().indexOf('open'), 0);
  t.notOk(events.some(({ name }) => name === 'final_transcript' || name === 'input_error'));
});

t.test('SDK: what is refused comes as its event, and the socket closes', async (t) => {
  const cases = [
    ['invalid_request', { commitStrategy: CommitStrategy.VAD }],
    ['invalid_request', { audioFormat: AudioFormat.ULAW_8000 }],
    ['invalid_request', { enableLogging: false }],
    ['invalid_request', { modelId: 'nobody' }],
    ['auth_error', {}, 'wrong-key'],
    ['auth_error', { token: 'wrong-token' }],
  ];
  for (const [name, options, key] of cases) {
    const { sees } = await connect(options, key);
    t.match(await sees(name), { error: String }, JSON.stringify(options));
    await sees('close');
  }
});

t.test('SDK: an invalid frame is an input_error, and the session continues', async (t) => {
  const { connection, sees } = await connect();
  await sees('session_started');
  connection.send({ audioBase64: '*' });
  connection.send({ audioBase64: '', sampleRate: 8000 });
  await sees('input_error', 2);
  send(connection, audio);
  connection.commit();
  t.ok(wordErrors(SENTENCE, (await sees('committed_transcript')).text) <= 2);
  connection.close();
});

t.test('SDK: a single-use token opens a session without a key', async (t) => {
  const client = new ElevenLabsClient({ apiKey: TEST_KEY, baseUrl: base });
  const { token } = await client.tokens.singleUse.create('realtime_scribe');
  const { connection, sees } = await connect({ token }, '');
  t.match(await sees('session_started'), { session_id: String });
  connection.close();
  const again = await connect({ token }, '');
  t.match(await again.sees('auth_error'), { error: /used/ });
});

for (const [name, options] of [
  ['with its defaults', {}],
  ['with word times and a language', { includeTimestamps: true, languageCode: 'en', language: 'en' }],
])
  t.test(`LiveKit: speech to text as a stream, ${name}`, async (t) => {
    const sampleRate = 16_000;
    const recogniser = new STT({
      apiKey: TEST_KEY,
      baseURL: `${base}/v1`,
      model: 'scribe_v2_realtime',
      sampleRate,
      ...options,
    });
    const stream = recogniser.stream();
    const events = [];
    const reading = (async () => {
      for await (const event of stream) events.push(event);
    })();
    const samples = new Int16Array(audio.buffer.slice(audio.byteOffset, audio.byteOffset + audio.length));
    for (let at = 0; at < samples.length; at += 800) {
      const part = samples.slice(at, at + 800);
      stream.pushFrame(new AudioFrame(part, sampleRate, 1, part.length));
    }
    const of = (type) => events.filter((event) => event.type === type);
    await until('an interim transcript', () => of(stt.SpeechEventType.INTERIM_TRANSCRIPT).length > 0);
    stream.flush();
    const final = await until('the final transcript', () => of(stt.SpeechEventType.FINAL_TRANSCRIPT)[0]);
    const [{ text, words, endTime }] = final.alternatives;
    t.ok(wordErrors(SENTENCE, text) <= 2, text);
    if (options.includeTimestamps) {
      t.ok(words.length > 10 && endTime > 1);
    }
    stream.close();
    await reading.catch(() => undefined);
    t.equal(of(stt.SpeechEventType.START_OF_SPEECH).length, 1);
  });
