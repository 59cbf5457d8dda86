/** POST …/chat/completions on all three bases through a whole gateway: speaking (docs/contract/protocol-a.md 4). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  audioOf,
  type Chunk,
  chunksOf,
  completionOf,
  dataOf,
  deltasOf,
  nullsIn,
  transcriptOf,
} from '../../fixtures/protocol-a/chat.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { longJson, postLong } from '../../fixtures/edge/long-bodies.js';
import {
  AGGREGATOR,
  BASES,
  type Fields,
  hear,
  type Headers,
  PLAIN,
  refusal,
  SDK,
  sender,
} from '../../fixtures/protocol-a/rest.js';

const gateway = await sharedGateway(t);

const TEXT = 'Tones carry text, exactly. A second sentence follows “them” & ends.';
const BODY = {
  model: 'svc/s2.1-pro',
  modalities: ['text', 'audio'],
  messages: [{ role: 'user', content: TEXT }],
};

const post = sender(gateway, '/chat/completions');
const ask = (fields: Fields = {}, headers: Headers = {}, base = PLAIN) =>
  post({ ...BODY, ...fields }, headers, base);
const stream = async (fields: Fields = {}, headers: Headers = {}, base = PLAIN) =>
  chunksOf(await ask({ stream: true, ...fields }, headers, base));
const whole = async (fields: Fields = {}, headers: Headers = {}, base = PLAIN) =>
  completionOf(await ask(fields, headers, base));

/** The audio of a completion. */
async function speech(fields: Fields = {}, headers: Headers = {}, base = PLAIN): Promise<Buffer> {
  const { choices } = await whole(fields, headers, base);
  return Buffer.from(choices[0]?.message.audio?.data ?? '', 'base64');
}

const saying = (...messages: readonly unknown[]): Fields => ({ messages });
const user = (content: unknown) => ({ role: 'user', content });

t.test(
  'matrix "Chat-modality audio over SSE": on every base, the text of the last user message',
  async (t) => {
    for (const base of BASES) {
      const chunks = await stream({ audio: { voice: 'default', format: 'wav' } }, {}, base);
      t.equal(await hear(gateway, audioOf(chunks)), TEXT);
      t.equal(transcriptOf(chunks), TEXT);
    }
  },
);

t.test('the order of the chunks, and the names that are the same in all of them', async (t) => {
  const chunks = await stream({ audio: { format: 'pcm16' }, stream_options: { include_usage: true } });
  const [role, names, ...rest] = deltasOf(chunks);
  t.strictSame(role, { role: 'assistant', content: null, refusal: null });
  exactly(t, names?.audio, { id: /^audio_/, data: '', transcript: '' });
  const usage = chunks.at(-1);
  t.strictSame(usage?.choices, [], 'usage comes last, without a choice');
  const [end, finish] = deltasOf(chunks).slice(-2);
  exactly(t, end, { audio: { expires_at: Number } });
  t.ok(Number.isInteger(end?.audio?.expires_at), 'a float fails in a client');
  t.strictSame(finish, {});
  for (const { audio } of rest.slice(0, -2)) {
    t.ok(audio, 'nothing but audio and transcript in between');
    t.strictSame(Object.keys(audio ?? {}).length, 1);
  }
  t.strictSame(
    chunks.flatMap(({ choices }) => choices.map(({ finish_reason }) => finish_reason)).filter(Boolean),
    ['stop'],
    'one finish, at the end',
  );
  const names0 = ({ id, object, created, model }: Chunk) => ({ id, object, created, model });
  for (const chunk of chunks) t.strictSame(names0(chunk), names0(chunks[0] as Chunk));
  exactly(t, chunks[0], {
    id: /^chatcmpl-/,
    object: 'chat.completion.chunk',
    created: Number,
    model: 'svc/s2.1-pro',
  });
});

