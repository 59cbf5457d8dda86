/** POST …/audio/speech on all three bases through a whole gateway (spec "Compatibility layer", protocol-a.md 1). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { memberOf } from '../fixtures/family.js';
import { startGateway } from '../fixtures/gateway.js';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const PLAIN = '/compat/v1';
const AGGREGATOR = '/compat/api/v1';
const SDK = '/compat/openai/v1';
const BASES = [PLAIN, AGGREGATOR, SDK];

type Fields = Record<string, unknown>;
interface Failure {
  error: {
    code: number;
    message: string;
    type: string;
    param?: string;
    metadata?: { provider_name: string };
  };
}

const BODY = { model: 'svc/s2.1-pro', input: 'Hello, World! 123' };

const post = (body: unknown, headers: Record<string, string> = {}, base = PLAIN) =>
  fetch(`${gateway.base}${base}/audio/speech`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const say = (fields: Fields, headers: Record<string, string> = {}, base = PLAIN) =>
  post({ ...BODY, ...fields }, headers, base);

async function audioOf(response: Response): Promise<Buffer> {
  t.equal(response.status, 200, response.status === 200 ? '' : await response.clone().text());
  return Buffer.from(await response.arrayBuffer());
}

async function refusal(response: Response, status = 400): Promise<Failure['error']> {
  t.equal(response.status, status);
  t.match(response.headers.get('content-type'), /^application\/json/);
  t.ok(response.headers.get('x-generation-id'));
  const { error } = (await response.json()) as Failure;
  t.equal(error.code, status, 'the code is the status, as a number');
  return error;
}

async function hear(audio: Buffer): Promise<string> {
  const form = new FormData();
  form.set('audio', new Blob([new Uint8Array(audio)]));
  const response = await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  return ((await response.json()) as { text: string }).text;
}

t.test('matrix "TTS streamed as synthesized": speech on every base, with its default format', async (t) => {
  const types: Record<string, string> = {
    [PLAIN]: 'audio/mpeg',
    [AGGREGATOR]: 'audio/pcm',
    [SDK]: 'audio/mpeg',
  };
  for (const base of BASES) {
    const byDefault = await say({}, {}, base);
    t.equal(byDefault.headers.get('content-type'), types[base]);
    t.equal(byDefault.headers.get('content-length'), null, 'sent as it is synthesised');
    t.ok((await audioOf(byDefault)).length > 1000);
    const wav = await say({ response_format: 'wav' }, {}, base);
    t.equal(wav.headers.get('content-type'), 'audio/wav');
    t.equal(await hear(await audioOf(wav)), BODY.input);
  }
});

t.test('audio begins before the text is spoken to its end', async (t) => {
  const controller = new AbortController();
  const response = await fetch(`${gateway.base}${PLAIN}/audio/speech`, {
    method: 'POST',
    signal: controller.signal,
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ ...BODY, input: 'abcdefghi '.repeat(100_000), response_format: 'pcm' }),
  });
  const first = await response.body?.getReader().read();
  t.ok(first?.value && first.value.length > 0, 'hours of audio were asked for');
  controller.abort();
});

t.test('rule 8: formats, their content types and their rates', async (t) => {
  const rates = [8000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
  const taken: Record<string, [string, readonly number[]]> = {
    mp3: ['audio/mpeg', [32_000, 44_100]],
    wav: ['audio/wav', [8000, 16_000, 24_000, 32_000, 44_100]],
    pcm: ['audio/pcm', [8000, 16_000, 24_000, 32_000, 44_100]],
    pcm16: ['audio/pcm', [8000, 16_000, 24_000, 32_000, 44_100]],
    opus: ['audio/ogg', [48_000]],
  };
  for (const [format, [type, allowed]] of Object.entries(taken)) {
    for (const rate of rates) {
      const response = await say({ input: 'a', response_format: format, sample_rate: rate });
      if (allowed.includes(rate)) {
        t.equal(response.headers.get('content-type'), type, `${format} at ${rate}`);
        await audioOf(response);
      } else {
        const error = await refusal(response);
        t.match(error, { type: 'invalid_request_error', param: 'sample_rate', message: String(rate) });
      }
    }
  }
});

t.test('rule 8: pcm is 44.1 kHz, pcm16 is 24 kHz, an explicit sample_rate wins', async (t) => {
  const sizeOf = async (fields: Fields, base = PLAIN) => (await audioOf(await say(fields, {}, base))).length;
  const second = (await sizeOf({ response_format: 'pcm', sample_rate: 16_000 })) / 16_000;
  const near = (bytes: number, rate: number, what: string) =>
    t.ok(Math.abs(bytes - second * rate) < 100, what);
  near(await sizeOf({ response_format: 'pcm' }), 44_100, 'pcm');
  near(await sizeOf({ response_format: 'pcm16' }), 24_000, 'pcm16');
  near(await sizeOf({ response_format: 'pcm16', sample_rate: 8000 }), 8000, 'explicit');
  near(await sizeOf({}, AGGREGATOR), 44_100, 'the default of the aggregator base');
});

t.test('rule 9: the exact MP3 tier by X-Svc-Mp3-Bitrate; Opus bitrates are ignored', async (t) => {
  const sizeAt = async (bitrate: string) =>
    (await audioOf(await say({}, { 'X-Svc-Mp3-Bitrate': bitrate }))).length;
  const [low, middle, high] = [await sizeAt('64'), await sizeAt('128'), await sizeAt('192')];
  t.ok(low < middle && middle < high, `${low} ${middle} ${high}`);
  t.equal((await audioOf(await say({}))).length, middle, '128 by default');
  for (const bitrate of ['96', '320', 'high']) {
    t.equal((await refusal(await say({}, { 'X-Svc-Mp3-Bitrate': bitrate }))).param, 'X-Svc-Mp3-Bitrate');
  }
  const opus = (headers: Record<string, string>) => say({ response_format: 'opus' }, headers).then(audioOf);
  t.equal((await opus({ 'X-Svc-Opus-Bitrate': '24000' })).length, (await opus({})).length);
});

t.test('rule 10: mu-law and A-law are refused', async () => {
  for (const format of ['ulaw_8000', 'alaw_8000', 'mulaw', 'audio/pcmu', 'audio/pcma']) {
    t.equal((await refusal(await say({ response_format: format }))).param, 'response_format', format);
  }
});

t.test('rule 11: a WAV starts with the placeholder header', async (t) => {
  const bytes = await audioOf(await say({ response_format: 'wav', sample_rate: 24_000 }));
  t.equal(bytes.readUInt32LE(4), 4_294_967_076);
  t.equal(bytes.readUInt32LE(40), 4_294_967_040);
  t.equal(bytes.readUInt32LE(24), 24_000);
});

t.test('refused options: aac, flac, instructions, any stream_format but audio', async (t) => {
  const cases: [Fields, string][] = [
    [{ response_format: 'aac' }, 'response_format'],
    [{ response_format: 'flac' }, 'response_format'],
    [{ response_format: 'ogg' }, 'response_format'],
    [{ instructions: 'whisper' }, 'instructions'],
    [{ stream_format: 'sse' }, 'stream_format'],
  ];
  for (const base of BASES) {
    for (const [fields, param] of cases) {
      const error = await refusal(await say(fields, {}, base));
      t.match(error, { type: 'invalid_request_error', param });
      t.notOk(error.metadata, 'ours, so no metadata');
    }
  }
});

t.test('rules 2 and 3: what does not matter is ignored, what is unset is not refused', async () => {
  const ignored: Fields[] = [
    { seed: 7 },
    { user: 'u', session_id: 's', trace: { id: 1 } },
    { similarity_boost: 0.4, style: 1 },
    { unheard: { of: [1] } },
    { stream_format: 'audio' },
    { latency: 'no such thing' },
    ...[null, '', 'none', 'off', 'False', false, 0, [], {}].map((instructions) => ({ instructions })),
    ...[null, '', 'none', false].map((stream_format) => ({ stream_format })),
    { voice: null, response_format: null, sample_rate: null, speed: null, references: null, provider: null },
    { provider: { order: ['x'], options: null } },
    { provider: { options: { svc: null, other: { temperature: 'hot' } } } },
  ];
  for (const fields of ignored) await audioOf(await say(fields));
});

t.test('rule 1: voices', async (t) => {
  for (const voice of ['', 'default', 'alloy', { id: 'alloy' }, { id: '' }])
    await audioOf(await say({ voice }));
  for (const voice of ['Alloy', 'nova', '-', 'Aria Sky', 'f'.repeat(32), 'x'.repeat(500), { id: 'echo' }]) {
    const error = await refusal(await say({ voice }));
    t.match(error, { type: 'provider_error', metadata: { provider_name: 'svc' } }, JSON.stringify(voice));
  }
  for (const voice of [7, ['alloy'], { name: 'alloy' }]) {
    t.equal((await refusal(await say({ voice }))).type, 'invalid_request_error');
  }
  t.equal(
    (await refusal(await say({ voice: 'alloy' }, { 'X-Svc-Reference-Id': 'nova' }))).type,
    'provider_error',
  );
  await audioOf(await say({ voice: 'nova' }, { 'X-Svc-Reference-Id': 'alloy' }));
});

t.test('model ids: with and without prefix, aliases; unknown and transcription models are 400', async (t) => {
  const taken = ['svc/s2.1-pro', 's2.1-pro-free', 's2-pro', 'svc/s1', 'tts-1', 'tts-1-hd', 'gpt-4o-mini-tts'];
  for (const model of [...taken, 'playai-tts', 'eleven_turbo_v2'])
    await audioOf(await say({ model, input: 'a' }));
  for (const model of ['nothing', 'svc/tts-1', '', 'svc/transcribe-1', 'whisper-1', 'scribe_v1']) {
    t.match(await refusal(await say({ model })), { type: 'invalid_request_error', param: 'model' }, model);
  }
  t.match(await refusal(await say({ model: 'whisper-1' })), { message: /transcribes/ });
});

t.test('bodies that are not valid', async (t) => {
  const cases: [unknown, string | undefined][] = [
    [{ input: 'a' }, 'model'],
    [{ model: 'tts-1' }, 'input'],
    [{ ...BODY, input: '' }, 'input'],
    [{ ...BODY, input: ' \n' }, 'input'],
    [{ ...BODY, input: 7 }, 'input'],
    [{ ...BODY, speed: 0.24 }, 'speed'],
    [{ ...BODY, speed: 4.01 }, 'speed'],
    [{ ...BODY, speed: 'fast' }, 'speed'],
    [{ ...BODY, sample_rate: '24000' }, 'sample_rate'],
    [{ ...BODY, provider: 'svc' }, 'provider'],
    [{ ...BODY, provider: { options: { svc: 'x' } } }, 'provider.options.svc'],
    [[], undefined],
    ['{"model":', undefined],
  ];
  for (const [body, param] of cases) {
    const error = await refusal(await post(body));
    t.equal(error.type, 'invalid_request_error');
    t.equal(error.param, param, JSON.stringify(body));
  }
  t.equal(
    (await refusal(await post('x', { 'content-type': 'text/plain' }), 415)).type,
    'invalid_request_error',
  );
});

t.test('fine point 4: speed from 0.25 to 4', async () => {
  for (const speed of [0.25, 1, 4]) await audioOf(await say({ speed, input: 'a' }));
});

t.test('a body over 32 MiB is 413', async (t) => {
  const big = JSON.stringify({ ...BODY, input: 'a'.repeat(LIMITS.body.protocolASynthesis) });
  const response = await post(big).catch((error: unknown) => error as Error);
  if (response instanceof Response) t.equal((await refusal(response, 413)).type, 'invalid_request_error');
  else t.ok(response.cause, 'cut while it was sending');
});

const CLAUSES = 'One clause is here, another one comes behind it. A sentence follows them. And one more.';
/** How long it is tells how often the text was cut. */
const lengthOf = async (fields: Fields, headers: Record<string, string> = {}) =>
  (
    await audioOf(
      await say({ input: CLAUSES, response_format: 'pcm', sample_rate: 16_000, ...fields }, headers),
    )
  ).length;
