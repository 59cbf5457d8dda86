/**
 * The unmodified @openrouter/ai-sdk-provider, behind Vercel's `ai`, on chat completions of the aggregator base. It
 * checks every answer and every chunk against its own schemas.
 */
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateText, streamText } from 'ai';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { sharedGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';

const gateway = await sharedGateway(t);

const baseURL = `${gateway.base}/compat/api/v1`;
const router = createOpenRouter({ apiKey: TEST_KEY, baseURL, compatibility: 'strict' });
const TEXT = 'Tones carry text, exactly.';

const speech = await fetch(`${gateway.base}/compat/api/v1/audio/speech`, {
  method: 'POST',
  headers: { ...gateway.authorization, 'content-type': 'application/json' },
  body: JSON.stringify({ model: 'tts-1', voice: 'alloy', input: TEXT, response_format: 'wav' }),
});
const file = { type: 'file', data: new Uint8Array(await speech.arrayBuffer()), mediaType: 'audio/wav' };
const asked = {
  model: router.chat('svc/transcribe-1'),
  messages: [{ role: 'user', content: [file] }],
  maxRetries: 0,
};

t.test('generateText: a file of speech comes back as its words, with usage', async (t) => {
  const { text, usage } = await generateText(asked);
  t.equal(text, TEXT);
  t.equal(usage.totalTokens, usage.inputTokens + usage.outputTokens);
});

t.test('streamText: the same in pieces, without an error part', async (t) => {
  const parts = [];
  for await (const part of streamText(asked).fullStream) parts.push(part);
  t.strictSame(
    parts.filter(({ type }) => type === 'error'),
    [],
  );
  t.equal(parts.map((part) => (part.type === 'text-delta' ? part.text : '')).join(''), TEXT);
  exactly(t, parts.at(-1), { type: 'finish', totalUsage: { totalTokens: Number } });
});

t.test('a refusal is an error with its status and our message', async (t) => {
  const unknown = generateText({ ...asked, model: router.chat('no/such-model') });
  await rejectsExactly(t, unknown, { statusCode: 400, message: /model/i });
});
