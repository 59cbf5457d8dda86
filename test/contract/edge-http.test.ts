/** Requests and replies on both adapters: routing, errors, streams, time limits, CORS, load, drain, TLS, proxies. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { formatEvent, SSE_HEADERS } from '../../gateway/server/sse.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
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

t.setTimeout(180_000);

const [MAJOR = 0, MINOR = 0] = process.versions.node.split('.').map(Number);
const NODE_SHARES_PORTS = MAJOR > 22 || (MAJOR === 22 && MINOR >= 12);

const CHUNK = 'c'.repeat(64 * 1024);
const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url));
const TLS = { certFile: fixture('edge-cert.pem'), keyFile: fixture('edge-key.pem') };

const ask = (path: string, lines = '', method = 'GET'): string =>
  `${method} ${path} HTTP/1.1\r\nHost: own.example\r\nConnection: close\r\n${lines}\r\n`;

/** A reply that has no body; the native stack takes its time to end the connection after one. */
async function headOf(port: number, request: string): Promise<string> {
  const client = new RawClient(port).write(request);
  await client.sees('\r\n\r\n');
  client.leave();
  return client.text;
}

/** A stream whose progress a test can see, and hold. */
function watched(chunks: number, chunk = CHUNK) {
  const state = { pulled: 0, left: 0 };
  async function* stream(): AsyncGenerator<string> {
    try {
      for (; state.pulled < chunks;) {
        state.pulled += 1;
        yield chunk;
      }
    } finally {
      state.left += 1;
    }
  }
  return { state, stream };
}

const never = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