t.test('no field is null that a client refuses as null', async (t) => {
  const allowed = ['choices.delta.content', 'choices.delta.refusal', 'choices.finish_reason'];
  for (const chunk of await stream({ stream_options: { include_usage: true } }))
    for (const path of nullsIn(chunk)) t.ok(allowed.includes(path), path);
  const expected = [
    'choices.logprobs',
    'choices.message.content',
    'choices.message.refusal',
    'system_fingerprint',
  ];
  t.strictSame(nullsIn(await whole()).sort(), expected, 'required of a completion, null or not');
});

t.test('each piece of audio but the last is whole groups of base64, and whole samples', async (t) => {
  for (const format of ['pcm16', 'pcm', 'wav', 'mp3', 'opus']) {
    const pieces = dataOf(await stream({ audio: { format } }));
    t.ok(pieces.length > 1, `${format} in ${pieces.length} pieces`);
    for (const piece of pieces.slice(0, -1)) {
      t.equal(Buffer.from(piece, 'base64').length % 6, 0);
      t.notMatch(piece, /=/);
    }
    const joined = Buffer.from(pieces.join(''), 'base64');
    t.ok(
      joined.equals(Buffer.concat(pieces.map((piece) => Buffer.from(piece, 'base64')))),
      'decoded at once',
    );
    const inOne = await speech({ audio: { format } });
    if (format === 'opus') t.equal(joined.length, inOne.length, 'streams of Ogg have numbers of their own');
    else t.ok(joined.equals(inOne), 'the same bytes as in a completion');
  }
});

t.test('the transcript comes in pieces, each before its audio', async (t) => {
  const kinds = deltasOf(await stream({ audio: { format: 'pcm16' } }))
    .flatMap(({ audio }) => (audio && !audio.id ? Object.keys(audio) : []))
    .filter((kind, index, all) => kind !== all[index - 1]);
  t.strictSame(kinds, ['transcript', 'data', 'transcript', 'data', 'transcript', 'data', 'expires_at']);
});

t.test(
  'usage: in a stream only with include_usage, in a completion always; integers that add up',
  async (t) => {
    const silent: Fields[] = [{}, { stream_options: null }, { stream_options: { include_usage: 'False' } }];
    for (const fields of silent) for (const chunk of await stream(fields)) t.notOk('usage' in chunk);
    const last = (await stream({ stream_options: { include_usage: true } })).at(-1)?.usage;
    for (const usage of [last, (await whole()).usage]) {
      const { prompt_tokens = 0, completion_tokens = 0, total_tokens } = usage ?? {};
      t.ok(Number.isInteger(prompt_tokens) && prompt_tokens > 0);
      t.ok(Number.isInteger(completion_tokens) && completion_tokens > 0);
      t.equal(total_tokens, prompt_tokens + completion_tokens);
      // Clients of the aggregator need all details, or none.
      exactly(t, usage, {
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: Number },
        completion_tokens_details: { reasoning_tokens: 0, audio_tokens: Number },
      });
    }
  },
);

t.test('stream:false, or none by rule 3, gives one chat.completion', async (t) => {
  for (const unset of [undefined, false, null, 'False', 0, 'none', 'off']) {
    const completion = await whole({ stream: unset, audio: { format: 'wav' } });
    exactly(t, completion, { object: 'chat.completion', id: /^chatcmpl-/, model: 'svc/s2.1-pro' });
    t.equal(completion.choices.length, 1);
    const [choice] = completion.choices;
    exactly(t, choice, { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: null } });
    exactly(t, choice?.message.audio, { id: /^audio_/, transcript: TEXT, expires_at: Number });
    t.equal(await hear(gateway, Buffer.from(choice?.message.audio?.data ?? '', 'base64')), TEXT);
  }
});

t.test('a piece of audio leaves before the text is spoken to its end', async (t) => {
  const controller = new AbortController();
  const endless = { ...BODY, ...saying(user('abcdefghi '.repeat(100_000))), stream: true };
  const response = await post(endless, {}, PLAIN, controller.signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!/"data":"[^"]/.test(seen)) seen += (await reader.read()).value ?? '';
  controller.abort();
  t.pass('hours of audio were asked for');
});

