/** Request smuggling: a request that two parsers could read differently closes the connection, and no handler runs. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { until } from '../../fixtures/until.js';
import { exchange, get, json, post, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';

const head = (lines: string, body = ''): string => `POST /victim HTTP/1.1\r\n${lines}\r\n${body}`;
const hosted = (lines: string, body = ''): string => head(`Host: a\r\n${lines}`, body);
const chunked = (line: string): string => hosted(`${line}\r\n`, '3\r\nabc\r\n0\r\n\r\n');
const target = (path: string, version = 'HTTP/1.1'): string => `GET ${path} ${version}\r\nHost: a\r\n\r\n`;

const HOSTILE: Readonly<Record<string, string>> = {
  'an empty Content-Length': hosted('Content-Length: \r\n', 'abc'),
  'two Content-Lengths that differ': hosted('Content-Length: 3\r\nContent-Length: 4\r\n', 'abcd'),
  'two Content-Lengths that agree': hosted('Content-Length: 3\r\nContent-Length: 3\r\n', 'abc'),
  'a Content-Length with a plus': hosted('Content-Length: +3\r\n', 'abc'),
  'a negative Content-Length': hosted('Content-Length: -3\r\n', 'abc'),
  'a list in Content-Length': hosted('Content-Length: 3, 3\r\n', 'abc'),
  'a hexadecimal Content-Length': hosted('Content-Length: 0x3\r\n', 'abc'),
  'a decimal point in Content-Length': hosted('Content-Length: 3.0\r\n', 'abc'),
  'a space within Content-Length': hosted('Content-Length: 3 0\r\n', 'abc'),
  'a Content-Length beyond 64 bits': hosted('Content-Length: 99999999999999999999\r\n', 'abc'),
  'Content-Length and Transfer-Encoding': hosted(
    'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n',
    '0\r\n\r\n',
  ),
  'Transfer-Encoding and Content-Length': hosted(
    'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
    '0\r\n\r\n',
  ),
  'an unknown Transfer-Encoding': chunked('Transfer-Encoding: xchunked'),
  'Transfer-Encoding identity': chunked('Transfer-Encoding: identity'),
  'an empty Transfer-Encoding': chunked('Transfer-Encoding: '),
  'a list in Transfer-Encoding': chunked('Transfer-Encoding: gzip, chunked'),
  'a reversed list in Transfer-Encoding': chunked('Transfer-Encoding: chunked, gzip'),
  'two Transfer-Encodings': chunked('Transfer-Encoding: chunked\r\nTransfer-Encoding: identity'),
  'chunked in quotes': chunked('Transfer-Encoding: "chunked"'),
  'chunked with a parameter': chunked('Transfer-Encoding: chunked;a=b'),
  'a vertical tab before chunked': chunked('Transfer-Encoding: \x0bchunked'),
  'a space before the colon': hosted('Content-Length : 3\r\n', 'abc'),
  'a tab before the colon': chunked('Transfer-Encoding\t: chunked'),
  'a folded header': hosted('X-A: b\r\n Content-Length: 3\r\n', 'abc'),
  'a folded Transfer-Encoding': chunked('Transfer-Encoding:\r\n chunked'),
  'a leading space in the first header': 'POST /victim HTTP/1.1\r\n Host: a\r\nContent-Length: 3\r\n\r\nabc',
  'two Hosts': head('Host: a\r\nHost: b\r\n'),
  'no Host': head(''),
  'an empty Host': head('Host: \r\n'),
  'a list in Host': head('Host: a, b\r\n'),
  'a path in Host': head('Host: a/b@c\r\n'),
  'bare LF after the request line': 'GET /victim HTTP/1.1\nHost: a\r\n\r\n',
  'bare LF between headers': 'GET /victim HTTP/1.1\r\nHost: a\nX-A: b\r\n\r\n',
  'bare LF throughout': 'GET /victim HTTP/1.1\nHost: a\n\n',
  'bare CR in a value': hosted('X-A: b\rc\r\n'),
  'NUL in a value': hosted('X-A: b\0c\r\n'),
  'a control byte in a value': hosted('X-A: b\x01c\r\n'),
  'DEL in a value': hosted('X-A: b\x7fc\r\n'),
  'a header without a colon': hosted('nonsense\r\n'),
  'a name that is no token': hosted('X(A: b\r\n'),
  'NUL in the target': target('/victim\0x'),
  'a control byte in the target': target('/victim\x01x'),
  'a tab in the target': target('/victim\tx'),
  'a space in the target': target('/victim x'),
  'a byte above ASCII in the target': target('/victim\xe9'),
  'a fragment in the target': target('/victim#x'),
  'an absolute target': target('http://b/victim'),
  'a target without a slash': target('victim'),
  'an unknown version': target('/victim', 'HTTP/1.7'),
  'version 2 in words': target('/victim', 'HTTP/2.0'),
  'a space after the version': target('/victim', 'HTTP/1.1 '),
  'a lower-case method': 'get /victim HTTP/1.1\r\nHost: a\r\n\r\n',
  'a method that is no token': 'G(T /victim HTTP/1.1\r\nHost: a\r\n\r\n',
  'a handshake with a body': `GET /victim HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\nContent-Length: 3\r\n\r\nabc`,
};

const SMUGGLED = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
const refused = (reply: string): boolean => reply === '' || /^HTTP\/1\.1 (4\d\d|50[15]) /.test(reply);

async function* streamed(): AsyncGenerator<string> {
  yield 'first';
  await nextTurn();
  await nextTurn();
  yield 'second';
}

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const ran: string[] = [];
    let reading = 0;
    const note = async (path: string): Promise<ReturnType<typeof json>> => {
      ran.push(path);
      return json(200, { path });
    };
    const server = await startEdge(stack, [
      get('/victim', ({ path }) => note(path)),
      post('/victim', ({ path }) => note(path)),
      get('/smuggled', ({ path }) => note(path)),
      post('/read', async (request) => {
        reading += 1;
        for await (const chunk of request.body(1000)) void chunk;
        return json(200, {});
      }),
      post('/stream', async () => ({ status: 200, body: streamed() })),
      get('/headers', async ({ headers }) => json(200, { bytes: headers.get('x-big')?.length })),
    ]);
    t.teardown(() => server.close());

    await t.test('a request readable in two ways closes the connection and runs nothing', async (t) => {
      const clients = Object.entries(HOSTILE).map(([name, request]) => {
        return { name, client: new RawClient(server.port).write(request + SMUGGLED) };
      });
      await Promise.all(clients.map(({ client }) => client.gone()));
      for (const { name, client } of clients)
        t.ok(refused(client.text), `${name}: ${client.text.slice(0, 80)}`);
      t.strictSame(ran, []);
    });

    await t.test('a control shows that the same request without the flaw is served', async (t) => {
      const reply = await exchange(server.port, hosted('Content-Length: 3\r\nConnection: close\r\n', 'abc'));
      t.match(reply, /^HTTP\/1\.1 200 /);
      t.strictSame(ran.splice(0), ['/victim']);
    });

    const LAX = {
      'bare LF in chunks': '3\nabc\n0\n\n',
      'no line end after a chunk': '3\r\nabcXX0\r\n\r\n',
      'a chunk extension with bare LF': '3;a\nabc\r\n0\r\n\r\n',
      'a negative chunk size': '-3\r\nabc\r\n0\r\n\r\n',
      'a chunk size beyond 64 bits': 'FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n',
    };
    await t.test(
      'a request after a chunked body that a proxy may read differently is never served',
      async (t) => {
        const line = 'POST /read HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
        const together = Object.values(LAX).map((body) =>
          new RawClient(server.port).write(line + body + SMUGGLED),
        );
        const apart = Object.values(LAX).map(async (body) => {
          const client = new RawClient(server.port).write(line);
          await until('the handler reads', () => reading > 0);
          client.write(body);
          await until('it is answered or closed', () => client.text !== '' || client.closed);
          if (!client.closed) client.write(SMUGGLED);
          await client.gone();
        });
        await Promise.all([...apart, ...together.map((client) => client.gone())]);
        t.strictSame(ran, []);
      },
    );

    await t.test('a streamed reply to a chunked request is the last on its connection', async (t) => {
      const line = 'POST /stream HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
      const client = new RawClient(server.port).write(`${line}3\r\nabc\r\n0\r\n\r\n`);
      await until('all of it is there', () => client.text.endsWith('\r\n0\r\n\r\n'));
      t.match(client.text, /^Connection: close$/im);
      if (!client.closed) client.write(SMUGGLED);
      await client.gone();
      t.match(client.text, /second/);
      t.strictSame(ran, []);
    });

    await t.test('64 KiB of headers are taken (decision 2)', async (t) => {
      const big = 'v'.repeat(63 * 1024);
      const reply = await exchange(
        server.port,
        `GET /headers HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-Big: ${big}\r\n\r\n`,
      );
      t.match(reply, `{"bytes":${big.length}}`);
    });
  });
}
