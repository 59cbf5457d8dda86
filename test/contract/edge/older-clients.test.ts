/**
 * Legal requests that few clients make: HTTP/1.0, an upgrade to another protocol, an unknown expectation, half of a
 * handshake. Each is served, or refused with a message, on both adapters.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { readAll } from '../../../gateway/server/bodies/body.js';
import { accept, handshake, type Seen } from '../../fixtures/edge/sockets.js';
import { bodyOf, exchange, get, post, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';

/** Fails once its first part has been sent. */
async function* failing(): AsyncGenerator<string> {
  yield 'first ';
  await nextTurn();
  await nextTurn();
  throw new Error('it broke');
}

const seen: Seen = { sockets: [], messages: [], gone: [], closed: [] };
const served = [
  get('/whole', async () => ({ status: 200, body: 'whole' })),
  get('/failing', async () => ({ status: 200, body: failing() })),
  post('/echo', async (request) => ({ status: 200, body: await readAll(request, 1000) })),
];
const sockets = [{ path: '/socket', permission: 'open' as const, upgrade: async () => accept(seen) }];

/** The headers of Java's client and of `curl --http2` on a connection without TLS. */
const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n';
const LENGTH = 'Content-Length: 4\r\n\r\nDATA';
const CHUNKS = 'Transfer-Encoding: chunked\r\n\r\n2\r\nDA\r\n2\r\nTA\r\n0\r\n\r\n';

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const server = await startEdge(stack, served, { sockets });
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

    await t.test('a request that offers an upgrade to another protocol is served as usual', async (t) => {
      for (const body of [LENGTH, CHUNKS]) {
        const client = new RawClient(server.port).write(
          `POST /echo HTTP/1.1\r\nHost: a\r\n${UPGRADE}${body}`,
        );
        await client.sees('DATA');
        t.match(client.text, /^HTTP\/1\.1 200 /);
        client.leave();
      }
      const slow = new RawClient(server.port).write(
        `POST /echo HTTP/1.1\r\nHost: a\r\n${UPGRADE}Content-Length: 8\r\n\r\nfirst`,
      );
      await new Promise((resolve) => setTimeout(resolve, 50));
      slow.write('end');
      await slow.sees('firstend');
      // However often it is repeated, a connection accumulates nothing.
      const warnings: Error[] = [];
      const warned = (warning: Error): void => void warnings.push(warning);
      process.on('warning', warned);
      for (let time = 0; time < 30; time += 1) {
        slow.text = '';
        slow.write(`POST /echo HTTP/1.1\r\nHost: a\r\n${UPGRADE}${LENGTH}`);
        await slow.sees('DATA');
      }
      process.off('warning', warned);
      t.strictSame(warnings, []);
      slow.write(`GET /whole HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
      await slow.gone();
      t.match(slow.text, /200 [^]*whole$/, 'and its connection goes on');
    });

    await t.test('an unknown expectation is ignored, and its request served', async (t) => {
      const reply = await exchange(
        server.port,
        'GET /whole HTTP/1.1\r\nHost: a\r\nExpect: the-best\r\nConnection: close\r\n\r\n',
      );
      t.match(reply, /^HTTP\/1\.1 200 [^]*x-generation-id: gen-\d+\r\n[^]*whole$/i);
    });

    await t.test('a handshake without "Connection: Upgrade" is not left without an answer', async (t) => {
      for (const connection of ['close', 'keep-alive']) {
        const client = new RawClient(server.port);
        client.write(handshake('/socket').replace('Connection: Upgrade', `Connection: ${connection}`));
        await client.sees('\r\n\r\n');
        // The binding does not ask for it, but would close the socket of a connection that is to close.
        if (stack === 'node' || connection === 'close') {
          await client.sees('}');
          t.match(client.text, /^HTTP\/1\.1 400 [^]*needs the header \\"Connection: Upgrade\\"/, connection);
        } else t.match(client.text, /^HTTP\/1\.1 101 /, connection);
        client.leave();
      }
    });
  });
}