const options = (svc: Fields): Fields => ({ provider: { options: { svc } } });

t.test('rule 7: latency is low unless it is said', async (t) => {
  const [low, balanced, normal] = await Promise.all(
    ['low', 'balanced', 'normal'].map((latency) => lengthOf(options({ latency }))),
  );
  t.ok(low! > balanced! && balanced! > normal!, 'clause, sentence, whole: each cut is heard');
  t.equal(await lengthOf({}), low);
});

t.test('rule 4: header over provider.options over top level', async (t) => {
  const low = await lengthOf({});
  const normal = await lengthOf(options({ latency: 'normal' }));
  t.equal(await lengthOf(options({ latency: 'low' }), { 'X-Svc-Latency': 'normal' }), normal);
  t.equal(
    await lengthOf(options({ latency: 'normal' }), { 'x-svc-latency': '"low"' }),
    low,
    'JSON where it parses',
  );
  t.equal(await lengthOf({ latency: 'normal' }), low, 'no field of the body by itself');
  t.equal(await lengthOf(options({ latency: 'normal' }), { 'X-Svc-Latency': '' }), normal, 'empty is absent');
  t.equal(await lengthOf(options({ latency: 'normal' }), { 'X-Svc-Latency': 'null' }), normal);
});

const SAMPLING: [string, unknown, unknown][] = [
  ['temperature', 0, 1.1],
  ['top_p', 1, -0.1],
  ['repetition_penalty', 1.2, 11],
];

