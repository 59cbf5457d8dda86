/** Fields that are ignored according to the contract are named in the log: once per request, and never with their values. */
import { encode } from '@msgpack/msgpack';
import t from 'tap';
import { startGateway } from '../fixtures/gateway.js';
import { LiveClient } from '../fixtures/live.js';
import { until } from '../fixtures/until.js';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

interface Line {
  readonly msg?: string;
  readonly route?: string;
  readonly generationId?: string;
  readonly fields?: readonly string[];
}

const lines = (): Line[] =>
  gateway
    .stderr()
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line) as Line);

/** The fields in each warning about the request, once the log has the request's own line. */
async function warnings(generationId: string | null): Promise<unknown[]> {
  const own = await until(`the line of ${generationId}`, () => {
    const found = lines().filter((line) => line.generationId === generationId);
    return found.some(({ route }) => route) ? found : undefined;
  });
  return own.flatMap(({ fields }) => (fields ? [fields] : []));
}

async function post(
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

const form = (audio: Buffer, fields: Record<string, string>): FormData => {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set(fields['model'] ? 'file' : 'audio', new Blob([new Uint8Array(audio)]), 'a.wav');
  return data;
};

const BODY = { text: 'Hello', format: 'wav', reference_id: null, formt: 'wombat', stabilty: 1, unsaid: null };

t.test('bodies of speech, as JSON and as MessagePack', async (t) => {
  for (const path of ['/v1/tts', '/v1/tts/stream/with-timestamp']) {
    const { warned } = await post(path, 'application/json', JSON.stringify(BODY));
    t.strictSame(warned, [['formt', 'stabilty']]);
    t.strictSame((await post(path, 'application/msgpack', encode(BODY))).warned, [['formt', 'stabilty']]);
    const known = JSON.stringify({ text: 'Hello', format: 'mp3', latency: 'low' });
    t.strictSame((await post(path, 'application/json', known)).warned, []);
  }
});

t.test('forms of transcription', async (t) => {
  const { bytes } = await post('/v1/tts', 'application/json', JSON.stringify({ text: 'Hi', format: 'wav' }));
  const plain = await post('/v1/asr', undefined, form(bytes, { language: 'en' }));
  t.strictSame(plain.warned, []);
  const odd = await post('/v1/asr', undefined, form(bytes, { languge: 'wombat' }));
  t.strictSame(odd.warned, [['languge']]);
  const packed = encode({ audio: new Uint8Array(bytes), speakers: 2 });
  t.strictSame((await post('/v1/asr', 'application/msgpack', packed)).warned, [['speakers']]);
  const path = '/compat/api/v1/audio/transcriptions';
  const model = 'whisper-1';
  t.strictSame((await post(path, undefined, form(bytes, { model, diarize: 'true' }))).warned, [['diarize']]);
  t.strictSame((await post(path, undefined, form(bytes, { model, diarize: 'false' }))).warned, []);
});

t.test('the start of a live synthesis', async (t) => {
  const client = new LiveClient(gateway, { model: 's1' });
  let generationId: string | null = null;
  client.socket.on('upgrade', (response) => (generationId = String(response.headers['x-generation-id'])));
  await client.opened();
  client.start({ formt: 'wombat' }).text('Hello').stop();
  await client.finished();
  client.stop();
  await client.closed();
  t.strictSame(await warnings(generationId), [['formt']]);
});

t.test('no value is in the log', async (t) => {
  t.notMatch(gateway.stderr(), 'wombat');
});