/** Resolves when `read` has given the same twice, some polls apart. */
async function settled(what: string, read: () => number): Promise<number> {
  let before = -1;
  let polls = 0;
  await until(what, () => {
    const now = read();
    polls = now === before ? polls + 1 : 0;
    before = now;
    return polls > 5 && now > 0;
  });
  return before;
}

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
    await t.test('routing keeps the path as it came', async (t) => {
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

    await t.test('replies', async (t) => {
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
      const headers = await exchange(server.port, ask('/header', 'X-A: 1\r\nx-b: x\xc3\xa9x\r\nX-A: 2\r\n'));
      t.same(JSON.parse(Buffer.from(bodyOf(headers), 'latin1').toString()), [
        ['x-a', '1, 2'],
        ['x-b', 'xéx'],
      ]);

      const head = await headOf(server.port, ask('/json', '', 'HEAD'));
      t.match(head, /^HTTP\/1\.1 200 [^]*content-length: 10\r\n/i);
      t.equal(bodyOf(head), '');
      t.equal(bodyOf(await headOf(server.port, ask('/stream', '', 'HEAD'))), '');
      t.match(await headOf(server.port, ask('/lost', '', 'HEAD')), /^HTTP\/1\.1 404 /);
    });

    await t.test('errors before the first byte are told, later ones destroy the connection', async (t) => {
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
      t.equal(server.lines.length, 0, 'what clients do wrong is not logged');
      for (const path of ['/bug', '/thrown']) {
        const response = await fetch(server.base + path);
        t.equal(response.status, 500);
        t.same(await response.json(), { main: 'internal', message: 'Internal error' });
        const line = server.lines.at(-1);
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

    await t.test('time limits, by the clock', async (t) => {
      const clock = new SimulatedClock();
      let reason: unknown;
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
          get('/events', async ({ signal }) => ({
            status: 200,
            headers: SSE_HEADERS,
            body: (async function* () {
              yield formatEvent({ data: 'first' });
              await never(signal);
            })(),
          })),
          get('/stalled', async () => ({ status: 200, body: stream.stream() })),
        ],
        { clock },
      );
      t.teardown(() => server.close());
      for (const path of ['/silent', '/mute', '/deaf']) {
        const client = new RawClient(server.port).write(ask(path));
        await until('it is under way', async () =>
          /in_flight 1/.test(await server.metrics.registry.metrics()),
        );
        clock.advance(LIMITS.http.firstByteMs - 1);
        t.equal(client.text, '');
        clock.advance(1);
        await client.gone();
        t.match(client.text, /^HTTP\/1\.1 502 [^]*"first_byte_timeout"/, path);
      }
      t.match(reason, { code: 'first_byte_timeout' });

      const events = new RawClient(server.port).write(ask('/events'));
      await events.sees('data: first\n\n');
      clock.advance(LIMITS.http.connectionMs - 1);
      events.write('');
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
    });

    await t.test('cross-origin requests', async (t) => {
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
      t.match(refused, /^HTTP\/1\.1 404 [^]*access-control-allow-origin: \*/i, 'errors can be read as well');
    });

    await t.test(
      'under load new requests are shed in the shape of their API, health and metrics are not (fine point 18)',
      async (t) => {
        const load = { delay: 0, saturated: false };
        const clock = new SimulatedClock();
        const answer = async () => json(200, {});
        const server = await startEdge(stack, [], {
          clock,
          dialects: [
            dialect('main', ['/'], [get('/x', answer)]),
            dialect('other', ['/other'], [get('/other/x', answer)]),
          ],
          load: {
            thresholds: { loopDelayMs: 100, retryAfterSeconds: 7 },
            saturated: () => load.saturated,
            loopDelay: { sample: () => load.delay, stop: () => undefined },
          },
        });
        t.teardown(() => server.close());
        const status = async (path: string) =>
          /^HTTP\/1\.1 (\d+)/.exec(await exchange(server.port, ask(path)))?.[1];
        t.equal(await status('/x'), '200');
        load.delay = 101;
        clock.advance(500);
        const shed = await exchange(server.port, ask('/x'));
        t.match(shed, /^HTTP\/1\.1 503 [^]*retry-after: 7\r\n[^]*"main":"overloaded"/i);
        t.match(await exchange(server.port, ask('/other/x')), /^HTTP\/1\.1 503 [^]*"other":"overloaded"/i);
        t.equal(await status('/health'), '200');
        t.equal(await status('/metrics'), '200');
        load.delay = 0;
        clock.advance(500);
        t.equal(await status('/x'), '200');
        load.saturated = true;
        t.equal(await status('/x'), '503');
      },
    );

    await t.test('health, metrics and the interface description', async (t) => {
      const server = await startEdge(stack, [
        {
          ...post('/x/{id}', async () => json(200, {})),
          description: { summary: 'X', responses: { 200: { description: 'ok' } } },
        },
      ]);
      t.teardown(() => server.close());
      const fetched = async (path: string) => {
        const response = await fetch(server.base + path);
        return { status: response.status, body: await response.text() };
      };
      server.health.set('database', false);
      t.same(JSON.parse((await fetched('/health')).body), {
        status: 'starting',
        ready: false,
        live: true,
        checks: { database: false },
      });
      t.equal((await fetched('/health')).status, 503);
      t.equal((await fetched('/health/live')).status, 200);
      server.health.set('database', true);
      t.match(await fetched('/health'), { status: 200, body: '"status":"ok","ready":true' });
      t.equal((await fetched('/health/ready')).status, 200);
      await fetch(`${server.base}/x/1`, { method: 'POST', body: 'abcde' }).then((response) =>
        response.text(),
      );
      server.metrics.gauge('of_another_room', 'Test', () => [{ labels: { role: 'a' }, value: 3 }], ['role']);
      const metrics = (await fetched('/metrics')).body;
      t.match(metrics, 'gateway_requests_total{route="/x/{id}",method="POST",status="200"} 1');
      t.match(metrics, 'gateway_bytes_total{direction="in"} 5');
      t.match(metrics, 'gateway_of_another_room{role="a"} 3');
      for (const name of [
        'first_byte_seconds',
        'request_seconds',
        'open_sockets',
        'egress_queue_bytes',
        'requests_in_flight',
        'loop_delay_ms',
        'shed_requests_total',
      ]) {
        t.match(metrics, `gateway_${name}`);
      }
      const document = JSON.parse((await fetched('/openapi.json')).body) as object;
      t.match(document, {
        openapi: '3.1.0',
        info: { version: '1' },
        servers: [{ url: server.base }],
        paths: { '/x/{id}': { post: {} } },
      });
    });

    await t.test('a drain lets streams finish and takes nothing new', async (t) => {
      let finish: () => void = () => undefined;
      const server = await startEdge(stack, [
        get('/stream', async () => ({
          status: 200,
          body: (async function* () {
            yield 'begin';
            await new Promise<void>((resolve) => (finish = resolve));
            yield 'end';
          })(),
        })),
        get('/x', async () => json(200, {})),
      ]);
      t.teardown(() => server.close());
      const kept = new RawClient(server.port).write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
      await kept.sees('{}');
      const streaming = new RawClient(server.port).write(ask('/stream'));
      await streaming.sees('begin');
      // Half a request keeps this connection from being idle when the drain begins.
      kept.text = '';
      kept.write('GET /x HTTP/1.1\r\nHost:');
      const half = new RawClient(server.port);
      await until('connected', () => half.socket.readyState === 'open');
      let drained = false;
      const drain = server.drain().then(() => (drained = true));
      await until('no more connections are taken', async () => {
        const late = new RawClient(server.port);
        await until('it is decided', () => late.closed || late.socket.readyState === 'open');
        const refused = late.closed;
        late.leave();
        return refused;
      });
      kept.write(' a\r\n\r\n');
      await until('it is answered or closed', () => kept.text !== '' || kept.closed);
      if (kept.text !== '') t.match(kept.text, /^HTTP\/1\.1 503 [^]*connection: close[^]*"draining"/i);
      else t.equal(stack, 'node', 'node ends what it takes for idle');
      t.equal(drained, false);
      finish();
      await streaming.gone();
      t.match(streaming.text, /end\r\n0\r\n\r\n$/);
      await drain;
      t.equal(server.health.report().status, 'draining');
      half.leave();
      kept.leave();
    });

    await t.test('a drain ends what does not end by itself', async (t) => {
      const clock = new SimulatedClock();
      const server = await startEdge(stack, [get('/silent', ({ signal }) => never(signal))], { clock });
      t.teardown(() => server.close());
      const client = new RawClient(server.port).write(ask('/silent'));
      await until('it is under way', async () => /in_flight 1/.test(await server.metrics.registry.metrics()));
      const drain = server.drain();
      clock.advance(LIMITS.http.drainMs);
      await until('it waits once more for close frames', () => clock.pending > 0);
      await new Promise((resolve) => setImmediate(resolve));
      clock.advance(2000);
      await drain;
      await client.gone();
      t.equal(client.text, '');
    });

    await t.test('TLS by certificate files', async (t) => {
      const secure = await startEdge(stack, [get('/x', async ({ baseUrl }) => json(200, { baseUrl }))], {
        tls: TLS,
      });
      t.teardown(() => secure.close());
      const text = await new Promise<string>((resolve, reject) => {
        getHttps(`${secure.base}/x`, { rejectUnauthorized: false, agent: false }, (response) => {
          let body = '';
          response.on('data', (chunk: Buffer) => (body += chunk.toString())).on('end', () => resolve(body));
        }).on('error', reject);
      });
      t.same(JSON.parse(text), { baseUrl: secure.base });
      const old = connectTls({
        port: secure.port,
        host: '127.0.0.1',
        rejectUnauthorized: false,
        maxVersion: 'TLSv1.1',
        minVersion: 'TLSv1',
      });
      await t.rejects(new Promise((resolve, reject) => old.on('secureConnect', resolve).on('error', reject)));
      const files = { certFile: TLS.certFile, keyFile: '/nowhere/key.pem' };
      await t.rejects(startEdge(stack, [], { tls: files }), /\/nowhere\/key\.pem/);
      await t.rejects(
        startEdge(stack, [], { tls: { certFile: TLS.keyFile, keyFile: TLS.keyFile } }),
        /not a certificate/,
      );
    });

    for (const tls of [undefined, TLS]) {
      await t.test(`a slow reader gets every byte as it was, ${tls ? 'with' : 'without'} TLS`, async (t) => {
        const [chunks, size] = [300, 50_000];
        const numbered = (index: number): Buffer => Buffer.alloc(size, `${index},`);
        const state = { pulled: 0 };
        const server = await startEdge(
          stack,
          [
            get('/x', async () => ({
              status: 200,
              body: (async function* () {
                for (; state.pulled < chunks; state.pulled += 1) {
                  yield numbered(state.pulled);
                  await nextTurn();
                }
              })(),
            })),
          ],
          tls ? { tls } : {},
        );
        t.teardown(() => server.close());
        const [sent, received] = [createHash('sha256'), createHash('sha256')];
        for (let index = 0; index < chunks; index += 1) sent.update(numbered(index));
        const request = (tls ? getHttps : getHttp)(`${server.base}/x`, {
          rejectUnauthorized: false,
          agent: false,
        });
        const [response] = (await once(request, 'response')) as [IncomingMessage];
        await settled('the stream stands still', () => state.pulled);
        for await (const chunk of response) received.update(chunk as Buffer);
        t.equal(received.digest('hex'), sent.digest('hex'));
      });
    }

    await t.test('addresses behind trusted proxies (fine point 7)', async (t) => {
      const route = get('/who', async ({ clientAddress, baseUrl }) => json(200, { clientAddress, baseUrl }));
      const forwarded =
        'X-Forwarded-For: 9.9.9.9, 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: pub.example\r\n';
      const cases = [
        {
          trustedProxies: ['127.0.0.0/8'],
          expected: { clientAddress: '1.2.3.4', baseUrl: 'https://pub.example' },
        },
        { trustedProxies: [], expected: { clientAddress: '127.0.0.1', baseUrl: 'http://own.example' } },
        {
          trustedProxies: ['127.0.0.1'],
          publicUrl: 'https://fixed.example',
          expected: { clientAddress: '1.2.3.4', baseUrl: 'https://fixed.example' },
        },
      ];
      for (const { expected, ...options } of cases) {
        const server = await startEdge(stack, [route], options);
        t.same(JSON.parse(bodyOf(await exchange(server.port, ask('/who', forwarded)))), expected);
        await server.close();
      }
    });

    await t.test('a taken port is refused by name', async (t) => {
      const first = await startEdge(stack, []);
      t.teardown(() => first.close());
      await t.rejects(startEdge(stack, [], { port: first.port }), new RegExp(`Port ${first.port} is taken`));
      await t.rejects(
        startEdge(stack, [], { host: '192.0.2.1' }),
        /192\.0\.2\.1 is not an address of this machine/,
      );
    });

    await t.test('several gateways share a port, where the stack can', async (t) => {
      if (stack === 'node' && !NODE_SHARES_PORTS) {
        await t.rejects(startEdge(stack, [], { exclusive: false }), /WORKERS=1/);
        return;
      }
      // uWebSockets.js shares only a port that it is given, not one that the kernel chose.
      const first = await startEdge(stack, [], { exclusive: false, port: await freePort() });
      t.teardown(() => first.close());
      const second = await startEdge(stack, [], { exclusive: false, port: first.port });
      t.teardown(() => second.close());
      t.equal(second.port, first.port);
      await t.rejects(
        startEdge(stack, [], { port: first.port }),
        /is taken/,
        'but not with an exclusive one',
      );
    });
  });
}

void t.test('a stack that does not load is replaced, with a loud line', async (t) => {
  const available = stacks(() => undefined);
  const server = await startEdge('uws', []);
  t.teardown(() => server.close());
  t.equal(server.stack, available[0]);
  const warnings = server.lines.filter(
    ({ level, message }) => level === 'warn' && message.includes('HTTP_STACK=uws'),
  );
  t.equal(warnings.length, available.includes('uws') ? 0 : 1);
});

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}