t.test(
  'every native option by header and by provider.options: good values pass, bad ones are 400',
  async (t) => {
    const cases: [string, unknown, unknown][] = [
      ...SAMPLING,
      ['chunk_length', 200, 99],
      ['min_chunk_length', 50, 101],
      ['condition_on_previous_chunks', 'False', 'perhaps'],
      ['early_stop_threshold', 0.5, 2],
      ['max_new_tokens', 1024, 0],
      ['normalize', 'off', 'maybe'],
      ['mp3_bitrate', 64, 96],
      ['opus_bitrate', 24_000, 12],
      ['latency', 'balanced', 'fast'],
      ['features', ['quality-guard'], 'x'],
      ['reference_id', 'alloy', 'a b'],
      ['prosody', { speed: 1.5, volume: -3, normalize_loudness: 'none' }, { speed: 3 }],
      ['references', [], 'UklGRg=='],
    ];
    const spelled = (name: string) =>
      `X-Svc-${name
        .split('_')
        .map((word) => word[0]!.toUpperCase() + word.slice(1))
        .join('-')}`;
    const text = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));
    for (const [name, good, bad] of cases) {
      await audioOf(await say(options({ [name]: good })));
      await audioOf(await say({}, { [spelled(name)]: text(good) }));
      const inBody = await refusal(await say(options({ [name]: bad })));
      t.equal(inBody.type, 'invalid_request_error', name);
      t.match(inBody.param, new RegExp(name));
      t.match(
        (await refusal(await say({}, { [spelled(name)]: text(bad) }))).type,
        'invalid_request_error',
        name,
      );
    }
    await audioOf(
      await say(
        {},
        { 'X-Svc-Format': 'flac', 'X-Svc-Sample-Rate': '7', 'X-Svc-Text': 'x', 'X-Svc-Foo': '1' },
      ),
    );
  },
);