t.test('rules 8, 10 and "Refused options": formats', async (t) => {
  const second = (await speech({ audio: { format: 'pcm16' } })).length / 24_000;
  t.ok(Math.abs((await speech({ audio: { format: 'pcm' } })).length - second * 44_100) < 100, '44.1 kHz');
  t.ok(Math.abs((await speech({}, {}, AGGREGATOR)).length - second * 44_100) < 100, 'pcm is its default');
  t.equal((await speech({ audio: { format: 'wav' } })).readUInt32LE(40), 4_294_967_040, 'rule 11');
  t.equal((await speech({ audio: { format: 'opus' } })).toString('latin1', 0, 4), 'OggS');
  for (const base of [PLAIN, SDK])
    for (const audio of [{}, { audio: { format: '' } }])
      t.equal((await speech(audio, {}, base))[0], 0xff, 'mp3 is the default');
  for (const format of ['aac', 'flac', 'ulaw_8000', 'audio/pcma', 'pcm24']) {
    exactly(t, await refusal(await ask({ audio: { format } })), {
      type: 'invalid_request_error',
      param: 'audio.format',
    });
  }
});

t.test('rule 1: voices, as text or as an object', async (t) => {
  for (const voice of ['', 'default', 'alloy', null, { id: 'alloy' }, { id: '' }])
    await speech({ audio: { voice } });
  for (const voice of ['Alloy', 'nova', '-', { id: 'echo' }, 'f'.repeat(32), 'x'.repeat(500)]) {
    for (const streamed of [true, false]) {
      const error = await refusal(await ask({ audio: { voice }, stream: streamed }));
      exactly(t, error, { type: 'provider_error', metadata: { provider_name: 'svc' } });
      t.notOk(error.metadata?.error_type, 'that is for chunks');
    }
  }
  for (const voice of [7, ['alloy'], { name: 'alloy' }]) {
    t.match((await refusal(await ask({ audio: { voice } }))).param, /^audio\.voice/);
  }
});

const CLAUSES = 'One clause is here, another one comes behind it. A sentence follows them. And one more.';
const options = (svc: Fields): Fields => ({ provider: { options: { svc } } });
/** Length of the audio, which depends on how often the text was cut. */
const lengthOf = async (fields: Fields, headers: Headers = {}, base = PLAIN) =>
  (await speech({ ...saying(user(CLAUSES)), audio: { format: 'pcm16' }, ...fields }, headers, base)).length;

t.test('rules 4 and 7: low latency by default; header over provider.options over the body', async (t) => {
  const [low, normal] = [
    await lengthOf(options({ latency: 'low' })),
    await lengthOf(options({ latency: 'normal' })),
  ];
  t.ok(low > normal, 'each cut is heard');
  for (const base of BASES) t.equal(await lengthOf({}, {}, base), low);
  t.equal(await lengthOf({}, { 'X-Svc-Latency': 'normal' }), normal);
  t.equal(await lengthOf(options({ latency: 'low' }), { 'X-Svc-Latency': 'normal' }), normal);
  t.equal(await lengthOf(options({ latency: 'normal' }), { 'X-Svc-Latency': '"low"' }), low);
  t.ok((await lengthOf(options({ prosody: { speed: 2 } }))) < low * 0.7, 'twice as fast');
  const voices = { audio: { voice: 'nova', format: 'mp3' } };
  await speech({ ...voices, ...options({ reference_id: 'alloy' }) });
  t.equal((await refusal(await ask(voices, { 'X-Svc-Reference-Id': 'echo' }))).type, 'provider_error');
  const bad = await refusal(await ask(options({ temperature: 3 })));
  exactly(t, bad, { type: 'invalid_request_error', param: 'provider.options.svc.temperature' });
  t.equal((await refusal(await ask({}, { 'X-Svc-Mp3-Bitrate': '96' }))).param, 'X-Svc-Mp3-Bitrate');
});

