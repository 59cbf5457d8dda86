/**
 * The log of a whole gateway: trace context on the four inference endpoints (docs/contract/native.md 6), the line of each request to
 * any of the speech APIs, and the warnings about fields that are ignored.
 */
import { encode } from '@msgpack/msgpack';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { LiveClient } from '../../fixtures/native/live.js';
import { ENDLESS } from '../../fixtures/protocol-a/rest.js';
import { SpeechSocketClient } from '../../fixtures/protocol-b/speech-socket.js';
import { until } from '../../fixtures/until.js';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const SECRET_TEXT = 'wombat';

interface Line {
  readonly method?: string;
  readonly path?: string;
  readonly code?: string;
  readonly workspaceId?: string;
  readonly keyId?: string;
  readonly route?: string;
  readonly traceId?: string;
  readonly generationId?: string;
  readonly status?: number;
  readonly outcome?: string;
  readonly model?: string;
  readonly engine?: string;
  readonly fields?: readonly string[];
}

const lines = (): Line[] =>
  gateway
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

const lineOf = (generationId: string | null): Promise<Line> =>
  until(`the line of ${generationId}`, () =>
    lines().find((line) => line.route && line.generationId === generationId),
  );

const post = async (
  path: string,
  body: string | FormData | Uint8Array<ArrayBuffer>,
  headers: Record<string, string>,
) => {
  const response = await fetch(gateway.base + path, {
    method: 'POST',
    body,
    headers: { ...gateway.authorization, ...headers },
  });
  await response.arrayBuffer();
  return response.headers.get('x-generation-id');
};

const speech = JSON.stringify({ text: SECRET_TEXT, format: 'wav' });
const json = { 'content-type': 'application/json', model: 's1' };
const audio = new Uint8Array(
  await (
    await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      body: speech,
      headers: { ...gateway.authorization, ...json },
    })
  ).arrayBuffer(),
);

async function live(traceparent: string): Promise<string | null> {
  const client = new LiveClient(gateway, { traceparent, model: 's1' });
  let generationId: string | null = null;
  client.socket.on('upgrade', (response) => (generationId = String(response.headers['x-generation-id'])));
  await client.opened();
  client.start().text(SECRET_TEXT).stop();
  await client.finished();
  client.stop();
  await client.closed();
  return generationId;
}

const ENDPOINTS: Readonly<Record<string, (traceparent: string) => Promise<string | null>>> = {
  '/v1/tts': (traceparent) => post('/v1/tts', speech, { ...json, traceparent }),
  '/v1/tts/stream/with-timestamp': (traceparent) =>
    post('/v1/tts/stream/with-timestamp', speech, { ...json, traceparent }),
  '/v1/asr': (traceparent) =>
    post('/v1/asr', encode({ audio }), { 'content-type': 'application/msgpack', traceparent }),
  '/v1/tts/live': live,
};

for (const [route, call] of Object.entries(ENDPOINTS)) {
  t.test(`${route} continues a valid trace and starts a new one on an invalid one`, async (t) => {
    const traceId = 'abcdef0123456789abcdef0123456789';
    const continued = await lineOf(await call(`00-${traceId}-0123456789abcdef-01`));
    exactly(t, continued, { route, traceId, outcome: 'done', status: route.endsWith('live') ? 101 : 200 });
    t.equal(continued.model, route === '/v1/asr' ? 'transcribe-1' : 's1');
    for (const invalid of [
      `00-${'0'.repeat(32)}-0123456789abcdef-01`,
      'x',
      `00-${traceId}-0123456789abcdef-01-x`,
    ]) {
      const line = await lineOf(await call(invalid));
      t.match(line.traceId, /^[\da-f]{32}$/);
      t.not(line.traceId, traceId);
      t.equal(line.outcome, 'done', 'the reply is the same');
    }
  });
}

const B = '/compat/elevenlabs/v1';
const CONTENT = { 'content-type': 'application/json' };

function upload(fields: Readonly<Record<string, string>>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([audio]));
  return form;
}

async function streamInput(traceparent: string): Promise<string | null> {
  const client = new SpeechSocketClient(gateway, { headers: { 'xi-api-key': TEST_KEY, traceparent } });
  await client.opened();
  client.send({ text: ' ' }, { text: `${SECRET_TEXT} ` }, { text: '' });
  await client.final();
  await client.ended();
  return String(client.headers['x-generation-id']);
}

