/** The unmodified native SDK: speak, then hear it again; errors arrive as its own (native-and-platform.md 8). */
import { FishAudioClient, RealtimeEvents } from 'fish-audio';
import t from 'tap';
import { EMBEDDED, startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { wordErrors } from '../../dist/test/fixtures/engines-listening.js';

const gateway = await startGateway(EMBEDDED);
t.teardown(() => gateway.stop());

const client = (apiKey = TEST_KEY) => new FishAudioClient({ apiKey, baseUrl: gateway.base });
const once = { maxRetries: 0 };
const TEXT = 'Thank you very much for your patience, and have a wonderful day.';

async function bytesOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

let speech;

t.test('textToSpeech.convert', async (t) => {
  speech = await bytesOf(await client().textToSpeech.convert({ text: TEXT, format: 'mp3' }, undefined, once));
  t.equal(speech[0], 0xff);
  t.ok(speech.length > 10_000);
});

t.test('speechToText.convert', async (t) => {
  const heard = await client().speechToText.convert({ audio: new File([speech], 'speech.mp3') }, once);
  t.ok(wordErrors(TEXT, heard.text) <= 1, heard.text);
  t.ok(heard.duration > 2);
});

t.test('a wrong key is its UnauthorizedError', async (t) => {
  const refused = client('wrong').textToSpeech.convert({ text: 'a' }, undefined, once);
  await t.rejects(refused, { statusCode: 401, body: { status: 401, message: 'Invalid Token' } });
});

t.test('an unknown voice is a 400 with our message', async (t) => {
  const request = { text: 'a', reference_id: 'f'.repeat(32) };
  const refused = client().textToSpeech.convert(request, undefined, once);
  await t.rejects(refused, { statusCode: 400, body: { message: 'Reference not found' } });
});

async function* inParts(text) {
  for (const word of text.split(/(?<= )/)) yield word;
}

/** Runs one realtime synthesis to the end of its socket. */
async function realtime(apiKey, request, parts) {
  const connection = await client(apiKey).textToSpeech.convertRealtime(request, parts, 's2-pro');
  const seen = { audio: [], errors: [], closes: 0 };
  connection.on(RealtimeEvents.AUDIO_CHUNK, (chunk) => seen.audio.push(chunk));
  connection.on(RealtimeEvents.ERROR, (error) => seen.errors.push(error.message));
  await new Promise((resolve) => {
    connection.on(RealtimeEvents.CLOSE, () => {
      seen.closes += 1;
      if (seen.closes === 2 || seen.errors.length > 0) resolve();
    });
  });
  return { ...seen, audio: Buffer.concat(seen.audio) };
}

t.test('textToSpeech.convertRealtime speaks text that arrives word by word', async (t) => {
  const { audio, errors, closes } = await realtime(TEST_KEY, { text: '', format: 'mp3' }, inParts(TEXT));
  t.strictSame(errors, []);
  t.equal(closes, 2, 'at finish, and as the server closes');
  const heard = await client().speechToText.convert({ audio: new File([audio], 'speech.mp3') }, once);
  t.ok(wordErrors(TEXT, heard.text) <= 1, heard.text);
});

t.test('convertRealtime: what is wrong arrives as its error event', async (t) => {
  const voice = await realtime(TEST_KEY, { text: '', reference_id: 'f'.repeat(32) }, inParts(TEXT));
  t.strictSame(voice.errors, ['Reference not found']);
  const format = await realtime(TEST_KEY, { text: '', format: 'ogg' }, inParts(TEXT));
  t.match(format.errors, [/unknown variant `ogg`/]);
  const key = await realtime('wrong', { text: '' }, inParts(TEXT));
  t.match(key.errors, [/401/]);
  t.equal(key.audio.length, 0);
});

t.test('voices: searched, read, and what an engine voice or a gateway without cloning refuses', async (t) => {
  const { voices } = client();
  const page = await voices.search({ page_size: 1, language: ['en'], sort_by: 'created_at' }, once);
  t.ok(page.total > 0);
  const [voice] = page.items;
  t.match(await voices.get(voice._id, once), { _id: voice._id, type: 'tts', state: 'trained' });
  t.match(await voices.get('alloy', once), { title: /./ });
  await t.rejects(voices.get('f'.repeat(32), once), {
    statusCode: 404,
    body: { message: 'Model not found' },
  });
  await t.rejects(voices.update(voice._id, { title: 'x' }, once), { statusCode: 403 });
  await t.rejects(voices.delete(voice._id, once), { statusCode: 403 });
  const cloned = voices.ivc.create({ title: 'Mine', voices: [new File([speech], 'speech.mp3')] }, once);
  await t.rejects(cloned, { statusCode: 400, body: { message: /clone/ } });
  await t.rejects(voices.search({ page_size: 101 }, once), { statusCode: 400 });
  await t.rejects(client('wrong').voices.search({}, once), { statusCode: 401 });
});