t.test('sampling fields at the top level count on the aggregator base only', async (t) => {
  for (const [name, good, bad] of SAMPLING) {
    await audioOf(await say({ [name]: good }, {}, AGGREGATOR));
    t.equal((await refusal(await say({ [name]: bad }, {}, AGGREGATOR))).param, name);
    for (const base of [PLAIN, SDK]) await audioOf(await say({ [name]: bad }, {}, base));
  }
});

const REFERENCE = Buffer.from('reference audio').toString('base64');

t.test('reference audio without an engine that clones is 400, never another voice', async (t) => {
  const references = [{ audio: REFERENCE, text: 'words' }];
  const input = [
    { type: 'input_audio', input_audio: { data: `data:audio/wav;base64,${REFERENCE}`, format: 'wav' } },
    { type: 'text', text: 'words' },
  ];
  const asked = [
    ...BASES.map((base) => say({ references }, {}, base)),
    say(options({ references })),
    say({}, { 'X-Svc-References': JSON.stringify(references) }),
    say({ input_references: input }, {}, AGGREGATOR),
    say({ input_references: input.slice(0, 1) }, {}, AGGREGATOR),
  ];
  for (const response of await Promise.all(asked)) {
    const error = await refusal(response);
    t.match(error, {
      type: 'provider_error',
      message: /reference audio/,
      metadata: { provider_name: 'svc' },
    });
  }
  for (const base of [PLAIN, SDK]) await audioOf(await say({ input_references: input }, {}, base));
  for (const bad of [[{ audio: '!!', text: 'x' }], [{ audio: REFERENCE }], { audio: REFERENCE }, [7]]) {
    t.equal((await refusal(await say({ references: bad }))).type, 'invalid_request_error');
  }
  for (const bad of [input.slice(1), [input[0], input[0]], 'x', [{ type: 'image' }]]) {
    t.equal((await refusal(await say({ input_references: bad }, {}, AGGREGATOR))).param, 'input_references');
  }
});

