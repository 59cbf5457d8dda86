/** WebSockets on both adapters: frames and their limits, and how sockets end. */
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { CLOSE } from '../../../contracts/close-codes.js';
import { LIMITS } from '../../../contracts/limits.js';
import { RawClient, startEdge } from '../../fixtures/edge/edge.js';
import { onAdapters, route } from '../../fixtures/edge/socket-server.js';
import { TLS } from '../../fixtures/edge/requests.js';
import { accept, closeOf, handshake } from '../../fixtures/edge/sockets.js';
import { exactly } from '../../fixtures/exactly.js';
import t from '../../fixtures/tap.js';
import { until } from '../../fixtures/until.js';

const MiB = 1024 * 1024;

/** A byte that never occurs, a character cut off, half a surrogate pair, and a wrong second byte. */
const NOT_UTF8: readonly (readonly number[])[] = [
  [0xff],
  [0xe2, 0x82],
  [0xed, 0xa0, 0x80],
  [0x61, 0xc3, 0x28],
];
/** 1007 in two bytes. */
const INVALID_PAYLOAD = [CLOSE.invalidPayload.code >> 8, CLOSE.invalidPayload.code & 0xff];

/** A client's text frame with these bytes; the mask is zero. */
const maskedText = (bytes: readonly number[]): Uint8Array =>
  Uint8Array.from([0x81, 0x80 | bytes.length, 0, 0, 0, 0, ...bytes]);

const onEach = await onAdapters(t);

onEach('text and binary frames come back in order', async (t, { seen, connect }) => {
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

onEach('a frame over the limit ends with 1009 (decision 5: 32 MiB)', async (t, { seen, opened }) => {
  const small = await opened('/small');
  small.client.send('x'.repeat(1000));
  small.client.send('x'.repeat(1001));
  small.client.send('after');
  exactly(t, await closeOf(small.client), { code: 1009 });
  t.equal(seen.messages.length, 1, 'neither it nor what follows is delivered');
  await until('the server knows', () => seen.closed.length === 1);
  t.same(seen.closed, [1009]);

  const large = await opened('/silent');
  large.client.send(Buffer.alloc(LIMITS.socket.frameBytes));
  await until('the largest frame arrives', () => seen.messages.length === 2);
  large.client.send(Buffer.alloc(LIMITS.socket.frameBytes + 1));
  exactly(t, await closeOf(large.client), { code: 1009 });
  await until('the server knows', () => seen.closed.length === 2);
});

onEach('a dialect that throws costs its own socket', async (t, { server, url }) => {
  const client = new WebSocket(url('/bug'));
  exactly(t, await closeOf(client), { code: 1011 });
  exactly(t, server.lines.at(-1), { level: 'error', message: 'a socket failed' });
});

onEach(
  'a connection ends after 3600 s, unless it has no cap (decision 9)',
  async (t, { clock, seen, opened }) => {
    const capped = await opened('/silent');
    const forever = await opened('/forever');
    const closed = closeOf(capped.client);
    clock.advance(LIMITS.socket.connectionMs - 1);
    t.notOk(seen.gone.includes(capped.socket));
    clock.advance(1);
    exactly(t, await closed, { code: 1001 });
    t.notOk(seen.gone.includes(forever.socket));
    forever.client.terminate();
    await until('the server knows', () => seen.closed.length === 2);
  },
);

onEach('a drain closes sockets with 1012', async (t, { stack, clock, seen }) => {
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
  exactly(t, await closed, { code: 1012, reason: 'service restart' });
  await drain;
  t.same(seen.closed, [1012]);
});

onEach(
  'a drain closes other sockets, and waits for those of calls, though these may be elsewhere',
  async (t, { stack, clock, seen }) => {
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
    await until('it refuses what is new', () => clock.pending > 0);
    clock.advance(40 * LIMITS.http.drainMs);
    exactly(t, await closed, { code: 1012, reason: 'service restart' });
    const back = await open('/call');
    await until('its client comes back', () => seen.sockets.length === 3);
    call.close();
    await until('the first one has gone', () => seen.closed.length === 2);
    t.equal(back.readyState, WebSocket.OPEN);
    back.close();
    await drain;
  },
);

onEach(
  'a text frame that is not UTF-8 ends its socket, and reaches nobody',
  async (t, { stack, server, seen }) => {
    for (const bytes of NOT_UTF8) {
      const client = new RawClient(server.port).write(handshake('/silent'));
      await client.sees('\r\n\r\n');
      const head = client.text.length;
      client.write(maskedText(bytes));
      await client.gone();
      // uWebSockets.js ends the connection by itself (docs/http-stacks.md).
      const told = Buffer.from(client.text.slice(head), 'latin1');
      t.same([...told.subarray(0, 4)], stack === 'node' ? [0x88, 2, ...INVALID_PAYLOAD] : []);
      client.leave();
    }
    await until('the server knows', () => seen.closed.length === NOT_UTF8.length);
    t.same(seen.messages, []);
  },
);

onEach('wss', async (t, { stack, seen }) => {
  const secure = await startEdge(stack, [], {
    tls: TLS,
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
