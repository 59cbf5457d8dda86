/**
 * The unmodified @ai-sdk/openai and @ai-sdk/elevenlabs: speech, transcripts of files, transcripts of a stream of audio. The
 * latter has no base URL: its `fetch` and its `WebSocket` are given one.
 */
import { createElevenLabs } from '@ai-sdk/elevenlabs';
import { createOpenAI } from '@ai-sdk/openai';
import { WebSocket } from 'ws';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const gateway = await sharedGateway(t);

const TEXT = 'Tones carry text, exactly.';
const openai = createOpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.base}/v1`, webSocket: WebSocket });

/** The gateway's address of one of ElevenLabs. */
const ours = (url) => {
  const { pathname, search } = new URL(url);
  return `${gateway.base}/compat/elevenlabs${pathname}${search}`;
};

class RedirectedSocket extends WebSocket {
  constructor(url, protocols, options) {
    super(ours(url).replace(/^http/, 'ws'), protocols, options);
  }
}

const elevenlabsOf = (apiKey) =>
  createElevenLabs({ apiKey, fetch: (url, init) => fetch(ours(url), init), webSocket: RedirectedSocket });
const elevenlabs = elevenlabsOf(TEST_KEY);

const transcribe = (model, audio, mediaType, providerOptions = {}) =>
  model.doGenerate({ audio, mediaType, providerOptions });

/** What ElevenLabs' provider switches on by itself, and is refused. */
const PLAIN = { elevenlabs: { diarize: false, tagAudioEvents: false } };

t.test('openai: speech in the voice that it names by itself, and its words again', async (t) => {
  const { audio, warnings } = await openai.speech('tts-1').doGenerate({ text: TEXT, outputFormat: 'wav' });
  t.strictSame(warnings, []);
  t.equal((await transcribe(openai.transcription('gpt-4o-transcribe'), audio, 'audio/wav')).text, TEXT);
  const timed = await transcribe(openai.transcription('whisper-1'), audio, 'audio/wav', {
    openai: { timestampGranularities: ['segment'], language: 'en' },
  });
  exactly(t, timed, { text: TEXT, language: 'en', durationInSeconds: Number });
  exactly(t, timed.segments, [{ text: String, startSecond: Number, endSecond: Number }]);
});

t.test('elevenlabs: speech, and its words again with their times', async (t) => {
  const speech = elevenlabs.speech('eleven_multilingual_v2');
  const { audio } = await speech.doGenerate({ text: TEXT, voice: 'default' });
  const heard = await transcribe(elevenlabs.transcription('scribe_v1'), audio, 'audio/mpeg', PLAIN);
  t.equal(heard.text, TEXT);
  exactly(t, heard.segments[0], { text: 'Tones', startSecond: Number, endSecond: Number });
});

t.test('a refusal is an error with its status; openai shows our message', async (t) => {
  const text = { text: TEXT };
  await rejectsExactly(t, openai.speech('tts-1').doGenerate({ ...text, voice: 'nova' }), {
    statusCode: 400,
    message: /no voice "nova"/,
  });
  await rejectsExactly(t, elevenlabs.speech('eleven_v3').doGenerate({ ...text, voice: 'nova' }), {
    statusCode: 400,
    responseBody: /voice_not_found/,
  });
});

t.test('openai: of what is not served here it shows our message', async (t) => {
  const prompt = [{ role: 'user', content: [{ type: 'text', text: TEXT }] }];
  const missing = { statusCode: 404, message: 'Not found' };
  await rejectsExactly(t, openai('gpt-4o').doGenerate({ prompt }), missing);
  await rejectsExactly(t, openai.embedding('text-embedding-3-small').doEmbed({ values: [TEXT] }), missing);
});

/** The parts that come for the text as PCM at `rate` in Hz, in pieces of 100 ms. */
async function streamed(model, rate, providerOptions = {}) {
  const { audio } = await elevenlabs
    .speech('eleven_v3')
    .doGenerate({ text: TEXT, voice: 'default', outputFormat: `pcm_${rate}` });
  const size = rate / 5;
  const pieces = Array.from({ length: Math.ceil(audio.length / size) }, (_, i) =>
    audio.subarray(i * size, (i + 1) * size),
  );
  const { stream } = await model.doStream({
    audio: ReadableStream.from(pieces),
    inputAudioFormat: { type: 'audio/pcm', rate },
    providerOptions,
  });
  const parts = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

t.test('a stream of audio is transcribed while it comes', async (t) => {
  const heard = (parts) => parts.find(({ type }) => type === 'finish');
  t.equal(heard(await streamed(openai.transcription('gpt-live-transcribe'), 24000)).text, TEXT);
  const scribe = elevenlabs.transcription('scribe_v2_realtime');
  t.equal(heard(await streamed(scribe, 16000)).text, TEXT);
  const timed = { elevenlabs: { languageCode: 'en', streaming: { includeTimestamps: true } } };
  const { text, segments, language } = heard(await streamed(scribe, 16000, timed));
  t.strictSame([text, language], [TEXT, 'en']);
  exactly(t, segments[0], { text: 'Tones', startSecond: Number, endSecond: Number });
});

t.test('a stream of audio that is refused: elevenlabs shows our message', async (t) => {
  const scribe = elevenlabsOf('wrong').transcription('scribe_v2_realtime');
  await rejectsExactly(t, streamed(scribe, 16000), { message: 'Invalid Token' });
});