t.test(
  'rule 2: what a language model would make of it is ignored, on the aggregator base as well',
  async () => {
    const ignored: Fields = {
      temperature: 2,
      top_p: -1,
      repetition_penalty: 99,
      seed: 7,
      max_tokens: 1,
      stop: 'Tones',
      tools: [{ type: 'function' }],
      response_format: { type: 'json_object' },
      instructions: 'whisper',
      stream_format: 'sse',
      user: 'u',
      service_tier: 'auto',
      metadata: { a: 'b' },
      references: 'x',
      n: 1,
      provider: { order: ['x'], options: { other: { temperature: 'hot' } } },
    };
    for (const base of BASES) await speech(ignored, {}, base);
    const nulls = { n: null, audio: null, provider: null, stream_options: null, temperature: null };
    await speech(nulls);
  },
);

t.test('refused options: n other than 1; audio both ways; no audio at all', async (t) => {
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } };
  const both = saying(user([{ type: 'text', text: 'Say this' }, audio]));
  const before = saying(user([audio]), { role: 'assistant', content: 'x' }, user('Say this'));
  const cases: [Fields, string][] = [
    ...[0, 2, 1.5, '1', true].map((n): [Fields, string] => [{ n }, 'n']),
    [both, 'modalities'],
    [before, 'modalities'],
    [{ modalities: ['text'] }, 'modalities'],
    [{ modalities: [] }, 'modalities'],
    [{ modalities: null, audio: { voice: 'alloy', format: 'wav' } }, 'modalities'],
  ];
  for (const base of BASES) {
    for (const [fields, param] of cases) {
      for (const streamed of [true, false]) {
        const error = await refusal(await ask({ ...fields, stream: streamed }, {}, base));
        exactly(t, error, { type: 'invalid_request_error', param }, JSON.stringify(fields).slice(0, 80));
        t.notOk(error.metadata, 'ours, so no metadata');
      }
    }
  }
});

t.test('what is spoken: the last user message, its text parts one after another', async (t) => {
  const said = async (...messages: readonly unknown[]) =>
    (await whole(saying(...messages))).choices[0]?.message.audio?.transcript;
  const system = { role: 'system', content: 'Be brief.' };
  const answer = { role: 'assistant', content: null, audio: { id: 'audio_1' } };
  t.equal(await said(system, user('One.'), answer, user('Two.')), 'Two.');
  t.equal(await said(user('One.'), { role: 'assistant', content: 'Two.' }), 'One.');
  t.equal(
    await said(
      user([
        { type: 'text', text: 'One' },
        { type: 'text', text: 'two.' },
      ]),
    ),
    'One\ntwo.',
  );
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
  t.equal(await said(user([image, { type: 'text', text: 'One.' }])), 'One.');
});

