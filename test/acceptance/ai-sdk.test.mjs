/**
 * The unmodified @ai-sdk/openai and @ai-sdk/elevenlabs, speech and transcription. The latter has no base URL: its `fetch`
 * is given one.
 */
import { createElevenLabs } from '@ai-sdk/elevenlabs';
import { createOpenAI } from '@ai-sdk/openai';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const gateway = await sharedGateway(t);

const TEXT = 'Tones carry text, exactly.';
const openai = createOpenAI({ apiKey: TEST_KEY, baseURL: `${gateway.base}/v1` });
const elevenlabs = createElevenLabs({
  apiKey: TEST_KEY,
  fetch: (url, init) => {
    const { pathname, search } = new URL(url);
    return fetch(`${gateway.base}/compat/elevenlabs${pathname}${search}`, init);
  },
});

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
  t.match(timed, { text: TEXT, language: 'en', durationInSeconds: Number });
  t.match(timed.segments, [{ text: String, startSecond: Number, endSecond: Number }]);
});

t.test('elevenlabs: speech, and its words again with their times', async (t) => {
  const speech = elevenlabs.speech('eleven_multilingual_v2');
  const { audio } = await speech.doGenerate({ text: TEXT, voice: 'default' });
  const heard = await transcribe(elevenlabs.transcription('scribe_v1'), audio, 'audio/mpeg', PLAIN);
  t.equal(heard.text, TEXT);
  t.match(heard.segments[0], { text: 'Tones', startSecond: Number, endSecond: Number });
});

t.test('a refusal is an error with its status; openai shows our message', async (t) => {
  const text = { text: TEXT };
  await t.rejects(openai.speech('tts-1').doGenerate({ ...text, voice: 'nova' }), {
    statusCode: 400,
    message: /no voice "nova"/,
  });
  await t.rejects(elevenlabs.speech('eleven_v3').doGenerate({ ...text, voice: 'nova' }), {
    statusCode: 400,
    responseBody: /voice_not_found/,
  });
});
