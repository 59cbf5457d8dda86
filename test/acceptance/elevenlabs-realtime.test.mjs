/** The unmodified @elevenlabs/elevenlabs-js on protocol B's realtime transcription, with the embedded engines and all of its events. */
import { AudioFormat, CommitStrategy, ElevenLabsClient, RealtimeEvents } from '@elevenlabs/elevenlabs-js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { wordErrors } from '../../dist/test/fixtures/engines/listening.js';
import { until } from '../../dist/test/fixtures/until.js';
import { spokenBy } from './streams.mjs';

const SENTENCE = 'The package was delivered to the front door this morning.';
const gateway = await sharedGateway(t, 'speech');
const base = `${gateway.base}/compat/elevenlabs`;

const audio = await spokenBy(gateway, SENTENCE);

/** A connection, and every event that it has emitted. */
async function connect(t, options = {}, apiKey = TEST_KEY) {
  const client = new ElevenLabsClient({ apiKey, baseUrl: base });
  const connection = await client.speechToText.realtime.connect({
    modelId: 'scribe_v2_realtime',
    audioFormat: AudioFormat.PCM_16000,
    sampleRate: 16_000,
    ...options,
  });
  // An open socket keeps the process of a test that has failed.
  t.teardown(() => connection.close());
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

const SILENCE = Buffer.alloc(16_000);

/** An interim transcription gives way to what others transcribe, so that silence asks for further ones. */
async function partialOf({ connection, events, sees }) {
  const isPartial = ({ name }) => name === 'partial_transcript';
  await until('a partial', async () => events.some(isPartial) || void send(connection, SILENCE));
  return sees('partial_transcript');
}

t.test('SDK: a session, partials, commits, words', async (t) => {
  const client = await connect(t, {
    commitStrategy: CommitStrategy.MANUAL,
    includeTimestamps: true,
    languageCode: 'en',
    noVerbatim: false,
    enableLogging: true,
    keyterms: ['package'],
  });
  const { connection, sees, names, events } = client;
  exactly(t, await sees('session_started'), { session_id: String, config: { model_id: 'svc/transcribe-1' } });
  send(connection, audio);
  exactly(t, await partialOf(client), { text: /\w/ });
  connection.commit();
  const { text } = await sees('committed_transcript');
  t.ok(wordErrors(SENTENCE, text) <= 2, text);
  const timed = await sees('committed_transcript_with_timestamps');
  exactly(t, timed, { text, language_code: 'en' });
  t.equal(timed.words.map((word) => word.text).join(''), text);
  t.ok(timed.words.every(({ start, end }) => end >= start));
  send(connection, audio);
  connection.commit();
  t.ok(wordErrors(SENTENCE, (await sees('committed_transcript', 2)).text) <= 2, 'a second segment');
  connection.commit();
  exactly(t, await sees('commit_throttled'), { error: /0\.3s/ });
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
    const { sees } = await connect(t, options, key);
    exactly(t, await sees(name), { error: String }, JSON.stringify(options));
    await sees('close');
  }
});

t.test('SDK: an invalid frame is an input_error, and the session continues', async (t) => {
  const { connection, sees } = await connect(t);
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
  const { connection, sees } = await connect(t, { token }, '');
  exactly(t, await sees('session_started'), { session_id: String });
  connection.close();
  const again = await connect(t, { token }, '');
  exactly(t, await again.sees('auth_error'), { error: /used/ });
});
