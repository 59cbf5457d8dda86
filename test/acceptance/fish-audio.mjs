/** The unmodified native SDK: speak, then hear it again; errors arrive as its own (docs/contract/native.md). */
import { FishAudioClient, RealtimeEvents } from 'fish-audio';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { breakable, failsHoweverItBreaks } from './breaks.mjs';
import { bytesOf, ENDLESS } from './streams.mjs';

const { gateway } = breakable;

const client = (apiKey = TEST_KEY, { base } = gateway) => new FishAudioClient({ apiKey, baseUrl: base });
const once = { maxRetries: 0 };
/** The SDK asks for another model where none is given, which is not spoken exactly here. */
const MODEL = 's2-pro';
const TEXT = 'Thank you very much for your patience, and have a wonderful day.';

let speech;

t.test('textToSpeech.convert', async (t) => {
  speech = await bytesOf(await client().textToSpeech.convert({ text: TEXT, format: 'mp3' }, MODEL, once));
  t.equal(speech[0], 0xff);
  t.ok(speech.length > 10_000);
});

t.test('speechToText.convert', async (t) => {
  const heard = await client().speechToText.convert({ audio: new File([speech], 'speech.mp3') }, once);
  t.equal(heard.text, TEXT);
  t.ok(heard.duration > 1);
});

t.test('a wrong key is its UnauthorizedError', async (t) => {
  const refused = client('wrong').textToSpeech.convert({ text: 'a' }, undefined, once);
  await rejectsExactly(t, refused, { statusCode: 401, body: { status: 401, message: 'Invalid Token' } });
});

t.test('an unknown voice is a 400 with our message', async (t) => {
  const reference_id = 'f'.repeat(32);
  const refused = client().textToSpeech.convert({ text: 'a', reference_id }, undefined, once);
  const message = `Reference not found: no voice "${reference_id}"; GET /model lists the voices`;
  await rejectsExactly(t, refused, { statusCode: 400, body: { message } });
});

/** More than is spoken before anything can break. */
const SENTENCES = `${TEXT} `.repeat(400);

async function* inParts(text) {
  for (const word of text.split(/(?<= )/)) yield word;
}

/** Runs one realtime synthesis to the end of its socket. */
async function realtime(apiKey, request, parts) {
  const connection = await client(apiKey).textToSpeech.convertRealtime(request, parts, MODEL);
  const seen = { audio: [], errors: [], closes: 0 };
  connection.on(RealtimeEvents.AUDIO_CHUNK, (chunk) => seen.audio.push(chunk));
  connection.on(RealtimeEvents.ERROR, (error) => seen.errors.push(error.message));
  await new Promise((resolve) => {
    connection.on(RealtimeEvents.CLOSE, () => {
      seen.closes += 1;
      connection.close();
      if (seen.closes === 2 || seen.errors.length > 0) resolve();
    });
  });
  return { ...seen, audio: Buffer.concat(seen.audio) };
}

t.test('textToSpeech.convertRealtime speaks text that arrives word by word', async (t) => {
  const { audio, errors, closes } = await realtime(TEST_KEY, { text: '', format: 'mp3' }, inParts(TEXT));
  t.strictSame(errors, []);
  t.equal(closes, 2, 'at finish, and as the socket closes');
  const heard = await client().speechToText.convert({ audio: new File([audio], 'speech.mp3') }, once);
  t.equal(heard.text, TEXT);
});

t.test('convertRealtime: what is wrong arrives as its error event', async (t) => {
  const voice = await realtime(TEST_KEY, { text: '', reference_id: 'f'.repeat(32) }, inParts(TEXT));
  exactly(t, voice.errors, [/^Reference not found: no voice "f{32}"/]);
  t.equal(voice.errors.length, 1);
  const format = await realtime(TEST_KEY, { text: '', format: 'ogg' }, inParts(TEXT));
  exactly(t, format.errors, [/unknown variant `ogg`/]);
  const key = await realtime('wrong', { text: '' }, inParts(TEXT));
  exactly(t, key.errors, [/401/]);
  t.equal(key.audio.length, 0);
});

t.test('voices: searched, read, and what an engine voice or a gateway without cloning refuses', async (t) => {
  const { voices } = client(TEST_KEY, await sharedGateway(t));
  const page = await voices.search({ page_size: 1, language: ['en'], sort_by: 'created_at' }, once);
  t.ok(page.total > 0);
  const [voice] = page.items;
  exactly(t, await voices.get(voice._id, once), { _id: voice._id, type: 'tts', state: 'trained' });
  exactly(t, await voices.get('alloy', once), { title: /./ });
  await rejectsExactly(t, voices.get('f'.repeat(32), once), {
    statusCode: 404,
    body: { message: 'Model not found' },
  });
  await rejectsExactly(t, voices.update(voice._id, { title: 'x' }, once), { statusCode: 403 });
  await rejectsExactly(t, voices.delete(voice._id, once), { statusCode: 403 });
  const cloned = voices.ivc.create({ title: 'Mine', voices: [new File([speech], 'speech.mp3')] }, once);
  await rejectsExactly(t, cloned, { statusCode: 400, body: { message: /clone/ } });
  await rejectsExactly(t, voices.search({ page_size: 101 }, once), { statusCode: 400 });
  await rejectsExactly(t, client('wrong').voices.search({}, once), { statusCode: 401 });
});

t.test('a stream that fails midway is a failure', async (t) => {
  const start = (model) => client().textToSpeech.convert({ text: ENDLESS, format: 'mp3' }, model, once);
  await failsHoweverItBreaks(t, breakable, start, { message: /terminated|aborted|other side closed/ });
});

t.test('convertRealtime: what fails midway is its error event, and no orderly end', async (t) => {
  for (const [way, model, breakIt] of breakable.breaks) {
    const request = { text: '', format: 'mp3', latency: 'balanced' };
    const connection = await client().textToSpeech.convertRealtime(request, inParts(SENTENCES), model);
    const errors = [];
    connection.on(RealtimeEvents.AUDIO_CHUNK, () => breakIt());
    await new Promise((resolve) => {
      connection.on(RealtimeEvents.ERROR, (error) => resolve(errors.push(error.message)));
      connection.on(RealtimeEvents.CLOSE, resolve);
    });
    exactly(t, errors, [/engine|provider/], way);
    await breakable.recovered();
  }
});

t.test('voices: cloned, spoken with, changed and deleted if an engine clones', async (t) => {
  const { voices, textToSpeech } = client();
  const file = new File([speech], 'speech.mp3');
  const made = await voices.ivc.create(
    { title: 'Mine', voices: [file], texts: [TEXT], tags: ['warm'] },
    once,
  );
  exactly(t, made, { _id: /^[\da-f]{32}$/, title: 'Mine', state: 'trained', tags: ['warm'] });
  exactly(t, (await voices.search({ self: true }, once)).items, [{ _id: made._id }]);
  const spoken = await bytesOf(
    await textToSpeech.convert({ text: 'Hello.', reference_id: made._id, format: 'pcm' }, MODEL, once),
  );
  t.equal(spoken.length, 88_200);
  const [asked] = breakable.cloner.asked;
  exactly(t, asked, { text: 'Hello.', references: [{ text: TEXT }] });
  t.ok(speech.equals(asked.references[0].audio), 'the very bytes of the reference');
  await voices.update(made._id, { title: 'Still mine' }, once);
  exactly(t, await voices.get(made._id, once), { title: 'Still mine' });
  await voices.delete(made._id, once);
  await rejectsExactly(t, voices.get(made._id, once), { statusCode: 404 });
});
