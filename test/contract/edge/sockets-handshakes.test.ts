/** Handshakes of WebSockets on both adapters: those that open a socket, are refused, or lose their client. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { RawClient } from '../../fixtures/edge/edge.js';
import { onAdapters } from '../../fixtures/edge/socket-server.js';
import { handshake } from '../../fixtures/edge/sockets.js';
import t from '../../fixtures/tap.js';
import { until } from '../../fixtures/until.js';

const onEach = await onAdapters(t);

onEach(
  'handshakes; the 101 has an X-Generation-Id too (decision 3)',
  async (t, { server, seen, connect }) => {
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
  },
);

onEach('refused handshakes answer with the reply that refuses', async (t, { server, seen, url }) => {
  const cases: readonly [string, RegExp][] = [
    [handshake('/refused'), /^HTTP\/1\.1 401 [^]*x-why: key[^]*x-generation-id: gen-[^]*\{"no":"key"\}$/i],
    [handshake('/thrown'), /^HTTP\/1\.1 402 [^]*x-generation-id: gen-[^]*"quota_exceeded"/i],
    [handshake('/unknown'), /^HTTP\/1\.1 404 [^]*x-generation-id: gen-[^]*"not_found"/i],
    [handshake('/silent').replace('Version: 13', 'Version: 8'), /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Version/],
    [handshake('/silent').replace('dGhl', ''), /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Key/],
    [handshake('/silent', 'Sec-WebSocket-Protocol: a b\r\n'), /^HTTP\/1\.1 400 [^]*Sec-WebSocket-Protocol/],
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

onEach(
  'a handshake that asks to close as well opens no socket that is closed already',
  async (t, { stack, server, seen }) => {
    const client = new RawClient(server.port).write(
      handshake('/silent', '').replace('Connection:', 'Connection: close\r\nConnection:'),
    );
    if (stack === 'uws') {
      await client.sees('"invalid_request"');
      t.match(client.text, /^HTTP\/1\.1 400 [^]*Connection: Upgrade/);
      t.equal(seen.sockets.length, 0);
    } else {
      await client.sees('\r\n\r\n');
      t.match(client.text, /^HTTP\/1\.1 101 /);
      await until('the socket is open', () => seen.sockets.length === 1);
      t.same(seen.closed, []);
    }
    client.leave();
    await until('the server knows', () => seen.closed.length === seen.sockets.length);
  },
);

onEach(
  'a client that leaves during the handshake opens nothing',
  async (t, { server, seen, held, connect }) => {
    const client = new RawClient(server.port).write(handshake('/gated'));
    await until('the handshake is being decided', () => held.decide);
    client.leave();
    await client.gone();
    held.decide?.();
    const other = await connect('/silent');
    await until('the other one is open', () => seen.sockets.length > 0);
    other.terminate();
    await until(
      'what was opened for nobody is closed as well',
      () => seen.closed.length === seen.sockets.length,
    );
    t.ok(seen.sockets.length <= 2);
  },
);

onEach(
  'a client that ends its side during the handshake is known to have left',
  async (t, { server, seen, held }) => {
    const client = new RawClient(server.port).write(handshake('/gated'));
    const decide = await until('the handshake is being decided', () => held.decide);
    client.socket.end();
    // A round trip on another connection, after which the end has arrived.
    await (await fetch(`http://127.0.0.1:${server.port}/both`)).text();
    decide();
    const isClosed = () => seen.sockets.length > 0 && seen.closed.length === seen.sockets.length;
    await until(
      'the route is told, by the signal or by the close event',
      () => held.request?.isAborted === true || isClosed(),
    );
    t.pass();
    client.leave();
  },
);
