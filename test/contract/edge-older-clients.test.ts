/** Requests of HTTP/1.0, which the adapter over node:http serves (docs/http-stacks.md). */
import t from 'tap';
import { bodyOf, exchange, get, RawClient, stacks, startEdge } from '../fixtures/edge.js';

async function* failing(): AsyncGenerator<string> {
  yield 'first ';
  throw new Error('it broke');
}

const served = [
  get('/whole', async () => ({ status: 200, body: 'whole' })),
  get('/failing', async () => ({ status: 200, body: failing() })),
];

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const server = await startEdge(stack, served);
    t.teardown(() => server.close());

    if (stack === 'node')
      await t.test('HTTP/1.0: the connection ends with the reply, unasked', async (t) => {
        for (const more of ['', 'Connection: keep-alive\r\n']) {
          const reply = await exchange(server.port, `GET /whole HTTP/1.0\r\nHost: a\r\n${more}\r\n`);
          t.match(reply, /^HTTP\/1\.1 200 /);
          t.match(reply, /^connection: close\r$/im);
          t.equal(bodyOf(reply), 'whole');
        }
      });

    if (stack === 'node')
      await t.test('HTTP/1.0: a stream that breaks off resets the connection', async (t) => {
        const client = new RawClient(server.port);
        let code: string | undefined;
        client.socket.on('error', (error: NodeJS.ErrnoException) => (code = error.code));
        client.write('GET /failing HTTP/1.0\r\nHost: a\r\n\r\n');
        await client.gone();
        t.equal(code, 'ECONNRESET', 'an orderly end would be that of the whole reply');
      });
  });
}
