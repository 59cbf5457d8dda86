/** Streamed replies on both adapters: errors, readers that are slow, stay away or leave, time limits. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { formatEvent, SSE_HEADERS } from '../../../gateway/server/sse.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { ask, CHUNK, never, settled, watched } from '../../fixtures/edge/requests.js';
import { exchange, get, json, RawClient, eachStack, startEdge } from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const onEach = eachStack(t);

onEach('errors before the first byte are answered, later ones destroy the connection', async (t, stack) => {
  const failing = (after: number, error: Error) =>
    async function* (): AsyncGenerator<string> {
      for (let sent = 0; sent < after; sent += 1) {
        yield 'some';
        await nextTurn();
      }
      throw error;
    };
  const busy = new ServiceError('concurrency_exceeded', { retryAfter: 1.2 });
  const bug = new Error('secret detail');
  const server = await startEdge(stack, [
    get('/busy', () => Promise.reject(busy)),
    get('/bug', () => Promise.reject(bug)),
    get('/key', () => Promise.reject(new ServiceError('missing_key'))),
    get('/storage', () => Promise.reject(new ServiceError('storage_unavailable'))),
    get('/provider', () => Promise.reject(new ServiceError('provider_failed', { status: 503 }))),
    get('/early', async () => ({ status: 200, body: failing(0, busy)() })),
    get('/late', async () => ({ status: 200, body: failing(2, bug)() })),
    get('/thrown', () => {
      throw bug;
    }),
  ]);
  t.teardown(() => server.close());
  for (const path of ['/busy', '/early']) {
    const response = await fetch(server.base + path);
    t.equal(response.status, 429);
    t.equal(response.headers.get('retry-after'), '2');
    exactly(t, await response.json(), { main: 'concurrency_exceeded' });
  }
  t.match((await fetch(`${server.base}/key`)).headers.get('www-authenticate'), 'Bearer');
  const lines = server.lines.map(({ level, details }) => [level, details['status']]);
  t.strictSame(
    lines,
    [429, 429, 401].map((status) => ['info', status]),
    'no more than a line about what clients do wrong',
  );
  for (const path of ['/storage', '/provider']) {
    const response = await fetch(server.base + path);
    t.equal(response.status, 503);
    t.equal(response.headers.get('retry-after'), '5', '503 carries Retry-After, whoever is away');
  }
  for (const path of ['/bug', '/thrown']) {
    const response = await fetch(server.base + path);
    t.equal(response.status, 500);
    t.same(await response.json(), { main: 'internal', message: 'Internal error' });
    const line = server.lines.findLast(({ level }) => level === 'error');
    t.equal(line?.level, 'error');
    t.equal(line?.details['err'], bug);
    t.equal(line?.details['generationId'], response.headers.get('x-generation-id'));
  }
  const late = await fetch(`${server.base}/late`);
  t.equal(late.status, 200);
  await t.rejects(late.text(), 'never a success');
  const raw = await exchange(server.port, ask('/late'));
  t.match(raw, 'some');
  t.notMatch(raw, /\r\n0\r\n/, 'no end of the body');
});

onEach('a slow reader stalls its own stream only, and gets all of it', async (t, stack) => {
  const chunks = 1600;
  const slow = watched(chunks);
  const server = await startEdge(stack, [
    get('/slow', async () => ({ status: 200, body: slow.stream() })),
    get('/fast', async () => ({ status: 200, body: watched(50).stream() })),
  ]);
  t.teardown(() => server.close());
  const client = new RawClient(server.port).write(ask('/slow'));
  client.socket.pause();
  const stalled = await settled('the stream stands still', () => slow.state.pulled);
  t.ok(stalled < chunks / 2, `${stalled} chunks pulled`);
  t.equal((await (await fetch(`${server.base}/fast`)).text()).length, 50 * CHUNK.length);
  t.equal(slow.state.pulled, stalled, 'nothing more was pulled');
  let bytes = 0;
  let tail = '';
  client.socket.removeAllListeners('data');
  client.socket.on('data', (text: string) => {
    bytes += text.length;
    tail = (tail + text).slice(-20);
  });
  client.socket.resume();
  await client.gone();
  t.ok(bytes > chunks * CHUNK.length, 'all of it came');
  t.match(tail, /\r\n0\r\n\r\n$/, 'and its end');
  t.same(slow.state, { pulled: chunks, left: 1 });
});

onEach('a stream that is answered once its client has left is abandoned', async (t, stack) => {
  let pulled = 0;
  let left = 0;
  const body: AsyncIterableIterator<Uint8Array> = {
    [Symbol.asyncIterator]: () => body,
    next: () => Promise.resolve({ done: false, value: new Uint8Array([(pulled += 1)]) }),
    return: () => Promise.resolve({ done: true, value: (left += 1) }),
  };
  const server = await startEdge(stack, [
    get('/late', async ({ signal }) => {
      await never(signal).catch(() => undefined);
      return { status: 200, body };
    }),
  ]);
  t.teardown(() => server.close());
  const client = new RawClient(server.port).write(ask('/late'));
  await until('it is under way', async () => /in_flight 1/.test(await server.metrics.registry.metrics()));
  client.leave();
  await until('its stream is left', () => left === 1);
  t.equal(pulled, 0);
  t.same(server.lines, []);
});

onEach('a client that leaves mid-stream ends the work', async (t, stack) => {
  const stream = watched(1_000_000);
  let aborted = 0;
  const server = await startEdge(stack, [
    get('/stream', async ({ signal }) => {
      signal.addEventListener('abort', () => (aborted += 1));
      return { status: 200, body: stream.stream() };
    }),
    get('/silent', async ({ signal }) => {
      signal.addEventListener('abort', () => (aborted += 1));
      return never(signal);
    }),
  ]);
  t.teardown(() => server.close());
  const client = new RawClient(server.port).write(ask('/stream'));
  await client.sees('ccc');
  client.leave();
  await until('the generator is left', () => stream.state.left === 1);
  t.equal(aborted, 1);
  const stalled = new RawClient(server.port).write(ask('/stream'));
  stalled.socket.pause();
  await settled('the stream stands still', () => stream.state.pulled);
  stalled.leave();
  await until('a client that was not reading is missed as well', () => stream.state.left === 2);
  const waiting = new RawClient(server.port).write(ask('/silent'));
  await until('it is under way', async () => /in_flight 1/.test(await server.metrics.registry.metrics()));
  waiting.leave();
  await until('a waiting handler is told', () => aborted === 3);
  t.same(server.lines, []);
});

onEach(
  'time limits: no first byte is 502, a stream has a cap, a reader that stays away is given up',
  async (t, stack) => {
    const clock = new SimulatedClock();
    let reason: unknown;
    let goOn = (): void => undefined;
    const stream = watched(1_000_000);
    const server = await startEdge(
      stack,
      [
        get('/silent', async ({ signal }) => {
          signal.addEventListener('abort', () => (reason = signal.reason));
          return never(signal);
        }),
        get('/mute', async ({ signal }) => ({
          status: 200,
          body: (async function* () {
            await never(signal);
            yield 'x';
          })(),
        })),
        get('/deaf', () => new Promise(() => undefined)),
        get('/quick', async () => json(200, {})),
        get('/events', async ({ signal }) => ({
          status: 200,
          headers: SSE_HEADERS,
          body: (async function* () {
            yield formatEvent({ data: 'first' });
            await new Promise<void>((resolve) => (goOn = resolve));
            yield formatEvent({ data: 'second' });
            await never(signal);
          })(),
        })),
        get('/stalled', async () => ({ status: 200, body: stream.stream() })),
      ],
      { clock },
    );
    t.teardown(() => server.close());
    const underWay = (count: number) =>
      until(`${count} under way`, async () =>
        (await server.metrics.registry.metrics()).includes(`requests_in_flight ${count}\n`),
      );
    for (const path of ['/silent', '/mute', '/deaf']) {
      await underWay(0);
      const client = new RawClient(server.port).write(ask(path));
      await underWay(1);
      clock.advance(LIMITS.http.firstByteMs - 1);
      await exchange(server.port, ask('/quick'));
      t.equal(client.text, '', `${path}: not a byte while another request came and went`);
      clock.advance(1);
      await client.gone();
      t.match(client.text, /^HTTP\/1\.1 502 [^]*"first_byte_timeout"/, path);
    }
    exactly(t, reason, { code: 'first_byte_timeout' });

    const events = new RawClient(server.port).write(ask('/events'));
    await events.sees('data: first\n\n');
    clock.advance(LIMITS.http.connectionMs - 1);
    goOn();
    await events.sees('data: second\n\n');
    t.equal(events.closed, false);
    clock.advance(1);
    await events.gone();
    t.notMatch(events.text, /\r\n0\r\n/);

    const stalled = new RawClient(server.port).write(ask('/stalled'));
    stalled.socket.pause();
    await settled('the stream stands still', () => stream.state.pulled);
    clock.advance(300_000);
    await until('a reader that stays away is given up', () => stream.state.left === 1);
    stalled.leave();
  },
);
