/**
 * A gateway whose language model and voice refuse its key: the log, `/health` and `/metrics` name the part, its address and the setting, and
 * say when it is over; readiness, and other clients' errors, are not touched. Two processes, so that what one of them knows is told by both.
 */
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { freePort } from '../../fixtures/free-port.js';
import { startGateway } from '../../fixtures/gateway.js';
import { remoteService } from '../../fixtures/engines/remote-service.js';
import { until } from '../../fixtures/until.js';

let modelStatus = 401;
const asked: string[] = [];
const server = httpDouble((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.writeHead(modelStatus, { 'content-type': 'application/json' }).end('{"data": []}');
}).listen(0, '127.0.0.1');
await once(server, 'listening');
t.teardown(() => {
  server.closeAllConnections();
  server.close();
});
const model = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const remote = await remoteService(t);
remote.answers((response) => void response.writeHead(403).end('{"message": "whose key is that"}'));

const gateway = await startGateway({
  WORKERS: '2',
  PORT: String(await freePort()),
  START_CHECKS: 'on',
  LLM_BASE_URL: `${model}/v1?api-version=secret-in-query`,
  LLM_API_KEY: 'sk-of-the-model',
  TTS_ENGINES: 'native-compatible,tone',
  REMOTE_NATIVE_URL: remote.url,
  REMOTE_NATIVE_KEY: 'sk-of-the-voice',
});
t.teardown(() => gateway.stop());

interface Entry {
  readonly part: string;
  readonly name: string;
  readonly status: string;
  readonly since: string;
  readonly last_error: string | null;
  readonly address?: string;
  readonly setting?: string;
  readonly message?: string;
}

const CLOSE = { connection: 'close' };
/** As somebody from elsewhere would ask, through a proxy that nobody trusts. */
const STRANGER = { ...CLOSE, 'x-forwarded-for': '203.0.113.7' };

async function health(headers: Record<string, string> = CLOSE) {
  const response = await fetch(`${gateway.base}/health`, { headers });
  return { code: response.status, ...((await response.json()) as { parts: readonly Entry[] }) };
}
const entry = async (part: string, headers?: Record<string, string>): Promise<Entry | undefined> =>
  (await health(headers)).parts.find((each) => each.part === part);

const linesWith = (text: string): readonly string[] =>
  gateway
    .stderr()
    .split('\n')
    .filter((line) => line.includes(text));
const scrape = async (): Promise<string> =>
  (await fetch(`${gateway.base}/metrics`, { headers: CLOSE })).text();

t.test('a wrong key of the model is known at the start, which does not wait for it', async (t) => {
  const sentence = `The language model (main) at ${model} refused the key (401): check LLM_API_KEY`;
  await until('it is logged', () => linesWith(sentence).length > 0);
  t.equal(linesWith(sentence).length, 1, 'once, not once for each process');
  exactly(t, JSON.parse(linesWith(sentence)[0]!), {
    ...{ level: 50, part: 'model', name: 'main', address: model, setting: 'LLM_API_KEY' },
    ...{ outcome: 'refused_key', status: 401, check: true },
  });
  t.equal(asked[0], 'GET /v1/models?api-version=secret-in-query');
  // A process that does not answer the other one in time is left out.
  const said = await until('every process says so', async () => {
    const seen = await Promise.all(Array.from({ length: 8 }, () => entry('model')));
    return seen.every((each) => each?.status === 'failing') ? seen[0] : undefined;
  });
  const { code, ...report } = await health();
  t.equal(code, 200, 'it ends no readiness');
  exactly(t, report, { status: 'ok', ready: true, checks: { database: true } });
  exactly(t, said, {
    ...{ name: 'main', status: 'failing', last_error: 'refused_key', since: /^\d{4}-\d\d-\d\dT/ },
    ...{ address: model, setting: 'LLM_API_KEY', message: sentence },
  });
  t.match(await scrape(), /gateway_part_failing\{part="model",name="main"\} 1\n/);
});

t.test('strangers learn what fails, and no address or setting', async (t) => {
  t.strictSame(Object.keys((await entry('model', STRANGER)) ?? {}), [
    ...['part', 'name', 'status', 'since', 'last_error', 'last_error_at'],
  ]);
  const { parts } = await health(STRANGER);
  t.strictSame(parts.map(({ part, name }) => `${part} ${name}`).sort(), [
    ...['child encode', 'child media', 'database postgres', 'model main', 'recogniser tone'],
    ...['voice native-compatible', 'voice tone'],
  ]);
  t.notMatch(JSON.stringify(parts), /127\.0\.0\.1|LLM_|REMOTE_|sk-/);
});

t.test('a voice that refuses the key is 502 for clients, and named for the operator', async (t) => {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...gateway.authorization, ...CLOSE },
    body: JSON.stringify({ text: 'Hello.', format: 'pcm' }),
  });
  t.equal(response.status, 502);
  t.same(await response.json(), {
    status: 502,
    message: 'The speech provider does not accept this gateway',
  });
  const sentence = `The voice service (native-compatible) at ${remote.url} refused the key (403): check REMOTE_NATIVE_KEY`;
  await until('it is logged', () => linesWith(sentence).length > 0);
  await until('it is in /health', async () => (await entry('voice'))?.message === sentence);
  t.match(
    await scrape(),
    /gateway_part_requests_total\{part="voice",name="native-compatible",outcome="refused_key"\} [1-9]/,
  );
});

t.test('a model that was mended is back without a call, and that is said once', async (t) => {
  modelStatus = 200;
  const sentence = `The language model (main) at ${model} is back after `;
  await until('it is logged', () => linesWith(sentence).length > 0);
  await until('every process says so', async () => {
    const seen = await Promise.all(Array.from({ length: 8 }, () => entry('model')));
    return seen.every((each) => each?.status === 'ok' && each.last_error === 'refused_key');
  });
  t.match(await scrape(), /gateway_part_failing\{part="model",name="main"\} 0\n/);
  t.equal(linesWith(sentence).length, 1);
});

t.test('no line and no entry holds a key or a query', async (t) => {
  t.notMatch(gateway.stderr() + JSON.stringify(await health()), /sk-of-the|secret-in-query/);
});