t.test('a header of 48 KiB with reference audio arrives', async (t) => {
  const audio = Buffer.alloc(36 * 1024).toString('base64');
  const response = await say({}, { 'X-Svc-References': JSON.stringify([{ audio, text: 'x' }]) });
  t.match(await refusal(response), { type: 'provider_error' });
});

t.test("authentication: no key is ours, a wrong key is the provider's", async (t) => {
  for (const base of BASES) {
    const none = await post(BODY, { authorization: '' }, base);
    t.equal(none.headers.get('www-authenticate'), 'Bearer');
    const missing = await refusal(none, 401);
    t.equal(missing.type, 'authentication_error');
    t.notOk(missing.metadata);
    const wrong = await refusal(await post(BODY, { authorization: 'Bearer wrong' }, base), 401);
    t.match(wrong, { type: 'provider_error', metadata: { provider_name: 'svc' } });
  }
});

t.test('rule 15: X-Generation-Id is on every response, each time another', async (t) => {
  const responses = await Promise.all([
    say({ input: 'a' }),
    say({ input: '' }),
    post({}, { authorization: '' }),
  ]);
  const ids = responses.map(({ headers }) => headers.get('x-generation-id'));
  t.equal(new Set(ids).size, ids.length);
  t.ok(ids.every((id) => id));
  await Promise.all(responses.map((response) => response.arrayBuffer()));
});

t.test('GET …/models: no key, one list for all clients', async (t) => {
  for (const base of BASES) {
    const list = async (query: string) => {
      const response = await fetch(`${gateway.base}${base}/models${query}`);
      t.equal(response.status, 200);
      return (await response.json()) as {
        object: string;
        data: Fields[];
        links: Fields;
        total_count: number;
      };
    };
    const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
    const all = await list('');
    t.match(all, { object: 'list', links: { next: null }, total_count: 5 });
    const speech = ['svc/s2.1-pro', 'svc/s2.1-pro-free', 'svc/s2-pro', 'svc/s1'];
    t.strictSame(await ids(''), [...speech, 'svc/transcribe-1']);
    t.strictSame(await ids('?output_modalities=speech&limit=500&offset=0'), speech);
    for (const name of ['text', 'transcription'])
      t.strictSame(await ids(`?output_modalities=${name}`), ['svc/transcribe-1']);
    t.strictSame(await ids('?output_modalities=image'), []);
    t.equal((await ids('?output_modalities=speech,text')).length, 5);
    t.equal((await ids('?output_modalities=')).length, 5);
  }
});

