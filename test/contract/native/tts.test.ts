/** POST /v1/tts through a whole gateway (docs/contract/native.md 1, rules 8–11, 15). */
import { encode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { until } from '../../fixtures/until.js';
import { patiently } from '../../fixtures/patience.js';

const gateway = await lentGateway(t);

type Body = Record<string, unknown>;

const post = (body: unknown, headers: Record<string, string> = {}) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const postPacked = (body: unknown) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/msgpack' },
    body: encode(body),
  });

const failure = async (response: Response) => (await response.json()) as { status: number; message: string };

const HEARD = { text: 'Hello, World! 123', format: 'wav', sample_rate: 16_000 };

t.test('JSON and MessagePack bodies give the same audio, which holds the text', async (t) => {
  const [fromJson, fromPacked] = await Promise.all([post(HEARD), postPacked(HEARD)]);
  t.equal(fromJson.status, 200);
  t.equal(fromJson.headers.get('content-type'), 'audio/wav');
  const audio = new Uint8Array(await fromJson.arrayBuffer());
  t.strictSame(new Uint8Array(await fromPacked.arrayBuffer()), audio);

  const form = new FormData();
  form.set('audio', new Blob([audio]));
  const heard = await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  t.equal(((await heard.json()) as Body)['text'], HEARD.text);
});

t.test('the default is an mp3 at 44100 Hz without a length', async (t) => {
  const response = await post({ text: 'hi' });
  t.equal(response.status, 200);
  t.equal(response.headers.get('content-type'), 'audio/mpeg');
  t.equal(response.headers.get('content-length'), null);
  const bytes = new Uint8Array(await response.arrayBuffer());
  t.ok(bytes.length > 500);
  t.equal(bytes[0], 0xff, 'starts with a frame, no ID3 tag');
});

t.test('rule 8: each format takes its rates and refuses the others', async (t) => {
  const rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];
  const taken: Record<string, readonly number[]> = {
    mp3: [32_000, 44_100],
    wav: [8000, 16_000, 24_000, 32_000, 44_100],
    pcm: [8000, 16_000, 24_000, 32_000, 44_100],
    opus: [48_000],
  };
  for (const [format, allowed] of Object.entries(taken)) {
    for (const rate of rates) {
      const response = await post({ text: 'a', format, sample_rate: rate });
      const expected = allowed.includes(rate) ? 200 : 400;
      t.equal(response.status, expected, `${format} at ${rate} is ${expected}`);
      if (expected === 200) await response.arrayBuffer();
      else exactly(t, await failure(response), { status: 400, message: new RegExp(`sample rate ${rate}`) });
    }
  }
});

t.test('rule 11: a WAV starts with the placeholder header', async (t) => {
  const bytes = Buffer.from(
    await (await post({ text: 'a', format: 'wav', sample_rate: 8000 })).arrayBuffer(),
  );
  t.equal(bytes.toString('latin1', 0, 4), 'RIFF');
  t.equal(bytes.readUInt32LE(4), 4_294_967_076);
  t.equal(bytes.toString('latin1', 36, 40), 'data');
  t.equal(bytes.readUInt32LE(40), 4_294_967_040);
  t.equal(bytes.readUInt32LE(24), 8000);
});

t.test('every bound is held on both sides of its edge (decision 4: speed from 0.5 to 2)', async (t) => {
  const prosody = (name: string) => (value: unknown) => ({ prosody: { [name]: value } });
  const field = (name: string) => (value: unknown) => ({ [name]: value });
  const edges: [string, (value: unknown) => Body, readonly unknown[], readonly unknown[]][] = [
    ['speed', prosody('speed'), [0.5, 1, 2], [0.49, 2.01, 'fast']],
    ['volume', prosody('volume'), [-20, 0, 20], [-20.1, 20.1]],
    ['normalize_loudness', prosody('normalize_loudness'), [true, false], ['yes']],
    ['temperature', field('temperature'), [0, 1], [-0.1, 1.1]],
    ['top_p', field('top_p'), [0, 1], [-0.1, 1.1]],
    ['repetition_penalty', field('repetition_penalty'), [0, 10], [-1, 10.1]],
    ['chunk_length', field('chunk_length'), [100, 300], [99, 301, 200.5]],
    ['min_chunk_length', field('min_chunk_length'), [0, 100], [-1, 101]],
    ['early_stop_threshold', field('early_stop_threshold'), [0, 1], [-0.1, 1.1]],
    ['max_new_tokens', field('max_new_tokens'), [1, 1_000_000], [0, 1_000_001]],
    ['condition_on_previous_chunks', field('condition_on_previous_chunks'), [true], [1]],
    ['normalize', field('normalize'), [false], ['no']],
    ['mp3_bitrate', field('mp3_bitrate'), [64, 128, 192], [32, 96, 256]],
    ['opus_bitrate', field('opus_bitrate'), [-1000, 24_000, 64_000, 24, 64], [16, 96_000]],
    ['latency', field('latency'), ['low', 'balanced', 'normal'], ['fast']],
    ['features', field('features'), [[], ['quality-guard']], ['x', Array(33).fill('x')]],
    ['reference_id', field('reference_id'), ['', 'default', 'alloy'], ['Alloy', '-', 'a'.repeat(129), 'a b']],
    ['format', field('format'), ['wav'], ['ogg', 'flac', 'ulaw_8000']],
  ];
  for (const [name, body, taken, refused] of edges) {
    for (const value of taken) {
      const response = await post({ text: 'a', ...body(value) });
      t.equal(response.status, 200, `${name} takes ${JSON.stringify(value)}`);
      await response.arrayBuffer();
    }
    for (const value of refused) {
      const response = await post({ text: 'a', ...body(value) });
      t.equal(response.status, 400, `${name} refuses ${JSON.stringify(value)?.slice(0, 40)}`);
      t.type((await failure(response)).message, 'string');
    }
  }
});

