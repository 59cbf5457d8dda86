/**
 * Valid heads that servers rarely see: header names beyond letters and dashes, a target in absolute form, rare
 * methods, HTTP/1.0, heads without end. Each gets an answer, by the stack's own parser or by the edge, which
 * docs/http-stacks.md lists as this table does.
 */
import t from '../../fixtures/tap.js';
import { bodyOf, get, json, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';

/** The status on node, and on uWebSockets.js. What comes in pieces is a list of them. */
type Row = readonly [request: string | readonly string[], node: number, uws: number];

const ask = (line: string, headers = ''): string =>
  `${line}\r\nHost: a\r\nConnection: close\r\n${headers}\r\n`;
const many = (count: number): string =>
  Array.from({ length: count }, (_, index) => `x-${index}: 1\r\n`).join('');

/** A head with so many bytes of a header, whose last kilobyte comes by itself. */
function inTwo(bytes: number): readonly string[] {
  const head = ask('GET /names HTTP/1.1', `x: ${'v'.repeat(bytes)}\r\n`);
  return [head.slice(0, -1024), head.slice(-1024)];
}

const ROWS: Readonly<Record<string, Row>> = {
  'an underscore in a header name': [ask('GET /names HTTP/1.1', 'foo_bar: 1\r\n'), 200, 200],
  'a dot in a header name': [ask('GET /names HTTP/1.1', 'x.y: 1\r\n'), 200, 200],
  'every mark that a header name may hold': [ask('GET /names HTTP/1.1', "!#$%&'*+.^_`|~: 1\r\n"), 200, 200],
  'a target in absolute form': [ask('GET http://a/names HTTP/1.1'), 200, 505],
  'one with capitals and a query': [ask('GET HTTP://A/names?x=1 HTTP/1.1'), 200, 505],
  'one without a path': [ask('GET http://a HTTP/1.1'), 200, 505],
  'one with another host': [ask('GET http://b/names HTTP/1.1'), 400, 505],
  'a method that no route has': [ask('PROPFIND /names HTTP/1.1'), 405, 405],
  'a method that nobody has': [ask('BREW /names HTTP/1.1'), 501, 405],
  'HTTP/1.0': [ask('GET /names HTTP/1.0'), 200, 505],
  'a stream in HTTP/1.0': [ask('GET /stream HTTP/1.0'), 200, 505],
  'HTTP/1.0 without a Host': ['GET /names HTTP/1.0\r\n\r\n', 400, 505],
  'HTTP/1.1 without a Host': ['GET /names HTTP/1.1\r\n\r\n', 400, 400],
  'HTTP/2.0': [ask('GET /names HTTP/2.0'), 505, 505],
  'another protocol': ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', 400, 505],
  '45 headers': [ask('GET /names HTTP/1.1', many(43)), 200, 200],
  '90 headers': [ask('GET /names HTTP/1.1', many(88)), 200, 200],
  '500 headers': [ask('GET /names HTTP/1.1', many(500)), 200, 431],
  '64 KiB of headers': [ask('GET /names HTTP/1.1', `x: ${'v'.repeat(63 * 1024)}\r\n`), 200, 200],
  '65 KiB of headers': [ask('GET /names HTTP/1.1', `x: ${'v'.repeat(65 * 1024)}\r\n`), 431, 431],
  '3 KiB of headers in two pieces': [inTwo(3 * 1024), 200, 200],
  '5 KiB of headers in two pieces': [inTwo(5 * 1024), 200, 200],
  '63 KiB of headers in two pieces': [inTwo(63 * 1024), 200, 200],
  '4 MB of headers': [ask('GET /names HTTP/1.1', `x: ${'v'.repeat(4_000_000)}\r\n`), 431, 431],
};

const statusOf = (reply: string): number => Number(/^HTTP\/1\.1 (\d{3}) /.exec(reply)?.[1] ?? 0);

/** Sends a request; a piece of it goes once the server has read the one before, since it has answered a later request. */
async function send(port: number, [first = '', ...more]: readonly string[]): Promise<RawClient> {
  const client = new RawClient(port).write(first);
  for (const piece of more) {
    await new RawClient(port).write(ask('GET /names HTTP/1.1')).gone();
    client.write(piece);
  }
  return client;
}

async function* streamed(): AsyncGenerator<string> {
  yield 'first ';
  yield 'second';
}

const served = [
  get('/names', async ({ headers, query }) => json(200, [...headers.keys(), ...query.keys()])),
  get('/stream', async () => ({ status: 200, body: streamed() })),
];

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const server = await startEdge(stack, served);
    t.teardown(() => server.close());
    const column = stack === 'node' ? 1 : 2;

    const replies = new Map<string, string>();
    const sent = Object.entries(ROWS).map(async ([name, [request]]) => {
      const client = await send(server.port, [request].flat());
      await client.gone();
      replies.set(name, client.text);
    });
    await Promise.all(sent);

    for (const [name, row] of Object.entries(ROWS)) {
      const reply = replies.get(name) ?? '';
      t.equal(statusOf(reply), row[column], `${name}: ${reply.slice(0, 60)}`);
      // Node's client would reuse a connection whose close is not announced.
      t.equal(reply.match(/^connection: close\r$/gim)?.length, 1, `${name} says that it closes`);
    }
    const names = (name: string): unknown => JSON.parse(bodyOf(replies.get(name) ?? ''));
    t.has(names('an underscore in a header name'), ['host', 'connection', 'foo_bar']);
    t.has(names('a dot in a header name'), ['host', 'connection', 'x.y']);
    if (stack === 'node') {
      t.has(names('one with capitals and a query'), ['host', 'connection', 'x']);
      t.equal(bodyOf(replies.get('a stream in HTTP/1.0') ?? ''), 'first second', 'in no chunks');
      const told = replies.get('a method that nobody has') ?? '';
      t.match(told, /^x-generation-id: gen-\d+$/im);
      t.same(JSON.parse(bodyOf(told)), { status: 501, message: 'This HTTP method is not known' });
      const metrics = await server.metrics.registry.metrics();
      t.match(metrics, /unreadable_requests_total\{status="501"\} 1\n/);
      t.match(metrics, /unreadable_requests_total\{status="431"\} [12]/);
    }
    t.match(replies.get('65 KiB of headers'), stack === 'node' ? /larger than 64 KiB/ : /431/);
  });
}