/** Commits bytes that are no raw audio but long enough, and leaves after the answer. */
async function realtimeTranscription(traceparent: string): Promise<string | null> {
  let answered = false;
  let generationId = '';
  const socket = new WebSocket(`${gateway.base.replace('http', 'ws')}${B}/speech-to-text/realtime`, {
    headers: { 'xi-api-key': TEST_KEY, traceparent },
  });
  socket.on('upgrade', ({ headers }) => (generationId = String(headers['x-generation-id'])));
  socket.on('message', (data) => (answered ||= String(data).includes('committed_transcript')));
  await until('the socket is open', () => socket.readyState === WebSocket.OPEN);
  const audio_base_64 = Buffer.from(audio).toString('base64');
  socket.send(JSON.stringify({ message_type: 'input_audio_chunk', audio_base_64, commit: true }));
  await until('the transcript', () => answered);
  socket.close();
  return generationId;
}

const chat = {
  model: 's1',
  modalities: ['text', 'audio'],
  messages: [{ role: 'user', content: SECRET_TEXT }],
  stream: true,
};

/** Routes of the compatible APIs, and a request to each. */
const COMPATIBLE: Readonly<Record<string, (traceparent: string) => Promise<string | null>>> = {
  '/compat/v1/audio/speech': (traceparent) =>
    post('/compat/v1/audio/speech', JSON.stringify({ model: 's1', input: SECRET_TEXT }), {
      ...CONTENT,
      traceparent,
    }),
  '/compat/v1/audio/transcriptions': (traceparent) =>
    post('/compat/v1/audio/transcriptions', upload({ model: 'transcribe-1' }), { traceparent }),
  '/compat/api/v1/chat/completions': (traceparent) =>
    post('/compat/api/v1/chat/completions', JSON.stringify(chat), { ...CONTENT, traceparent }),
  [`${B}/text-to-speech/{voice_id?}`]: (traceparent) =>
    post(`${B}/text-to-speech/default`, JSON.stringify({ text: SECRET_TEXT, model_id: 's1' }), {
      ...CONTENT,
      traceparent,
    }),
  [`${B}/text-to-speech/{voice_id?}/stream/with-timestamps`]: (traceparent) =>
    post(`${B}/text-to-speech/default/stream/with-timestamps`, JSON.stringify({ text: SECRET_TEXT }), {
      ...CONTENT,
      traceparent,
    }),
  [`${B}/speech-to-text`]: (traceparent) =>
    post(`${B}/speech-to-text`, upload({ model_id: 'transcribe-1' }), { traceparent }),
  [`${B}/text-to-speech/{voice_id?}/stream-input`]: streamInput,
  [`${B}/speech-to-text/realtime`]: realtimeTranscription,
};

for (const [route, call] of Object.entries(COMPATIBLE)) {
  t.test(`${route} has the same line: trace, status, model and engine`, async (t) => {
    const traceId = '123456789abcdef0123456789abcdef0';
    const line = await lineOf(await call(`00-${traceId}-0123456789abcdef-01`));
    const isSocket = /realtime|stream-input/.test(route);
    exactly(t, line, { route, traceId, outcome: 'done', status: isSocket ? 101 : 200, engine: 'tone' });
    t.match(line.model, /transcri|speech-to-text/.test(route) ? 'transcribe-1' : /^s\d/);
  });
}

t.test('a refused request has its line too', async (t) => {
  for (const route of ['/v1/tts', '/compat/v1/audio/speech', '/compat/v1/realtime/client_secrets']) {
    const line = await lineOf(await post(route, '[]', json));
    exactly(t, line, { route, status: 400, outcome: 'done' });
  }
  const denied = await fetch(`${gateway.base}${B}/models`);
  await denied.body?.cancel();
  const line = await lineOf(denied.headers.get('x-generation-id'));
  exactly(t, line, { route: `${B}/models`, status: 401, outcome: 'done' });
});

t.test('a stream that its reader leaves was left', async (t) => {
  const response = await fetch(`${gateway.base}/compat/v1/audio/speech`, {
    method: 'POST',
    body: JSON.stringify({ model: 's1', input: ENDLESS }),
    headers: { ...gateway.authorization, ...CONTENT },
  });
  const reader = response.body!.getReader();
  await reader.read();
  await reader.cancel();
  const line = await lineOf(response.headers.get('x-generation-id'));
  exactly(t, line, { status: 200, outcome: 'left', model: 's1', engine: 'tone' });
});

