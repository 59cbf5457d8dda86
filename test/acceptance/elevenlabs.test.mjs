/**
 * The unmodified @elevenlabs/elevenlabs-js on protocol B's REST: speech in its four forms, transcription, voices,
 * models, user, tokens, errors, and streams that break.
 */
import { ElevenLabsClient, ElevenLabsError } from '@elevenlabs/elevenlabs-js';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { memberOf } from '../../dist/test/fixtures/processes/family.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { bytesOf, ENDLESS, failureOf, readBroken } from './streams.mjs';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const client = (apiKey = TEST_KEY, base = '/compat/elevenlabs') =>
  new ElevenLabsClient({ apiKey, baseUrl: gateway.base + base, maxRetries: 0 });
const sdk = client();
const TEXT = 'Tones carry text, exactly.\nA second sentence follows.';

const speak = (fields = {}, voice = 'default') =>
  sdk.textToSpeech.convert(voice, { text: TEXT, modelId: 'eleven_multilingual_v2', ...fields });

const transcribe = (file, fields = {}) =>
  sdk.speechToText.convert({ modelId: 'scribe_v1', file: new Blob([file]), ...fields });

let mp3;

t.test('textToSpeech.convert and stream', async (t) => {
  mp3 = await bytesOf(await speak());
  t.equal((await transcribe(mp3)).text.replaceAll('\n', ' '), TEXT.replaceAll('\n', ' '));
  const settings = { stability: 0.3, similarityBoost: 0.8, style: 0.1, useSpeakerBoost: true, speed: 1.2 };
  const fast = await bytesOf(
    await sdk.textToSpeech.stream('alloy', {
      text: TEXT,
      outputFormat: 'mp3_44100_128',
      voiceSettings: settings,
      languageCode: 'en',
      seed: 7,
      applyTextNormalization: 'auto',
      enableLogging: true,
      optimizeStreamingLatency: 3,
    }),
  );
  t.ok(fast.length < mp3.length * 0.95, 'spoken faster');
  const pcm = await bytesOf(await speak({ outputFormat: 'pcm_16000' }));
  const wav = await bytesOf(await speak({ outputFormat: 'wav_16000' }));
  t.equal(wav.length, pcm.length + 44);
  t.ok(
    (await bytesOf(await speak({}, ''))).equals(mp3),
    'an empty voice id, which it sends as a trailing slash',
  );
  const slashes = await sdk.textToSpeech.stream('', { text: TEXT });
  t.ok((await bytesOf(slashes)).equals(mp3), 'and as a double slash');
});

t.test('a base URL with a trailing slash', async (t) => {
  const audio = await client(TEST_KEY, '/compat/elevenlabs/').textToSpeech.convert('default', { text: TEXT });
  t.ok((await bytesOf(audio)).equals(mp3));
});

t.test('the ids of a synthesis', async (t) => {
  const { rawResponse } = await sdk.textToSpeech.convert('default', { text: 'a' }).withRawResponse();
  const id = rawResponse.headers.get('request-id');
  t.match(id, /^gen-/);
  t.equal(rawResponse.headers.get('x-generation-id'), id);
  t.equal(rawResponse.headers.get('character-cost'), '1');
});

/** Sound, complete, never back. */
function checkAlignment(t, times, text) {
  t.equal(times.characters.join(''), text);
  const { characterStartTimesSeconds: starts, characterEndTimesSeconds: ends } = times;
  t.equal(starts.length, times.characters.length);
  t.ok(starts.every((start, at) => start <= ends[at] && start >= (ends[at - 1] ?? 0)));
}

t.test('textToSpeech.convertWithTimestamps', async (t) => {
  const result = await sdk.textToSpeech.convertWithTimestamps('default', { text: TEXT });
  t.ok(Buffer.from(result.audioBase64, 'base64').equals(mp3));
  checkAlignment(t, result.alignment, TEXT);
  t.strictSame(result.normalizedAlignment, result.alignment);
  const again = await sdk.textToSpeech.convertWithTimestamps('', { text: TEXT });
  t.strictSame(again.alignment, result.alignment);
});

t.test('textToSpeech.streamWithTimestamps', async (t) => {
  const audio = [];
  const times = { characters: [], characterStartTimesSeconds: [], characterEndTimesSeconds: [] };
  for await (const chunk of await sdk.textToSpeech.streamWithTimestamps('default', { text: TEXT })) {
    audio.push(Buffer.from(chunk.audioBase64, 'base64'));
    for (const [name, values] of Object.entries(chunk.alignment ?? {})) times[name].push(...values);
  }
  t.ok(Buffer.concat(audio).equals(mp3), 'the last line is not lost');
  checkAlignment(t, times, TEXT);
});

