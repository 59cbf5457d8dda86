/** POST …/chat/completions with audio input: its transcript is the content (docs/contract/protocol-a.md 4). */
import t from '../../fixtures/tap.js';
import { chunksOf, completionOf, contentOf, deltasOf, nullsIn } from '../../fixtures/protocol-a/chat.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { BASES, type Fields, type Headers, PLAIN, refusal, sender } from '../../fixtures/protocol-a/rest.js';

const gateway = await sharedGateway(t);

const TEXT = 'Tones carry text, exactly. A second sentence follows.';

async function spoken(input: string, response_format: string): Promise<string> {
  const response = await sender(gateway, '/audio/speech')({ model: 'tts-1', input, response_format });
  if (!response.ok) throw new Error(await response.text());
  return Buffer.from(await response.arrayBuffer()).toString('base64');
}

const mp3 = await spoken(TEXT, 'mp3');
const audioPart = (data: unknown = mp3, format = 'mp3') => ({
  type: 'input_audio',
  input_audio: { data, format },
});
const hearing = (...content: readonly unknown[]): Fields => ({ messages: [{ role: 'user', content }] });

const BODY = { model: 'svc/transcribe-1', ...hearing(audioPart()) };
const post = sender(gateway, '/chat/completions');
const ask = (fields: Fields = {}, headers: Headers = {}, base = PLAIN) =>
  post({ ...BODY, ...fields }, headers, base);

t.test('on every base, streamed and whole', async (t) => {
  for (const base of BASES) {
    const { choices, model, usage } = await completionOf(await ask({}, {}, base));
    t.equal(model, 'svc/transcribe-1');
    exactly(t, choices[0], { finish_reason: 'stop', message: { role: 'assistant', content: TEXT } });
    t.notOk(choices[0] && 'audio' in choices[0].message, 'null there fails in a client');
    t.ok(usage.total_tokens === usage.prompt_tokens + usage.completion_tokens);
    const chunks = await chunksOf(await ask({ stream: true }, {}, base));
    t.equal(contentOf(chunks), TEXT);
  }
});

t.test('the chunks of a stream: role, content, finish, usage where it was asked for', async (t) => {
  const chunks = await chunksOf(await ask({ stream: true, stream_options: { include_usage: true } }));
  const [role, ...rest] = deltasOf(chunks);
  t.strictSame(role, { role: 'assistant', content: '', refusal: null });
  t.strictSame(rest.pop(), {});
  for (const delta of rest) t.strictSame(Object.keys(delta), ['content']);
  t.strictSame(chunks.at(-1)?.choices, []);
  exactly(t, chunks.at(-1), { usage: { prompt_tokens: Number, completion_tokens: Number } });
  t.equal(chunks.at(-2)?.choices[0]?.finish_reason, 'stop');
  for (const chunk of chunks)
    for (const path of nullsIn(chunk))
      t.ok(['choices.delta.refusal', 'choices.finish_reason'].includes(path), path);
});

t.test('text next to audio input is not spoken, and other messages do not matter', async (t) => {
  const text = { type: 'text', text: 'Please transcribe this.' };
  const messages = [
    { role: 'system', content: 'You transcribe.' },
    { role: 'user', content: 'First.' },
    ...(hearing(text, audioPart())['messages'] as unknown[]),
  ];
  for (const fields of [{ messages }, { modalities: ['text'], audio: { voice: 'nova', format: 'aac' } }]) {
    t.equal((await completionOf(await ask(fields))).choices[0]?.message.content, TEXT);
  }
});

t.test(
  'audio of any container and any length, bare or as a data URI; its format is not trusted',
  async (t) => {
    const wav = await spoken(TEXT, 'wav');
    t.ok(wav.length > 128 * 1024, 'long enough to be lifted out of the JSON');
    for (const part of [
      audioPart(wav, 'mp3'),
      audioPart(`data:audio/mpeg;base64,${mp3}`, 'wav'),
      { type: 'input_audio', input_audio: { data: mp3 } },
    ]) {
      t.equal((await completionOf(await ask(hearing(part)))).choices[0]?.message.content, TEXT);
    }
  },
);

t.test('rule 2: prompt, temperature, language and the like are ignored', async (t) => {
  const ignored = {
    temperature: 2,
    prompt: 'x',
    language: 7,
    keywords: 1,
    tools: [],
    provider: { options: { other: {} } },
  };
  t.equal((await completionOf(await ask(ignored))).choices[0]?.message.content, TEXT);
});

t.test('rule 6: native options are 400 with audio input (decision 3)', async (t) => {
  for (const base of BASES) {
    for (const stream of [true, false]) {
      for (const name of ['X-Svc-Latency', 'x-svc-nothing-known']) {
        const error = await refusal(await ask({ stream }, { [name]: 'low' }, base));
        exactly(t, error, { type: 'invalid_request_error', param: 'X-Svc-*' });
      }
      const provider = { options: { svc: { latency: 'low' } } };
      const error = await refusal(await ask({ stream, provider }, {}, base));
      exactly(t, error, { type: 'invalid_request_error', param: 'provider.options.svc' });
    }
  }
});

t.test('requests that are not valid', async (t) => {
  const at = 'messages.0.content';
  const cases: [Fields, string][] = [
    [hearing(audioPart(), audioPart()), at],
    [
      { messages: [...(hearing(audioPart())['messages'] as unknown[]), { role: 'user', content: 'x' }] },
      'messages.1.content',
    ],
    [hearing({ type: 'input_audio' }), `${at}.0.input_audio`],
    [hearing({ type: 'input_audio', input_audio: 'x' }), `${at}.0.input_audio`],
    [hearing({ type: 'input_audio', input_audio: { data: null } }), `${at}.0.input_audio`],
    [hearing({ type: 'text', text: 'x' }, audioPart('no base64!')), `${at}.1.input_audio.data`],
    [{ model: 'svc/s2.1-pro' }, 'model'],
    [{ model: 'gpt-4o-audio-preview' }, 'model'],
    [{ n: 2 }, 'n'],
  ];
  for (const [fields, param] of cases) {
    const error = await refusal(await ask(fields));
    exactly(t, error, { type: 'invalid_request_error', param }, JSON.stringify(fields).slice(0, 100));
  }
});

t.test('input that is no audio is a provider error, before any chunk', async (t) => {
  const data = Buffer.from('this is not audio').toString('base64');
  for (const stream of [true, false]) {
    const error = await refusal(await ask({ ...hearing(audioPart(data)), stream }));
    exactly(t, error, { type: 'provider_error', metadata: { provider_name: 'svc' } });
  }
});

t.test('silence is no content, and no failure', async (t) => {
  const silence = Buffer.concat([
    Buffer.from(await spoken('a', 'wav'), 'base64').subarray(0, 44),
    Buffer.alloc(44_100 * 2),
  ]).toString('base64');
  const chunks = await chunksOf(await ask({ ...hearing(audioPart(silence, 'wav')), stream: true }));
  t.equal(contentOf(chunks), '');
  const completion = await completionOf(await ask(hearing(audioPart(silence, 'wav'))));
  t.equal(completion.choices[0]?.message.content, '');
});