t.test('a socket that is opened only to say why it closes has the status of the refusal', async (t) => {
  for (const path of ['text-to-speech/default/stream-input', 'speech-to-text/realtime']) {
    const url = `${gateway.base.replace('http', 'ws')}${B}/${path}?model_id=unknown`;
    const socket = new WebSocket(url, { headers: { 'xi-api-key': TEST_KEY } });
    let generationId = '';
    socket.on('upgrade', ({ headers }) => (generationId = String(headers['x-generation-id'])));
    await until('the socket is closed', () => socket.readyState === WebSocket.CLOSED);
    exactly(t, await lineOf(generationId), { status: 400, outcome: 'done' });
  }
});

// Fields that are ignored according to the contract are named in the log: once per request, and never with their values.
/** The fields in each warning about the request, once the log has the request's own line. */
async function warnings(generationId: string | null): Promise<unknown[]> {
  await lineOf(generationId);
  return lines().flatMap((line) => (line.generationId === generationId && line.fields ? [line.fields] : []));
}

/** The bytes of an answer, and the warnings about its request. */
async function answered(
  path: string,
  type: string | undefined,
  body: string | FormData | Uint8Array<ArrayBuffer>,
) {
  const response = await fetch(gateway.base + path, {
    method: 'POST',
    headers: { ...gateway.authorization, ...(type === undefined ? {} : { 'content-type': type }) },
    body,
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  t.equal(response.status, 200, bytes.subarray(0, 200).toString());
  return { bytes, warned: await warnings(response.headers.get('x-generation-id')) };
}

const formOf = (audio: Buffer, fields: Record<string, string>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set(fields['model'] ? 'file' : 'audio', new Blob([new Uint8Array(audio)]), 'a.wav');
  return data;
};

const BODY = {
  text: 'Hello',
  format: 'wav',
  reference_id: null,
  formt: SECRET_TEXT,
  stabilty: 1,
  unsaid: null,
};

t.test('bodies of speech, as JSON and as MessagePack', async (t) => {
  for (const path of ['/v1/tts', '/v1/tts/stream/with-timestamp']) {
    const { warned } = await answered(path, 'application/json', JSON.stringify(BODY));
    t.strictSame(warned, [['formt', 'stabilty']]);
    t.strictSame((await answered(path, 'application/msgpack', encode(BODY))).warned, [['formt', 'stabilty']]);
    const known = JSON.stringify({ text: 'Hello', format: 'mp3', latency: 'low' });
    t.strictSame((await answered(path, 'application/json', known)).warned, []);
  }
});

t.test('forms of transcription', async (t) => {
  const { bytes } = await answered(
    '/v1/tts',
    'application/json',
    JSON.stringify({ text: 'Hi', format: 'wav' }),
  );
  const plain = await answered('/v1/asr', undefined, formOf(bytes, { language: 'en' }));
  t.strictSame(plain.warned, []);
  const odd = await answered('/v1/asr', undefined, formOf(bytes, { languge: SECRET_TEXT }));
  t.strictSame(odd.warned, [['languge']]);
  const packed = encode({ audio: new Uint8Array(bytes), speakers: 2 });
  t.strictSame((await answered('/v1/asr', 'application/msgpack', packed)).warned, [['speakers']]);
  const path = '/compat/api/v1/audio/transcriptions';
  const model = 'whisper-1';
  t.strictSame((await answered(path, undefined, formOf(bytes, { model, diarize: 'true' }))).warned, [
    ['diarize'],
  ]);
  t.strictSame((await answered(path, undefined, formOf(bytes, { model, diarize: 'false' }))).warned, []);
});

t.test('the start of a live synthesis', async (t) => {
  const client = new LiveClient(gateway, { model: 's1' });
  let generationId: string | null = null;
  client.socket.on('upgrade', (response) => (generationId = String(response.headers['x-generation-id'])));
  await client.opened();
  client.start({ formt: SECRET_TEXT }).text('Hello').stop();
  await client.finished();
  client.stop();
  await client.closed();
  t.strictSame(await warnings(generationId), [['formt']]);
});

t.test('requests to the agent platform and the voice library are in the log as well', async (t) => {
  const asked = [
    ['/v1/agent/agents', 200],
    ['/v1/agent/sessions/none', 404],
    ['/model?page_size=1', 200],
  ] as const;
  for (const [path, status] of asked) {
    const response = await fetch(gateway.base + path, { headers: gateway.authorization });
    await response.text();
    const line = await lineOf(response.headers.get('x-generation-id'));
    t.equal(line.status, status, path);
  }
});

t.test('a line has the method, and whose key it was', async (t) => {
  const { headers } = await fetch(`${gateway.base}/v1/agent/agents`, { headers: gateway.authorization });
  const line = await lineOf(headers.get('x-generation-id'));
  exactly(t, line, { method: 'GET', workspaceId: /^ws_/, keyId: /^key_/ });
  t.notOk('code' in line);
});

/** Requests that are refused, and what their lines say; `whose`: the key was looked at. */
const REFUSED: readonly {
  readonly name: string;
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
  readonly line: Line;
  readonly whose?: true;
}[] = [
  {
    name: 'a wrong base URL',
    path: '/api/v2/v1/tts?text=wombat',
    method: 'POST',
    body: '{}',
    line: { route: 'unmatched', path: '/api/v2/v1/tts', status: 404, code: 'not_found' },
  },
  {
    name: 'a wrong method',
    path: '/v1/tts',
    method: 'DELETE',
    line: { route: 'unmatched', path: '/v1/tts', status: 405, code: 'method_not_allowed' },
  },
  {
    name: 'a request to a socket',
    path: '/v1/tts/live',
    line: { route: 'unmatched', path: '/v1/tts/live', status: 400, code: 'invalid_request' },
  },
  {
    name: 'no key',
    path: '/v1/agent/agents',
    line: { route: '/v1/agent/agents', status: 401, code: 'missing_key' },
  },
  {
    name: 'a wrong key',
    path: '/v1/agent/agents',
    headers: { authorization: `Bearer ${SECRET_TEXT}` },
    line: { route: '/v1/agent/agents', status: 401, code: 'invalid_key' },
  },
  {
    name: 'a body that is none',
    path: '/v1/tts',
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: `{"${SECRET_TEXT}`,
    line: { route: '/v1/tts', status: 400, code: 'malformed_body' },
    whose: true,
  },
];

for (const { name, path, method = 'GET', line, whose = false, ...init } of REFUSED)
  t.test(`${name}: the line has the reason, and no more of the request`, async (t) => {
    const { headers } = await fetch(gateway.base + path, { method, ...init });
    const told = await lineOf(headers.get('x-generation-id'));
    exactly(t, told, { method, outcome: 'done', ...line });
    t.equal('keyId' in told, whose);
    if (!('path' in line)) t.notOk('path' in told, 'the route says it');
  });

t.test('handshakes that are refused have lines, too', async (t) => {
  const refused = async (path: string, headers: Record<string, string> = {}): Promise<Line> => {
    const socket = new WebSocket(gateway.base.replace('http', 'ws') + path, { headers });
    const [, response] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
    response.destroy();
    return lineOf(String(response.headers['x-generation-id']));
  };
  exactly(t, await refused('/v1/tts/live'), { route: '/v1/tts/live', status: 401, code: 'missing_key' });
  exactly(t, await refused('/v2/tts/live', gateway.authorization), {
    route: 'unmatched',
    path: '/v2/tts/live',
    status: 404,
  });
});

t.test('a socket whose key has to be looked up opens without a word of the HTTP stack (I14)', async (t) => {
  const made = await fetch(`${gateway.base}/compat/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: '{}',
  });
  const { value } = (await made.json()) as { value: string };
  const socket = new WebSocket(`${gateway.base.replace('http', 'ws')}/compat/v1/realtime`, {
    headers: { authorization: `Bearer ${value}` },
  });
  const [message] = (await once(socket, 'message')) as [Buffer];
  exactly(t, JSON.parse(message.toString()), { type: 'session.created' });
  socket.close();
  await once(socket, 'close');
});

t.test('the log is JSON lines and nothing else', async (t) => {
  const printed = gateway.stderr().split('\n').slice(0, -1);
  t.strictSame(
    printed.filter((line) => !/^\{"level":\d+,"time":\d+,.*\}$/.test(line)),
    [],
  );
});

t.test('no line holds text, values of fields or keys', async (t) => {
  t.ok(lines().length > 15);
  t.notMatch(gateway.stderr(), new RegExp(`${SECRET_TEXT}|${TEST_KEY}`));
});