t.test('rule 13: what is always null in the catalogue, and what is absent', async (t) => {
  const response = await fetch(`${gateway.base}${AGGREGATOR}/models`, {
    headers: { authorization: 'Bearer nonsense' },
  });
  const { data } = (await response.json()) as { data: Fields[] };
  for (const entry of data) {
    for (const name of ['context_length', 'default_parameters', 'per_request_limits', 'supported_voices']) {
      t.equal(entry[name], null, name);
    }
    const absent = [
      'alias_target',
      'benchmarks',
      'expiration_date',
      'hugging_face_id',
      'knowledge_cutoff',
      'reasoning',
    ];
    for (const name of absent) t.notOk(name in entry, name);
    t.match(entry, { object: 'model', owned_by: 'svc', id: /^svc\//, name: String, created: Number });
  }
});

t.test("404 in the protocol's shape: a model by id, translations, anything unknown", async (t) => {
  const paths = BASES.flatMap((base) => [
    `${base}/models/svc%2Fs2.1-pro`,
    `${base}/models/svc/s2.1-pro`,
    `${base}/models/`,
    `${base}/audio/translations`,
    `${base}/embeddings`,
    base,
  ]);
  for (const path of [...paths, '/compat', '/compat/v2/audio/speech', '/compat/nobody/v1/models']) {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${gateway.base}${path}`, { method, headers: gateway.authorization });
      t.match(await refusal(response, 404), { type: 'invalid_request_error' }, `${method} ${path}`);
    }
  }
  const wrong = await fetch(`${gateway.base}${PLAIN}/audio/speech`, { headers: gateway.authorization });
  t.match(wrong.headers.get('allow'), /^POST\b/);
  t.equal((await refusal(wrong, 405)).type, 'invalid_request_error');
});

t.test('the interface description has every route of every base', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, Fields>;
  };
  for (const base of BASES) {
    t.ok(paths[`${base}/audio/speech`]?.['post']);
    t.ok(paths[`${base}/audio/transcriptions`]?.['post']);
    t.strictSame((paths[`${base}/models`]?.['get'] as { security: unknown }).security, []);
  }
});

t.test('429 is a rate_limit_error with Retry-After', async (t) => {
  const narrow = await startGateway({ CONCURRENCY: '1' });
  t.teardown(() => narrow.stop());
  const controller = new AbortController();
  const speech = (input: string, signal?: AbortSignal) =>
    fetch(`${narrow.base}${PLAIN}/audio/speech`, {
      method: 'POST',
      ...(signal ? { signal } : {}),
      headers: { ...narrow.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ ...BODY, input, response_format: 'pcm' }),
    });
  const long = await speech('abcdefghi '.repeat(100_000), controller.signal);
  await long.body?.getReader().read();
  const refused = await speech('a');
  t.ok(Number(refused.headers.get('retry-after')) > 0);
  const error = await refusal(refused, 429);
  t.equal(error.type, 'rate_limit_error');
  t.notOk(error.metadata);
  controller.abort();
});

t.test(
  'a stream that fails midway ends the connection; one that cannot begin is 502, not to be repeated',
  async (t) => {
    const broken = await startGateway();
    t.teardown(() => broken.stop());
    const speech = () =>
      fetch(`${broken.base}${PLAIN}/audio/speech`, {
        method: 'POST',
        headers: { ...broken.authorization, 'content-type': 'application/json' },
        body: JSON.stringify({ ...BODY, input: 'abcdefghi '.repeat(100_000) }),
      });
    const response = await speech();
    const reader = response.body?.getReader();
    await reader?.read();
    process.kill(memberOf(broken.pid, 'workers/encode'), 'SIGKILL');
    const toEnd = async () => {
      while (!(await reader?.read())?.done);
    };
    await t.rejects(toEnd(), 'never a short success');
    const next = await speech();
    if (next.status === 200) return void (await next.body?.cancel());
    t.equal(next.headers.get('x-should-retry'), next.status === 502 ? 'false' : null);
    t.match(await refusal(next, next.status), { type: 'provider_error' });
  },
);
