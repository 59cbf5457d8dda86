/** Requests and replies on both adapters: routing, framing, CORS. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { ask, headOf, watched } from '../../fixtures/edge/requests.js';
import {
  bodyOf,
  dialect,
  exchange,
  get,
  json,
  post,
  eachStack,
  startEdge,
} from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';

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

/** Each part comes in a turn of its own. */
async function* slowly(...parts: readonly string[]): AsyncGenerator<string> {
  for (const part of parts) {
    yield part;
    await pause(20);
  }
}

async function* failing(part: string): AsyncGenerator<string> {
  yield part;
  throw new Error('broken');
}

const onEach = eachStack(t);

onEach('routing does not decode the path', async (t, stack) => {
  const echo = async ({ params, query, path }: { params: object; query: URLSearchParams; path: string }) =>
    json(200, { params, path, query: [...query] });
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
  exactly(t, await of('/a/echo/x%2Fy%20?q=%2F&q=b+c'), {
    params: { x: 'x/y ' },
    path: '/a/echo/x%2Fy%20',
    query: [
      ['q', '/'],
      ['q', 'b c'],
    ],
  });
  exactly(t, await of('/a/tts//stream', 'POST'), { params: { voice: '' }, path: '/a/tts//stream' });
  exactly(t, await of('/a/tts/', 'POST'), { params: { voice: '' } });
  exactly(t, await of('/a/tts/v', 'POST'), { params: { voice: 'v' } });
  exactly(t, await of('/a/../a/echo/x'), { a: 'not_found' }, 'dots are a segment like any other');
  await shapes(t, server.base);
});

onEach(
  'replies are framed by the edge, whatever a handler says; HEAD and 204 have no body',
  async (t, stack) => {
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
      get('/slow', async () => ({ status: 200, body: slowly('abc', 'abc') })),
      get('/long', async () => ({ status: 200, body: watched(5, 'abc'.repeat(1000)).stream() })),
      get('/events', async () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: watched(1, 'data: 1\n\n').stream(),
      })),
      get('/fails', async () => ({ status: 200, body: failing('abc') })),
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
    const atOnce = await exchange(server.port, ask('/stream'));
    t.match(atOnce, /content-length: 9\r\n/i, 'framing is the edge’s own');
    t.notMatch(atOnce, /transfer-encoding/i);
    for (const path of ['/slow', '/long', '/events']) {
      const streamed = await exchange(server.port, ask(path));
      t.match(streamed, /transfer-encoding: chunked/i, path);
      t.notMatch(streamed, /content-length/i, path);
    }
    t.equal(await (await fetch(`${server.base}/slow`)).text(), 'abcabc');
    t.equal(await (await fetch(`${server.base}/long`)).text(), 'abc'.repeat(5000));
    t.match(await exchange(server.port, ask('/fails')), /^HTTP\/1\.1 500 /, 'nothing was sent yet');
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
  },
);

onEach('cross-origin: every preflight is answered, and pages can read errors as well', async (t, stack) => {
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
