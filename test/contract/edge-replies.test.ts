/** Requests and replies on both adapters: routing, errors, streams and their readers, time limits, CORS. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { formatEvent, SSE_HEADERS } from '../../gateway/server/sse.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { ask, CHUNK, headOf, never, settled, watched } from '../fixtures/edge-requests.js';
import {
  bodyOf,
  dialect,
  exchange,
  get,
  json,
  post,
  RawClient,
  stacks,
  startEdge,
} from '../fixtures/edge.js';
import { until } from '../fixtures/until.js';

/** Checks answers to unknown paths and methods, which have the shape of the dialect. */
async function shapes(t: Test, base: string): Promise<void> {
  const about = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(base + path, init);
    const text = await response.text();
    return { status: response.status, text, headers: response.headers };
  };
  const missing = await about('/a/none');
  t.equal(missing.status, 404);
  t.match(missing.text, '{"a":"not_found"');
  t.match(missing.headers.get('x-generation-id'), /^gen-\d+$/);
  t.match((await about('/b/none')).text, '{"b":"not_found"');
  t.match((await about('/elsewhere')).text, '{"status":404,"message":"Not found"}');
  const wrong = await about('/a/echo/1', { method: 'DELETE' });
  t.equal(wrong.status, 405);
  t.equal(wrong.headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.match(wrong.text, '{"a":"method_not_allowed"');
  t.ok(wrong.headers.has('x-generation-id'));
  const options = await about('/a/echo/1', { method: 'OPTIONS' });
  t.equal(options.status, 204);
  t.equal(options.headers.get('allow'), 'GET, HEAD, OPTIONS');
  t.match((await about('/a/echo/%zz')).text, '{"a":"invalid_request"');
}

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    await t.test('routing does not decode the path', async (t) => {
      const echo = async ({
        params,
        query,
        path,
      }: {
        params: object;
        query: URLSearchParams;
        path: string;
      }) => json(200, { params, path, query: [...query] });
      const server = await startEdge(stack, [], {
        dialects: [
          dialect(
            'a',
            ['/a'],
            [get('/a/echo/{x}', echo), post('/a/tts/{voice?}/stream', echo), post('/a/tts/{voice?}', echo)],
          ),
          dialect('b', ['/b'], []),
        ],
      });
      t.teardown(() => server.close());
      const of = async (path: string, method = 'GET'): Promise<unknown> =>
        JSON.parse(
          bodyOf(
            await exchange(server.port, ask(path, method === 'POST' ? 'Content-Length: 0\r\n' : '', method)),
          ),
        );
      t.match(await of('/a/echo/x%2Fy%20?q=%2F&q=b+c'), {
        params: { x: 'x/y ' },
        path: '/a/echo/x%2Fy%20',
        query: [
          ['q', '/'],
          ['q', 'b c'],
        ],
      });
      t.match(await of('/a/tts//stream', 'POST'), { params: { voice: '' }, path: '/a/tts//stream' });
      t.match(await of('/a/tts/', 'POST'), { params: { voice: '' } });
      t.match(await of('/a/tts/v', 'POST'), { params: { voice: 'v' } });
      t.match(await of('/a/../a/echo/x'), { a: 'not_found' }, 'dots are a segment like any other');
      await shapes(t, server.base);
    });

    await t.test(
      'replies are framed by the edge, whatever a handler says; HEAD and 204 have no body',
      async (t) => {
        const large = 'é'.repeat(3_000_000);
        const server = await startEdge(stack, [
          get('/json', async () => json(200, { a: 'é' })),
          get('/bytes', async () => ({ status: 201, body: Uint8Array.of(1, 2, 255) })),
          get('/large', async () => ({ status: 200, body: large })),
          get('/none', async () => ({ status: 204 })),
          get('/stream', async () => ({
            status: 200,
            headers: { 'Content-Length': '7', Connection: 'x' },
            body: watched(3, 'abc').stream(),
          })),
          get('/empty', async () => ({ status: 200, body: watched(0).stream() })),
          get('/blank', async () => ({ status: 200, body: watched(2, '').stream() })),
          get('/split', async () => ({ status: 200, headers: { 'x-a': 'b\r\nset-cookie: c' } })),
          get('/header', async ({ headers }) =>
            json(
              200,
              [...headers].filter(([name]) => name.startsWith('x-')),
            ),
          ),
        ]);
        t.teardown(() => server.close());
        const raw = await exchange(server.port, ask('/json'));
        t.match(raw, /^HTTP\/1\.1 200 OK\r\n/);
        t.match(raw, /\r\ncontent-length: 10\r\n/i);
        t.match(raw, /\r\nx-generation-id: gen-\d+\r\n/i);
        t.notMatch(raw, /access-control|uwebsockets/i);
        t.equal(bodyOf(raw), '{"a":"\xc3\xa9"}');
        t.equal(bodyOf(await exchange(server.port, ask('/bytes'))), '\x01\x02\xff');
        t.equal(await (await fetch(`${server.base}/large`)).text(), large);
        t.notMatch(await headOf(server.port, ask('/none')), /content-length|transfer-encoding/i);
        const streamed = await exchange(server.port, ask('/stream'));
        t.match(streamed, /transfer-encoding: chunked/i);
        t.notMatch(streamed, /content-length/i, 'framing is the edge’s own');
        t.equal(await (await fetch(`${server.base}/stream`)).text(), 'abcabcabc');
        t.equal(await (await fetch(`${server.base}/empty`)).text(), '');
        t.equal(await (await fetch(`${server.base}/blank`)).text(), '');
        const split = await exchange(server.port, ask('/split'));
        t.match(split, /^HTTP\/1\.1 500 /);
        t.notMatch(split, /set-cookie/i, 'a header cannot split a reply');
        const headers = await exchange(
          server.port,
          ask('/header', 'X-A: 1\r\nx-b: x\xc3\xa9x\r\nX-A: 2\r\n'),
        );
        t.same(JSON.parse(Buffer.from(bodyOf(headers), 'latin1').toString()), [
          ['x-a', '1, 2'],
          ['x-b', 'xéx'],
        ]);

        const head = await headOf(server.port, ask('/json', '', 'HEAD'));
        t.match(head, /^HTTP\/1\.1 200 [^]*content-length: 10\r\n/i);
        t.equal(bodyOf(head), '');
        t.equal(bodyOf(await headOf(server.port, ask('/stream', '', 'HEAD'))), '');
        t.match(await headOf(server.port, ask('/lost', '', 'HEAD')), /^HTTP\/1\.1 404 /);
      },
    );

    await t.test(
      'errors before the first byte are answered, later ones destroy the connection',
      async (t) => {
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
          t.match(await response.json(), { main: 'concurrency_exceeded' });
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
      },
    );

    await t.test('a slow reader stalls its own stream only, and gets all of it', async (t) => {
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

    await t.test('a stream that is answered once its client has left is abandoned', async (t) => {
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

    await t.test('a client that leaves mid-stream ends the work', async (t) => {
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

    await t.test(
      'time limits: no first byte is 502, a stream has a cap, a reader that stays away is given up',
      async (t) => {
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
        t.match(reason, { code: 'first_byte_timeout' });

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

    await t.test(
      'cross-origin: every preflight is answered, and pages can read errors as well',
      async (t) => {
        const server = await startEdge(stack, [post('/x', async () => json(200, {}))]);
        t.teardown(() => server.close());
        const preflight =
          'Origin: https://page\r\nAccess-Control-Request-Method: POST\r\nAccess-Control-Request-Headers: content-type, x-sdk\r\n';
        for (const path of ['/x', '/unknown']) {
          const reply = await headOf(server.port, ask(path, preflight, 'OPTIONS'));
          t.match(reply, /^HTTP\/1\.1 204 /);
          t.match(reply, /access-control-allow-origin: \*\r\n/i);
          t.match(reply, /access-control-allow-headers: content-type, x-sdk\r\n/i);
          t.match(reply, /access-control-allow-methods: [^\r]*POST/i);
          t.match(reply, /access-control-max-age: \d+/i);
        }
        const actual = await exchange(
          server.port,
          ask('/x', 'Origin: https://page\r\nContent-Length: 0\r\n', 'POST'),
        );
        t.match(actual, /access-control-expose-headers: [^\r]*X-Generation-Id/i);
        const refused = await exchange(server.port, ask('/none', 'Origin: https://page\r\n'));
        t.match(
          refused,
          /^HTTP\/1\.1 404 [^]*access-control-allow-origin: \*/i,
          'errors can be read as well',
        );
      },
    );
  });
}
