/** One remote engine at several addresses (docs/engines.md "Speech on separate machines"). */
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ServicePool } from '../../../engines/backends/remote/service-pool.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { sharedGateway, startGateway, TEST_KEY } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';

type Answer = (response: ServerResponse) => void;

const says =
  (status: number, headers = {}): Answer =>
  (response) =>
    void response.writeHead(status, headers).end('audio');
const WELL = says(200);
const HELD: Answer = (response) => void response.writeHead(200).write('begin');
const BREAKS: Answer = (response) => void response.destroy();

const neverAborted = new AbortController().signal;

/** A node whose answers to work and at /health the test sets; it counts the work. */
async function node(t: Pick<Test, 'teardown'>, answer: Answer = WELL) {
  const state = { answer, health: WELL, asked: 0, looks: 0 };
  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const isHealth = request.url === '/health';
    state[isHealth ? 'looks' : 'asked'] += 1;
    response.setHeader('x-node', `http://${request.headers.host}`);
    request.resume().once('end', () => (isHealth ? state.health : state.answer)(response));
  };
  const server = httpDouble(serve).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const stop = (): void => {
    server.closeAllConnections();
    server.close();
  };
  t.teardown(stop);
  return Object.assign(state, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, stop });
}

/** An address on which nobody listens; the port of a server that was closed may be another test's next. */
const REFUSED = 'http://127.0.0.1:1';

function poolOf(...urls: readonly string[]) {
  const clock = new SimulatedClock();
  const pool = new ServicePool(urls, { key: 'key' }, clock);
  const ask = () => pool.ask({ path: '/v1/tts', body: 'x' }, neverAborted);
  const done = async (): Promise<void> =>
    void (await pool.whole({ path: '/', body: 'x' }, { most: 100, read: String }, neverAborted));
  return { clock, ask, done };
}

t.test('nodes: the least busy is asked, and a finished reply makes room', async (t) => {
  const [one, two] = [await node(t, HELD), await node(t, HELD)];
  const { ask } = poolOf(one.url, two.url);
  const asked = [await ask(), await ask(), await ask(), await ask()];
  t.same([one.asked, two.asked], [2, 2]);
  // Ends the replies of the second node.
  for (const { reply, over } of asked) if (reply.headers['x-node'] === two.url) over();
  await ask();
  await ask();
  t.same([one.asked, two.asked], [2, 4]);
});

t.test('nodes: what cannot be connected to costs no request, and is left out for a while', async (t) => {
  const well = await node(t);
  const { done } = poolOf(REFUSED, well.url);
  for (let round = 0; round < 5; round++) await done();
  t.equal(well.asked, 5);
  const { done: alone } = poolOf(REFUSED, REFUSED);
  await rejectsExactly(t, alone(), { code: 'provider_failed', status: 502 });
});

t.test('nodes: a request that was sent is never sent to another', async (t) => {
  const [broken, well] = [await node(t, BREAKS), await node(t)];
  const { done } = poolOf(broken.url, well.url);
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 502 });
  t.same([broken.asked, well.asked], [1, 0]);
  await done();
  t.same([broken.asked, well.asked], [1, 1], 'the next one goes where it is well');
});

t.test('nodes: one that fails comes back after 1 s, then 2 s, 30 s at most (limits.md)', async (t) => {
  const [broken, well] = [await node(t, says(503)), await node(t)];
  const { clock, done } = poolOf(broken.url, well.url);
  let waited = 0;
  for (const ms of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
    await rejectsExactly(t, done(), { code: 'provider_failed', status: 503 });
    const before = broken.asked;
    clock.advance(ms - 1);
    await done();
    t.equal(broken.asked, before, `left out for ${ms} ms`);
    clock.advance(1);
    waited += ms;
  }
  broken.answer = WELL;
  await done();
  t.equal(clock.monotonic(), waited);
  broken.answer = says(503);
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 503 });
  clock.advance(LIMITS.remote.ejection.initialMs);
  await rejectsExactly(
    t,
    done(),
    { code: 'provider_failed', status: 503 },
    'a success makes the wait short again',
  );
});

t.test('nodes: Retry-After is waited for; what refuses a request as such stays', async (t) => {
  const [busy, well] = [await node(t, says(429, { 'retry-after': '7' })), await node(t)];
  const { clock, done } = poolOf(busy.url, well.url);
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 429, retryAfter: 7 });
  clock.advance(6999);
  await done();
  t.equal(busy.asked, 1);
  clock.advance(1);
  busy.answer = says(400);
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 400 });
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 400 });
  t.equal(busy.asked, 3);
});

t.test('nodes: one that says at /health that it is not ready gets no work until it is', async (t) => {
  const [drains, well] = [await node(t), await node(t)];
  drains.health = says(503);
  const { clock, done } = poolOf(drains.url, well.url);
  await until('it was looked at', async () => {
    const asked = drains.asked;
    await done();
    return drains.looks > 0 && drains.asked === asked;
  });
  const before = drains.asked;
  for (let round = 0; round < 5; round++) await done();
  t.equal(drains.asked, before);
  drains.health = says(404);
  await until('it gets work again', async () => {
    clock.advance(LIMITS.remote.healthEveryMs);
    const asked = drains.asked;
    await done();
    return drains.asked > asked;
  });
});

t.test('nodes: one that is too busy is asked before one that is not ready', async (t) => {
  const [drains, busy] = [await node(t), await node(t, says(429, { 'retry-after': '9' }))];
  drains.health = says(503);
  const { done } = poolOf(drains.url, busy.url);
  await until('both are left out', async () => {
    await done().catch(() => undefined);
    return busy.asked > 1;
  });
  const before = drains.asked;
  await rejectsExactly(t, done(), { code: 'provider_failed', status: 429 });
  t.equal(drains.asked, before);
});

t.test('nodes: of those that are all left out, the one whose time comes first is asked', async (t) => {
  const [one, two] = [
    await node(t, says(429, { 'retry-after': '9' })),
    await node(t, says(429, { 'retry-after': '3' })),
  ];
  const { done } = poolOf(one.url, two.url);
  await rejectsExactly(t, done(), { code: 'provider_failed', retryAfter: 9 });
  await rejectsExactly(t, done(), { code: 'provider_failed', retryAfter: 3 });
  await rejectsExactly(t, done(), { code: 'provider_failed', retryAfter: 3 });
  t.same([one.asked, two.asked], [1, 2]);
});

t.test('a gateway whose speech is on two others serves on when one of them is killed', async (t) => {
  const [stays, dies] = [await sharedGateway(t, 'tones'), await startGateway()];
  t.teardown(() => dies.stop());
  const front = await startGateway({
    REMOTE_NATIVE_URL: `${stays.base},${dies.base}`,
    REMOTE_NATIVE_KEY: TEST_KEY,
    TTS_ENGINES: 'native-compatible',
    STT_ENGINES: 'native-compatible',
  });
  t.teardown(() => front.stop());
  const speak = async () => {
    const response = await fetch(`${front.base}/v1/tts`, {
      method: 'POST',
      headers: { ...front.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'Tones carry text.', format: 'wav' }),
    });
    return { status: response.status, bytes: (await response.arrayBuffer()).byteLength };
  };
  const whole = await speak();
  t.equal(whole.status, 200);
  t.same(await Promise.all([speak(), speak(), speak()]), [whole, whole, whole]);
  dies.kill('SIGKILL');
  await dies.exited;
  for (let round = 0; round < 6; round++) t.same(await speak(), whole);
});
