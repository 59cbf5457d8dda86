/** The unmodified @ai-sdk/groq, whose schema wants the id of the request in every transcript. */
import { createGroq } from '@ai-sdk/groq';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const gateway = await sharedGateway(t);

const TEXT = 'Tones carry text, exactly.';
const groq = createGroq({ apiKey: TEST_KEY, baseURL: `${gateway.base}/compat/openai/v1` });

const speech = await fetch(`${gateway.base}/compat/openai/v1/audio/speech`, {
  method: 'POST',
  headers: { ...gateway.authorization, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'playai-tts', input: TEXT, response_format: 'wav' }),
});
const audio = new Uint8Array(await speech.arrayBuffer());

const transcribe = (model, groqOptions = {}) =>
  groq.transcription(model).doGenerate({
    audio,
    mediaType: 'audio/wav',
    providerOptions: { groq: groqOptions },
  });

t.test('transcription, plain and verbose', async (t) => {
  t.equal((await transcribe('whisper-large-v3-turbo')).text, TEXT);
  const verbose = await transcribe('whisper-large-v3', {
    responseFormat: 'verbose_json',
    timestampGranularities: ['segment'],
    language: 'en',
  });
  exactly(t, verbose, { text: TEXT, language: 'en', durationInSeconds: Number });
  t.equal(verbose.segments.map(({ text }) => text).join(' '), TEXT);
});

t.test('an error is its own, with our message', async (t) => {
  await rejectsExactly(t, transcribe('svc/s1'), { statusCode: 400, message: /speaks; it cannot transcribe/ });
});