t.test('bodies that are not valid', async (t) => {
  const cases: [unknown, string | undefined][] = [
    [{ ...BODY, model: undefined }, 'model'],
    [{ ...BODY, messages: undefined }, 'messages'],
    [{ ...BODY, messages: [] }, 'messages'],
    [{ ...BODY, messages: 'x' }, 'messages'],
    [{ ...BODY, ...saying('x') }, 'messages.0'],
    [{ ...BODY, ...saying({ content: 'x' }) }, 'messages.0.role'],
    [{ ...BODY, ...saying({ role: 'system', content: 'x' }) }, 'messages'],
    [{ ...BODY, ...saying(user('')) }, 'messages.0.content'],
    [{ ...BODY, ...saying(user(' \n')) }, 'messages.0.content'],
    [{ ...BODY, ...saying(user('One.'), user(null)) }, 'messages.1.content'],
    [{ ...BODY, ...saying(user(7)) }, 'messages.0.content'],
    [{ ...BODY, ...saying(user([])) }, 'messages.0.content'],
    [{ ...BODY, ...saying(user([{ type: 'text', text: 7 }])) }, 'messages.0.content'],
    [{ ...BODY, ...saying(user([null, 'x', 7])) }, 'messages.0.content'],
    [{ ...BODY, modalities: 'audio' }, 'modalities'],
    [{ ...BODY, audio: 'alloy' }, 'audio'],
    [{ ...BODY, audio: { format: 7 } }, 'audio.format'],
    [{ ...BODY, stream_options: 'x' }, 'stream_options'],
    [{ ...BODY, provider: 'svc' }, 'provider'],
    [{ ...BODY, ...options('x' as never) }, 'provider.options.svc'],
    [[], undefined],
    ['{"model":', undefined],
  ];
  for (const [body, param] of cases) {
    const error = await refusal(await post(body));
    t.equal(error.type, 'invalid_request_error');
    t.equal(error.param, param, JSON.stringify(body));
  }
  const text = await refusal(await post('x', { 'content-type': 'text/plain' }), 415);
  t.equal(text.type, 'invalid_request_error');
});

t.test('models: aliases are taken, unknown and transcription models are 400', async (t) => {
  for (const [model, named] of [
    ['svc/s1', 'svc/s1'],
    ['tts-1', 'svc/s2.1-pro'],
    ['eleven_v3', 'svc/s2.1-pro'],
    ['gpt-4o-audio-preview', 'svc/s2.1-pro'],
  ])
    t.equal((await whole({ model })).model, named);
  for (const model of ['gpt-4o', '', 'svc/transcribe-1', 'whisper-1']) {
    exactly(t, await refusal(await ask({ model })), { type: 'invalid_request_error', param: 'model' });
  }
});

t.test('long strings arrive as they are: text, and reference audio', async (t) => {
  const long = `${'Ä'.repeat(70_000)}. The end.`;
  const controller = new AbortController();
  const asked = { ...BODY, ...saying(user(long)), stream: true, audio: { format: 'pcm16' } };
  const response = await post(asked, {}, PLAIN, controller.signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let seen = '';
  while (!/"transcript":"[^"]/.test(seen)) seen += (await reader.read()).value ?? '';
  t.match(seen, /"transcript":"ÄÄÄ/);
  controller.abort();
  const audio = Buffer.alloc(100_000).toString('base64');
  const error = await refusal(await ask(options({ references: [{ audio, text: 'x' }] })));
  exactly(
    t,
    error,
    { type: 'provider_error', message: /reference audio/ },
    'decoded, and no engine here clones',
  );
});

t.test('a body over 32 MiB is 413', async (t) => {
  const big = longJson({ ...BODY, ...saying(user('|')) }, LIMITS.body.protocolASynthesis);
  const response = await postLong(`${gateway.base}${PLAIN}/chat/completions`, gateway.authorization, big);
  if (response) t.equal((await refusal(response, 413)).type, 'invalid_request_error');
  else t.pass('cut while it was sending');
});

t.test('authentication, 404, 405 and the interface description', async (t) => {
  for (const base of BASES) {
    const missing = await refusal(await post(BODY, { authorization: '' }, base), 401);
    t.equal(missing.type, 'authentication_error');
    const wrong = await refusal(await post(BODY, { authorization: 'Bearer wrong' }, base), 401);
    t.equal(wrong.type, 'provider_error');
    await refusal(await fetch(`${gateway.base}${base}/chat/completions`), 405);
    await refusal(await fetch(`${gateway.base}${base}/chat/completions/chatcmpl-1`), 404);
  }
  const response = await fetch(`${gateway.base}/openapi.json`);
  const { paths } = (await response.json()) as { paths: Record<string, Fields> };
  for (const base of BASES) t.ok(paths[`${base}/chat/completions`]?.['post']);
});