t.test('speechToText.convert', async (t) => {
  const result = await transcribe(mp3, { languageCode: 'en', timestampsGranularity: 'word', temperature: 0 });
  exactly(t, result, { languageCode: 'en', languageProbability: 1, text: String, audioDurationSecs: Number });
  t.match(result.transcriptionId, /^gen-/);
  t.equal(result.words.map(({ text }) => text).join(''), result.text);
  t.ok(result.words.every(({ type, logprob }) => ['word', 'spacing'].includes(type) && logprob === 0));
  const raw = await bytesOf(await speak({ outputFormat: 'pcm_16000' }));
  t.equal((await transcribe(raw, { fileFormat: 'pcm_s16le_16' })).text, result.text);
  t.strictSame((await transcribe(mp3, { timestampsGranularity: 'none' })).words, []);
  t.equal((await transcribe(mp3, { diarize: false, tagAudioEvents: false })).text, result.text);
});

t.test('voices.getAll, search and get', async (t) => {
  const { voices } = await sdk.voices.getAll();
  t.equal(voices.length, 1);
  const [{ voiceId, name }] = voices;
  const page = await sdk.voices.search({ search: 'tone', pageSize: 1, sort: 'name', voiceIds: [voiceId] });
  exactly(t, page, { hasMore: false, totalCount: 1, voices: [{ voiceId }] });
  exactly(t, await sdk.voices.get(voiceId, { withSettings: true }), {
    voiceId,
    name,
    settings: { speed: 1 },
  });
  t.ok((await bytesOf(await speak({}, voiceId))).length > 0);
});

t.test('voices.settings.get and getDefault', async (t) => {
  const settings = { stability: 0.5, similarityBoost: 0.75, style: 0, useSpeakerBoost: true, speed: 1 };
  exactly(t, await sdk.voices.settings.get('alloy'), settings);
  exactly(t, await sdk.voices.settings.getDefault(), settings);
});

t.test('models.list, user.get, user.subscription.get', async (t) => {
  const models = await sdk.models.list();
  t.strictSame(models.map(({ modelId, canDoTextToSpeech }) => [modelId, canDoTextToSpeech]).at(0), [
    'svc/s2.1-pro',
    true,
  ]);
  t.ok((await bytesOf(await speak({ modelId: models[0].modelId }))).length > 0);
  exactly(t, await sdk.user.get(), { userId: String, subscription: { characterLimit: Number } });
  exactly(t, await sdk.user.subscription.get(), { status: 'active', openInvoices: [] });
});

t.test('tokens.singleUse.create', async (t) => {
  for (const type of ['realtime_scribe', 'batch_scribe', 'tts_websocket'])
    t.match((await sdk.tokens.singleUse.create(type)).token, /^sutkn_/);
});

t.test('errors are its own class with our fields', async (t) => {
  const rejected = async (call, statusCode, detail) => {
    const error = await failureOf(call);
    t.type(error, ElevenLabsError);
    t.equal(error.statusCode, statusCode);
    exactly(t, error.body, { detail });
    t.equal(error.requestId, error.body.detail.request_id);
  };
  await rejected(speak({}, 'Rachel'), 400, { status: 'voice_not_found', type: 'validation_error' });
  await rejected(speak({}, 'svc/voice'), 400, { status: 'voice_not_found' });
  await rejected(speak({ outputFormat: 'ulaw_8000' }), 400, { param: 'output_format' });
  await rejected(speak({ outputFormat: 'pcm_22050' }), 400, { param: 'output_format' });
  await rejected(speak({ text: '' }), 400, { param: 'text' });
  await rejected(transcribe(mp3, { diarize: true }), 400, { param: 'diarize' });
  await rejected(transcribe(mp3, { tagAudioEvents: true }), 400, { param: 'tag_audio_events' });
  await rejected(transcribe(mp3, { entityDetection: ['pii'] }), 400, { param: 'entity_detection' });
  await rejected(transcribe(mp3, { additionalFormats: [{ format: 'srt' }] }), 400, {
    param: 'additional_formats',
  });
  await rejected(transcribe(mp3, { enableLogging: false }), 400, { param: 'enable_logging' });
  await rejected(sdk.voices.get('nobody'), 404, { status: 'voice_not_found' });
  await rejected(client('wrong').models.list(), 401, { status: 'invalid_api_key' });
});

t.test('native options travel as headers', async (t) => {
  const size = async (headers) =>
    (await bytesOf(await sdk.textToSpeech.convert('', { text: TEXT }, { headers }))).length;
  t.ok((await size({ 'X-Svc-Mp3-Bitrate': '192' })) > mp3.length * 1.4);
});

t.test('a stream that fails midway is a failure', async (t) => {
  await rejectsExactly(t, readBroken(await speak({ text: ENDLESS }), gateway), {
    message: /terminated|aborted|other side closed/,
  });
});

t.test('lines that fail midway end with the error, which the SDK does not take for audio', async (t) => {
  const chunks = await until('the encoder is back', () =>
    sdk.textToSpeech.streamWithTimestamps('default', { text: ENDLESS }).catch(() => undefined),
  );
  const read = async () => {
    let killed = false;
    for await (const { audioBase64 } of chunks) {
      t.type(audioBase64, 'string');
      if (!killed) process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');
      killed = true;
    }
  };
  await rejectsExactly(t, read(), { message: /audio_base64/ });
});
