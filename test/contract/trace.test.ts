/** Trace context on the four inference endpoints of a whole gateway (spec.txt "Trace context"). */
import { encode } from '@msgpack/msgpack';
import t from 'tap';
import { startGateway, TEST_KEY } from '../fixtures/gateway.js';
import { LiveClient } from '../fixtures/live.js';
import { until } from '../fixtures/until.js';

t.setTimeout(120_000);

const gateway = await startGateway();
t.teardown(() => gateway.stop());

const SECRET_TEXT = 'wombat';

interface Line {
  readonly route?: string;
  readonly traceId?: string;
  readonly generationId?: string;
  readonly status?: number;
  readonly outcome?: string;
  readonly model?: string;
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
  body: string | Uint8Array<ArrayBuffer>,
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
    t.match(continued, { route, traceId, outcome: 'done', status: route.endsWith('live') ? 101 : 200 });
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

t.test('a refused request has its line too', async (t) => {
  const line = await lineOf(await post('/v1/tts', '{}', json));
  t.match(line, { route: '/v1/tts', status: 400 });
});

t.test('no line holds text or keys', async (t) => {
  t.ok(lines().length > 15);
  t.notMatch(gateway.stderr(), new RegExp(`${SECRET_TEXT}|${TEST_KEY}`));
});
