/** What waits for clients of WebSockets, on both adapters: queues and their bounds, clients that read late, slowly or not at all. */
import { WebSocket } from 'ws';
import { LIMITS } from '../../../contracts/limits.js';
import { onAdapters } from '../../fixtures/edge/socket-server.js';
import { closeOf } from '../../fixtures/edge/sockets.js';
import { exactly } from '../../fixtures/exactly.js';
import t from '../../fixtures/tap.js';
import { until } from '../../fixtures/until.js';

const MiB = 1024 * 1024;

const onEach = await onAdapters(t);

onEach('closing sends what is queued, once, and stops both directions', async (t, { seen, opened }) => {
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

onEach('a socket that is closed while it opens gets one gone event', async (t, { seen, url }) => {
  const client = new WebSocket(url('/closing'));
  exactly(t, await closeOf(client), { code: 4002, reason: 'not today' });
  await until('the server knows', () => seen.closed.length === 1);
  t.same(seen.closed, [4002]);
  t.strictSame(seen.gone, seen.sockets);
});

onEach('drained() waits for the client to read', async (t, { seen, opened }) => {
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

onEach('a client that reads late gets every frame as it was', async (t, { seen, opened }) => {
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
  exactly(t, await closeOf(client), { code: 1000 });
  t.equal(next, count);
  t.ok(intact);
  await until('the server knows', () => seen.closed.length === 1);
});

onEach('a client that stays away with a full queue is cut', async (t, { clock, seen, opened }) => {
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

onEach('a slow client that reads is not cut', async (t, { clock, seen, opened }) => {
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

/** The status and Retry-After of a handshake that is refused; undefined once it is open. */
const refusalOf = (
  client: WebSocket,
): Promise<readonly [number | undefined, string | undefined] | undefined> =>
  new Promise((resolve) => {
    client.on('open', () => resolve(undefined));
    client.on('unexpected-response', (_, { statusCode, headers }) => {
      resolve([statusCode, headers['retry-after']]);
      client.terminate();
    });
    client.on('error', () => undefined);
  });

onEach('whoever has flooded waits before the next socket, but for those of calls', async (t, server) => {
  const { clock, connect, url } = server;
  const { waiting, flood } = LIMITS.socket;
  const flooding = await connect('/slow');
  for (let sent = 0; sent < 2 * waiting.frames; sent += 1) flooding.send('x');
  exactly(t, await closeOf(flooding), { code: 1008, reason: 'more frames than can be read' });

  const clients = Array.from({ length: flood.held + 1 }, () => new WebSocket(url('/both')));
  const ends = clients.map(refusalOf);
  t.strictSame(await Promise.race(ends), [429, '2'], 'one more than may wait');
  const call = await connect('/forever');
  clock.advance(flood.pauseMs);
  const refused = (await Promise.all(ends)).filter((end) => end !== undefined);
  t.equal(refused.length, 1);
  for (const client of [...clients, call]) client.terminate();
});
