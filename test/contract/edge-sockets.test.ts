/** WebSockets on both adapters: handshakes, frames, limits, back-pressure, ends. */
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { WebSocket } from 'ws';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { HttpRequest, Socket, SocketAccept, SocketRoute } from '../../gateway/server/port.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { get, json, RawClient, stacks, startEdge } from '../fixtures/edge.js';
import { accept, closeOf, handshake, type Seen } from '../fixtures/edge-sockets.js';
import { until } from '../fixtures/until.js';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../../test/fixtures/${name}`, import.meta.url));
const MiB = 1024 * 1024;

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const clock = new SimulatedClock();
    const seen: Seen = { sockets: [], messages: [], gone: [], closed: [] };
    let gate: (() => void) | undefined;
    let gated: HttpRequest | undefined;
    const route = (path: string, upgrade: (request: HttpRequest) => Promise<SocketAccept>): SocketRoute => ({
      path,
      upgrade,
    });
    const server = await startEdge(stack, [get('/both', async () => json(200, { plain: true }))], {
      clock,
      sockets: [
        route('/echo/{id?}', async () => accept(seen, {}, true)),
        route('/both', async () => accept(seen)),
        route('/silent', async () => accept(seen)),
        route('/forever', async () => accept(seen, { connectionMs: null })),
        route('/small', async () => accept(seen, { maxFrameBytes: 1000 })),
        route('/protocol', async () => accept(seen, { protocol: 'realtime' })),
        {
          path: '/refused',
          upgrade: async () => ({ refuse: { ...json(401, { no: 'key' }), headers: { 'x-why': 'key' } } }),
        },
        route('/thrown', () => Promise.reject(new ServiceError('quota_exceeded'))),
        route('/bug', async () => ({
          maxFrameBytes: 1,
          open: () => {
            throw new Error('bug');
          },
        })),
        route('/closing', async () => ({
          maxFrameBytes: 1,
          open(socket) {
            socket.close({ code: 4002, reason: 'not today' });
            return accept(seen).open(socket);
          },
        })),
        route('/gated', async (request) => {
          gated = request;
          await new Promise<void>((resolve) => (gate = resolve));
          return accept(seen);
        }),
      ],
    });
    t.teardown(() => server.close());
    t.beforeEach(() => {
      Object.assign(seen, { sockets: [], messages: [], gone: [], closed: [] });
      gate = undefined;
    });
    const url = (path: string): string => `ws://127.0.0.1:${server.port}${path}`;
    const connect = async (path: string, protocols: string[] = []): Promise<WebSocket> => {
      const client = new WebSocket(url(path), protocols, { perMessageDeflate: false });
      await once(client, 'open');
      return client;
    };
    const opened = async (path: string): Promise<{ client: WebSocket; socket: Socket }> => {
      const client = await connect(path);
      const socket = await until('the socket is open', () => seen.sockets.at(-1));
      return { client, socket };
    };

    await t.test('text and binary frames come back in order', async (t) => {
      const client = await connect('/echo/');
      const back: (string | Buffer)[] = [];
      client.on('message', (data: Buffer, isBinary) => back.push(isBinary ? data : data.toString()));
      const large = Buffer.alloc(5 * MiB, 7);
      client.send('héllo');
      client.send(Buffer.from([0, 255, 1]));
      client.send(large);
      client.send('');
      client.send('last');
      await until('all are back', () => back.at(-1) === 'last');
      t.same(back.slice(0, 2), ['héllo', Buffer.from([0, 255, 1])]);
      t.ok(large.equals(back[2] as Buffer));
      t.equal(back[3], '');
      client.close(1000, 'bye');
      t.same(await closeOf(client), { code: 1000, reason: 'bye' });
      await until('the server knows', () => seen.closed.length > 0);
      t.same(seen.closed, [1000]);
      t.same(seen.gone.length, 1);
    });

    await t.test('handshakes; the 101 has an X-Generation-Id too (decision 3)', async (t) => {
      const plain = new RawClient(server.port).write(handshake('/silent'));
      await plain.sees('\r\n\r\n');
      t.match(plain.text, /^HTTP\/1\.1 101 /);
      t.match(plain.text, /x-generation-id: gen-\d+\r\n/i);
      t.match(plain.text, /sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=\r\n/i);
      t.notMatch(plain.text, /sec-websocket-protocol/i);
      plain.leave();
      await until('the server knows', () => seen.closed.length === 1);

      const chosen = await connect('/protocol', ['other', 'realtime']);
      t.equal(chosen.protocol, 'realtime');
      chosen.terminate();
      for (const offered of ['', 'Sec-WebSocket-Protocol: other\r\n']) {
        const client = new RawClient(server.port).write(handshake('/protocol', offered));
        await client.sees('\r\n\r\n');
        t.match(client.text, /^HTTP\/1\.1 101 /);
        t.notMatch(client.text, /sec-websocket-protocol/i, 'never one that was not offered');
        client.leave();
      }
      const both = new RawClient(server.port).write(
        'GET /both HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      );
      await both.sees('{"plain":true}');
      const bare = new RawClient(server.port).write(
        'GET /silent HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      );
      await bare.sees('"invalid_request"');
      const other = new RawClient(server.port).write(
        'GET /both HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMA\r\n\r\n',
      );
      await other.sees('{"plain":true}');
      for (const client of [both, bare, other]) client.leave();
      await until('the server knows', () => seen.closed.length === 4);
    });

    await t.test('refused handshakes answer with the reply that refuses', async (t) => {
      const cases: readonly [string, RegExp][] = [
        [
          handshake('/refused'),
          /^HTTP\/1\.1 401 [^]*x-why: key[^]*x-generation-id: gen-[^]*\{"no":"key"\}$/i,
        ],
        [handshake('/thrown'), /^HTTP\/1\.1 402 [^]*x-generation-id: gen-[^]*"quota_exceeded"/i],
        [handshake('/unknown'), /^HTTP\/1\.1 404 [^]*x-generation-id: gen-[^]*"not_found"/i],
        [
          handshake('/silent').replace('Version: 13', 'Version: 8'),
          /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Version/,
        ],
        [handshake('/silent').replace('dGhl', ''), /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Key/],
        [
          handshake('/silent', 'Sec-WebSocket-Protocol: a b\r\n'),
          /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Protocol/,
        ],
      ];
      for (const [request, expected] of cases) {
        const client = new RawClient(server.port).write(request);
        await client.sees('}');
        t.match(client.text, expected);
        client.leave();
      }
      const client = new WebSocket(url('/refused'));
      const [error] = (await once(client, 'error')) as [Error];
      t.match(error.message, '401');
      t.equal(seen.sockets.length, 0);
    });

    await t.test('a client that leaves during the handshake opens nothing', async (t) => {
      const client = new RawClient(server.port).write(handshake('/gated'));
      await until('the handshake is being decided', () => gate);
      client.leave();
      await client.gone();
      gate?.();
      const other = await connect('/silent');
      await until('the other one is open', () => seen.sockets.length > 0);
      other.terminate();
      await until(
        'what was opened for nobody is closed as well',
        () => seen.closed.length === seen.sockets.length,
      );
      t.ok(seen.sockets.length <= 2);
    });

    await t.test('a client that ends its side during the handshake is known to have left', async (t) => {
      const client = new RawClient(server.port).write(handshake('/gated'));
      const decide = await until('the handshake is being decided', () => gate);
      client.socket.end();
      // A round trip on another connection, after which the end has arrived.
      await (await fetch(`http://127.0.0.1:${server.port}/both`)).text();
      decide();
      const isClosed = () => seen.sockets.length > 0 && seen.closed.length === seen.sockets.length;
      await until(
        'the route is told, by the signal or by the close event',
        () => gated?.isAborted === true || isClosed(),
      );
      t.pass();
      client.leave();
    });

    await t.test('a frame over the limit ends with 1009 (decision 5: 32 MiB)', async (t) => {
      const small = await opened('/small');
      small.client.send('x'.repeat(1000));
      small.client.send('x'.repeat(1001));
      small.client.send('after');
      t.match(await closeOf(small.client), { code: 1009 });
      t.equal(seen.messages.length, 1, 'neither it nor what follows is delivered');
      await until('the server knows', () => seen.closed.length === 1);
      t.same(seen.closed, [1009]);

      const large = await opened('/silent');
      large.client.send(Buffer.alloc(LIMITS.socket.frameBytes));
      await until('the largest frame arrives', () => seen.messages.length === 2);
      large.client.send(Buffer.alloc(LIMITS.socket.frameBytes + 1));
      t.match(await closeOf(large.client), { code: 1009 });
      await until('the server knows', () => seen.closed.length === 2);
    });

    await t.test('closing sends what is queued, once, and stops both directions', async (t) => {
      const { client, socket } = await opened('/silent');
      const back: string[] = [];
      client.on('message', (data: Buffer) => back.push(data.toString().slice(0, 5)));
      for (let index = 0; index < 40; index += 1) socket.send(String(index).padEnd(100_000));
      socket.close({ code: 4001, reason: 'é'.repeat(100) });
      socket.close('internal');
      socket.send('too late');
      t.strictSame(seen.gone, [socket]);
      const { code, reason } = await closeOf(client);
      t.equal(code, 4001);
      t.equal(reason, 'é'.repeat(61), 'cut to what a close frame holds');
      t.same(
        back,
        Array.from({ length: 40 }, (_, index) => String(index).padEnd(5)),
      );
      await until('the server knows', () => seen.closed.length === 1);
      t.same(seen.closed, [4001]);
      await socket.drained();
    });

    await t.test('a socket that is closed while it opens gets one gone event', async (t) => {
      const client = new WebSocket(url('/closing'));
      t.match(await closeOf(client), { code: 4002, reason: 'not today' });
      await until('the server knows', () => seen.closed.length === 1);
      t.same(seen.closed, [4002]);
      t.strictSame(seen.gone, seen.sockets);
    });

    await t.test('drained() waits for the client to read', async (t) => {
      const { client, socket } = await opened('/silent');
      client.pause();
      while (socket.queuedBytes < LIMITS.http.egressBytes) socket.send(Buffer.alloc(100_000));
      let drained = false;
      const waiting = socket.drained().then(() => (drained = true));
      await new Promise((resolve) => setTimeout(resolve, 50));
      t.equal(drained, false);
      client.resume();
      await waiting;
      t.ok(socket.queuedBytes <= LIMITS.http.egressBytes / 4);
      client.terminate();
      await until('the server knows', () => seen.closed.length === 1);
      await socket.drained();
    });

    await t.test('a client that reads late gets every frame as it was', async (t) => {
      const { client, socket } = await opened('/silent');
      const [count, size] = [150, 100_000];
      const numbered = (index: number): Buffer => Buffer.alloc(size, `${index},`);
      let next = 0;
      let intact = true;
      client.on('message', (data: Buffer) => {
        intact &&= data.equals(numbered(next));
        next += 1;
      });
      client.pause();
      const sending = (async () => {
        for (let index = 0; index < count; index += 1) {
          socket.send(numbered(index));
          if (socket.queuedBytes > MiB / 2) await socket.drained();
        }
        socket.close('normal');
      })();
      await until('the queue is full', () => socket.queuedBytes > MiB / 2);
      client.resume();
      await sending;
      t.match(await closeOf(client), { code: 1000 });
      t.equal(next, count);
      t.ok(intact);
      await until('the server knows', () => seen.closed.length === 1);
    });

    await t.test('a client that stays away with a full queue is cut', async (t) => {
      const { client, socket } = await opened('/silent');
      client.pause();
      for (let sent = 0; socket.queuedBytes <= LIMITS.http.egressBytes; sent += 1)
        socket.send(Buffer.alloc(100_000));
      clock.advance(14_999);
      t.notOk(seen.gone.includes(socket));
      clock.advance(1);
      t.strictSame(seen.gone, [socket]);
      t.ok(socket.queuedBytes < MiB, 'its queue is dropped');
      clock.advance(15_000);
      await until('it is closed', () => seen.closed.length === 1);
      t.same(seen.closed, [1008]);
      client.terminate();
    });

    await t.test('a slow client that reads is not cut', async (t) => {
      const { client, socket } = await opened('/silent');
      client.pause();
      while (socket.queuedBytes <= 4 * LIMITS.http.egressBytes) socket.send(Buffer.alloc(100_000));
      const before = socket.queuedBytes;
      client.resume();
      await until('it reads', () => socket.queuedBytes < before);
      clock.advance(15_000);
      t.notOk(seen.gone.includes(socket));
      client.terminate();
      await until('the server knows', () => seen.closed.length === 1);
    });

    await t.test('a dialect that throws costs its own socket', async (t) => {
      const client = new WebSocket(url('/bug'));
      t.match(await closeOf(client), { code: 1011 });
      t.match(server.lines.at(-1), { level: 'error', message: 'a socket failed' });
    });

    await t.test('a connection ends after 3600 s, unless it has no cap (decision 9)', async (t) => {
      const capped = await opened('/silent');
      const forever = await opened('/forever');
      const closed = closeOf(capped.client);
      clock.advance(LIMITS.socket.connectionMs - 1);
      t.notOk(seen.gone.includes(capped.socket));
      clock.advance(1);
      t.match(await closed, { code: 1001 });
      t.notOk(seen.gone.includes(forever.socket));
      forever.client.terminate();
      await until('the server knows', () => seen.closed.length === 2);
    });

    await t.test('a drain closes sockets with 1012', async (t) => {
      const draining = await startEdge(stack, [], {
        clock,
        sockets: [route('/ws', async () => accept(seen))],
      });
      t.teardown(() => draining.close());
      const client = new WebSocket(`ws://127.0.0.1:${draining.port}/ws`);
      await once(client, 'open');
      await until('it is open', () => seen.sockets.length === 1);
      const closed = closeOf(client);
      const drain = draining.drain();
      t.equal(seen.gone.length, 0, 'conversations may end by themselves first');
      clock.advance(LIMITS.http.drainMs);
      t.match(await closed, { code: 1012, reason: 'service restart' });
      await drain;
      t.same(seen.closed, [1012]);
    });

    await t.test('a drain waits for the sockets of calls, though these may be elsewhere', async (t) => {
      const ofCall = route('/call', async () => accept(seen, { connectionMs: null }));
      const draining = await startEdge(stack, [], {
        clock,
        sockets: [route('/ws', async () => accept(seen)), { ...ofCall, whileDraining: true }],
      });
      t.teardown(() => draining.close());
      const open = async (path: string): Promise<WebSocket> => {
        const client = new WebSocket(`ws://127.0.0.1:${draining.port}${path}`);
        await once(client, 'open');
        return client;
      };
      const [other, call] = [await open('/ws'), await open('/call')];
      await until('both are open', () => seen.sockets.length === 2);
      const closed = closeOf(other);
      const drain = draining.drain({ callsUntil: new Promise(() => undefined) });
      clock.advance(40 * LIMITS.http.drainMs);
      const back = await open('/call');
      await until('its client comes back', () => seen.sockets.length === 3);
      call.close();
      await until('the first one has gone', () => seen.closed.length === 1);
      t.equal(other.readyState, WebSocket.OPEN);
      back.close();
      t.match(await closed, { code: 1012 });
      await drain;
    });

    await t.test('wss', async (t) => {
      const tls = { certFile: fixture('edge-cert.pem'), keyFile: fixture('edge-key.pem') };
      const secure = await startEdge(stack, [], {
        tls,
        sockets: [route('/ws', async () => accept(seen, {}, true))],
      });
      t.teardown(() => secure.close());
      const client = new WebSocket(`wss://127.0.0.1:${secure.port}/ws`, { rejectUnauthorized: false });
      await once(client, 'open');
      client.send('over tls');
      const [data] = (await once(client, 'message')) as [Buffer];
      t.equal(data.toString(), 'over tls');
      client.close();
      await once(client, 'close');
    });
  });
}