t.test('messages are those that clients know', async (t) => {
  const cases: [Body, RegExp][] = [
    [{}, /^missing field text$/],
    [{ text: 'a', prosody: { speed: 3 } }, /speed must be in \[0\.5, 2\]/],
    [{ text: 'a', format: 'ogg' }, /unknown variant `ogg`.*expected one of/],
    [
      { text: 'a', reference_id: 'f'.repeat(32) },
      /^Reference not found: no voice "f{32}"; GET \/model lists the voices$/,
    ],
    [{ text: 'a', references: [{ audio: 'UklGRg==', text: 'x' }] }, /^Reference Audio is not valid/],
  ];
  for (const [body, message] of cases) {
    const response = await post(body);
    t.equal(response.status, 400);
    exactly(t, await failure(response), { status: 400, message });
  }
});

t.test('null means absent for every optional field', async (t) => {
  const names = [
    'reference_id',
    'references',
    'prosody',
    'temperature',
    'top_p',
    'repetition_penalty',
    'features',
  ]
    .concat(['chunk_length', 'min_chunk_length', 'condition_on_previous_chunks', 'early_stop_threshold'])
    .concat([
      'max_new_tokens',
      'normalize',
      'format',
      'sample_rate',
      'mp3_bitrate',
      'opus_bitrate',
      'latency',
    ]);
  const nulls = Object.fromEntries(names.map((name) => [name, null]));
  for (const response of [await post({ text: 'a', ...nulls }), await postPacked({ text: 'a', ...nulls })]) {
    t.equal(response.status, 200);
    t.equal(response.headers.get('content-type'), 'audio/mpeg');
    await response.arrayBuffer();
  }
});

t.test('empty text gives empty audio, unknown fields are ignored', async (t) => {
  const response = await post({ text: '', format: 'pcm', unheard: { of: 1 } });
  t.equal(response.status, 200);
  t.equal((await response.arrayBuffer()).byteLength, 0);
});

t.test('a request that no engine can serve is refused, never served with another voice', async (t) => {
  const reference = { audio: new Uint8Array(100), text: 'x' };
  const cloned = await postPacked({ text: 'a', references: [reference] });
  exactly(t, await failure(cloned), { status: 400, message: /reference audio/ });
  const several = await post({ text: '<|speaker:0|>a', reference_id: ['alloy', 'default'] });
  exactly(t, await failure(several), { status: 400, message: /several voices/ });
  const empty = await postPacked({ text: 'a', references: [] });
  t.equal(empty.status, 200, 'an empty list is no reference');
  await empty.arrayBuffer();
});

t.test('an unknown model header means the default', async (t) => {
  for (const model of ['s2-pro', 'svc/s1', 'no-such-model', '']) {
    const response = await post({ text: 'a' }, { model });
    t.equal(response.status, 200, `model ${model}`);
    await response.arrayBuffer();
  }
});

t.test('decision 2: native endpoints ignore option headers', async (t) => {
  const response = await post({ text: 'a' }, { 'X-Svc-Mp3-Bitrate': '17', 'X-Svc-Latency': 'never' });
  t.equal(response.status, 200);
  await response.arrayBuffer();
});

t.test('keys: missing, malformed and wrong are 401 with a challenge', async (t) => {
  const headers: Record<string, string>[] = [
    {},
    { authorization: 'Basic abc' },
    { authorization: 'Bearer nope' },
  ];
  for (const header of headers) {
    const response = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...header },
      body: '{"text":"a"}',
    });
    t.equal(response.status, 401);
    t.equal(response.headers.get('www-authenticate'), 'Bearer');
    t.equal((await failure(response)).status, 401);
  }
});

t.test('MessagePack and JSON go by all of their names', async (t) => {
  const body = { text: 'a', format: 'pcm' };
  const packed = ['application/msgpack', 'application/vnd.msgpack', 'Application/X-MsgPack; charset=utf-8'];
  for (const type of packed) await speaks(type, encode(body));
  for (const type of ['application/json; charset=utf-8', 'text/json'])
    await speaks(type, JSON.stringify(body));

  async function speaks(type: string, sent: string | Uint8Array<ArrayBuffer>): Promise<void> {
    const response = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': type },
      body: sent,
    });
    t.equal(response.status, 200, type);
    t.ok((await response.arrayBuffer()).byteLength > 1000, type);
  }
});

t.test('bodies that are not what they say', async (t) => {
  const cases: [string, string | Uint8Array, number][] = [
    ['application/json', '{"text":', 400],
    ['application/json', '[]', 400],
    ['application/json', '"text"', 400],
    ['application/json', '', 400],
    ['application/msgpack', new Uint8Array([0xc1, 0xc1]), 400],
    ['application/msgpack', encode({ text: 'a' }).subarray(0, 5), 400],
    ['text/plain', 'a', 415],
    ['application/x-www-form-urlencoded', 'text=a', 415],
  ];
  for (const [type, body, status] of cases) {
    const response = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': type },
      body: body,
    });
    t.equal(response.status, status, `${type} ${typeof body === 'string' ? body : 'bytes'}`);
    t.equal((await failure(response)).status, status);
  }
});

t.test('rule 15: X-Generation-Id is on every response (decision 3)', async (t) => {
  const responses = await Promise.all([
    post({ text: 'a' }),
    post({}),
    fetch(`${gateway.base}/v1/tts`),
    fetch(`${gateway.base}/v1/nothing`),
  ]);
  const ids = responses.map(({ headers }) => headers.get('x-generation-id'));
  t.ok(ids.every((id) => id && id.length > 10));
  t.equal(new Set(ids).size, ids.length);
  await Promise.all(responses.map((response) => response.arrayBuffer()));
});

t.test('a path or method that is not there has the native shape', async (t) => {
  exactly(t, await failure(await fetch(`${gateway.base}/v1/nothing`)), { status: 404 });
  const wrong = await fetch(`${gateway.base}/v1/tts`);
  t.match(wrong.headers.get('allow'), /^POST\b/);
  exactly(t, await failure(wrong), { status: 405 });
});

t.test('audio is sent while it is synthesised, and a client that leaves frees its slot', async (t) => {
  const running = async () => {
    const metrics = await (await fetch(`${gateway.base}/metrics`)).text();
    return Number(/^gateway_speech_jobs_running (\d+)/m.exec(metrics)?.[1]);
  };
  const controller = new AbortController();
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    signal: controller.signal,
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'abcdefghi '.repeat(200_000), format: 'pcm', sample_rate: 16_000 }),
  });
  const first = await response.body?.getReader().read();
  t.ok(first?.value && first.value.length > 0, 'the first bytes came although hours of audio were asked for');
  t.equal(await running(), 1);
  controller.abort();
  await until('the slot is free', async () => (await running()) === 0);
});

t.test('the interface description covers the endpoint, at version 1 (decision 25)', async (t) => {
  const description = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    info: { version: string };
    paths: Record<string, Record<string, { requestBody?: { content: Body } }>>;
  };
  t.equal(description.info.version, '1');
  const content = description.paths['/v1/tts']?.['post']?.requestBody?.content;
  t.strictSame(Object.keys(content ?? {}).sort(), ['application/json', 'application/msgpack']);
  t.ok(description.paths['/v1/asr']?.['post']);
});

// Last: a body of that size keeps the event loop so busy that the edge may shed requests right after it.
t.test('a body over 32 MiB is 413, one of 32 MiB is not (decision 5)', async (t) => {
  const response = await post(`{"text":"${'a'.repeat(LIMITS.body.nativeSynthesis)}"}`).catch(
    (error: unknown) => error,
  );
  if (response instanceof Response) t.equal(response.status, 413);
  else t.match(String((response as Error).cause), /closed|ECONNRESET|EPIPE/, 'cut while it was sending');
  const head = '{"text":"a","ignored":"';
  const largest = await patiently(() => post(`${head.padEnd(LIMITS.body.nativeSynthesis - 2, 'a')}"}`));
  t.equal(largest.status, 200);
  await largest.arrayBuffer();
});
