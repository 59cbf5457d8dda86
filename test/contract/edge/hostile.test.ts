/**
 * Bounds on clients without a key, on both adapters: their waiting is bounded, per address
 * and in all, and never delays authenticated work.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { Agent, request as ask } from 'undici';
import { WebSocket } from 'ws';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { readAll } from '../../../gateway/server/bodies/body.js';
import { WaitingPool } from '../../../gateway/server/waiting-pool.js';
import type { HttpHandler, SocketRoute } from '../../../gateway/server/port.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { attack } from '../../fixtures/edge/hostile.js';
import { type EdgeServer, json, post, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const MiB = 1024 * 1024;
/** How long key holders are served when all attackers have come; in the long form those that were closed come back. */
const ATTACK_MS = shortOrLong(500, 12_000);
/** Of each of six kinds more than an address may have. */
const ATTACKERS = shortOrLong(800, 3000);
const CALM_MS = shortOrLong(200, 2000);
const MEMORY_BYTES = 500 * MiB;
const { requests, sockets, frameBytes, socketMs } = LIMITS.unauthenticated;

/** Checks the key first, then reads the body. */
const keyed: HttpHandler = async (request) => {
  if (request.headers.get('authorization') !== 'Bearer key') throw new ServiceError('missing_key');
  request.authenticated();
  return json(200, { bytes: (await readAll(request, 2 * MiB)).length });
};

/** Reads the body without a key in the head, as if the body contained it. */
const open: HttpHandler = async (request) => json(200, { bytes: (await readAll(request, 2 * MiB)).length });

const inBand: SocketRoute = {
  path: '/svc/in-band',
  permission: 'open',
  upgrade: async () => ({
    maxFrameBytes: 40 * MiB,
    unauthenticated: true,
    open: (socket) => ({
      message(data) {
        if (String(data) === 'key') socket.authenticated();
        socket.send(`${data.length}`);
      },
      closed: () => undefined,
    }),
  }),
};

const known: SocketRoute = {
  path: '/svc/known',
  permission: 'open',
  upgrade: async () => ({
    maxFrameBytes: 32 * MiB,
    open: (socket) => ({ message: (data) => socket.send(`${data.length}`), closed: () => undefined }),
  }),
};

const options = { sockets: [inBand, known] };
const routes = [post('/keyed', keyed), post('/open', open)];

/** Sends requests with a key, one after the other, until `ended`; resolves with their statuses and times. */
async function served({ base }: EdgeServer, ended: Promise<unknown>) {
  let over = false;
  const noted = ended.finally(() => (over = true));
  const dispatcher = new Agent({ connections: 1 });
  const times: number[] = [];
  const statuses = new Map<unknown, number>();
  do {
    const since = performance.now();
    const status = await ask(`${base}/keyed`, {
      method: 'POST',
      body: 'x'.repeat(10_000),
      headers: { authorization: 'Bearer key' },
      dispatcher,
    }).then(
      async ({ statusCode, body }) => body.dump().then(() => statusCode),
      (error: unknown) => String(error),
    );
    times.push(performance.now() - since);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    await sleep(10);
  } while (!over);
  await noted;
  await dispatcher.close();
  times.sort((a, b) => a - b);
  return { statuses: Object.fromEntries(statuses), p99: times[Math.floor(times.length * 0.99)] ?? 0 };
}

async function valueOf({ metrics }: EdgeServer, name: string): Promise<number> {
  const text = await metrics.registry.metrics();
  return Number(new RegExp(`^gateway_${name} (\\S+)`, 'm').exec(text)?.[1]);
}

void t.test('the oldest wait of an address ends, of the one that holds most', async (t) => {
  const clock = new SimulatedClock();
  const pool = new WaitingPool({ perAddress: 2, total: 3, graceMs: 1000 }, clock);
  const evicted: string[] = [];
  const enter = (address: string, name: string) => pool.enter(address, () => evicted.push(name));
  enter('192.0.2.1', 'a');
  const leave = enter('192.0.2.1', 'b');
  enter('192.0.2.1', 'c');
  t.same(evicted, ['a']);
  enter('2001:db8::1', 'd');
  enter('2001:db8::ffff', 'e');
  t.same(evicted, ['a', 'b'], 'of two that hold as many, the first');
  leave();
  enter('2001:db8::2', 'f');
  t.same(evicted, ['a', 'b', 'd'], 'an IPv6 network is one address');
  t.equal(pool.hasRoom('192.0.2.9'), false);
  clock.advance(1000);
  t.equal(pool.hasRoom('192.0.2.9'), true, 'the oldest has had its time');
  t.equal(pool.size, 3);
});

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    await t.test(`${ATTACKERS} hostile connections of one address: no 503 for a key holder`, async (t) => {
      // Other load on the machine must not count.
      const loopDelay = { sample: () => 0, stop: () => undefined };
      const server = await startEdge(stack, routes, { ...options, load: { loopDelay } });
      t.teardown(() => server.close());
      const calm = await served(server, sleep(CALM_MS));
      const before = process.memoryUsage().rss;
      const { child: attackers, whole } = attack(server.port, ATTACKERS);
      t.teardown(() => attackers.kill());
      let most = 0;
      const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 100);
      const stormy = await served(
        server,
        whole.then(() => sleep(ATTACK_MS)),
      );
      clearInterval(watch);
      const [waiting, unknown] = [
        await valueOf(server, 'requests_waiting'),
        await valueOf(server, 'unauthenticated_sockets'),
      ];
      const exited = once(attackers, 'exit');
      attackers.kill();
      await exited;
      const grown = Math.round((most - before) / MiB);
      t.comment(
        `p99 ${calm.p99.toFixed(1)} ms calm, ${stormy.p99.toFixed(1)} ms under attack; +${grown} MiB`,
      );
      t.same(Object.keys(stormy.statuses), ['200'], JSON.stringify(stormy.statuses));
      t.ok(waiting <= requests.perAddress, `${waiting} requests wait`);
      t.ok(unknown <= sockets.perAddress, `${unknown} sockets wait`);
      t.ok(most - before < MEMORY_BYTES, `${grown} MiB more`);
      for (const name of ['requests_in_flight', 'requests_waiting', 'unauthenticated_sockets'])
        await until(`nothing is left of it: ${name}`, async () => (await valueOf(server, name)) === 0);
    });

    await t.test('answered requests that wait for the rest of an upload do not count as load', async (t) => {
      const load = { thresholds: { inFlight: 3, loopDelayMs: Number.POSITIVE_INFINITY } };
      const server = await startEdge(stack, routes, { load, clock: new SimulatedClock() });
      t.teardown(() => server.close());
      const head = 'POST /keyed HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n';
      const refused = Array.from({ length: 5 }, () => new RawClient(server.port).write(`${head}\r\nabc`));
      const reading = Array.from({ length: 5 }, () =>
        new RawClient(server.port).write(`${head.replace('/keyed', '/open')}\r\nabc`),
      );
      await until('they wait', async () => (await valueOf(server, 'requests_waiting')) === 10);
      const { statuses } = await served(server, Promise.resolve());
      t.same(statuses, { 200: 1 });
      const holders = Array.from({ length: 3 }, () =>
        new RawClient(server.port).write(`${head}Authorization: Bearer key\r\n\r\nabc`),
      );
      await until('they are under way', async () => (await valueOf(server, 'requests_in_flight')) === 13);
      t.same((await served(server, Promise.resolve())).statuses, { 503: 1 }, 'those of key holders do');
      for (const client of [...refused, ...reading, ...holders]) client.leave();
    });

    await t.test('a socket that authenticates in band', async (t) => {
      const clock = new SimulatedClock();
      const server = await startEdge(stack, [], { ...options, clock });
      t.teardown(() => server.close());
      const connected = async (path: string): Promise<WebSocket> => {
        const client = new WebSocket(`${server.base.replace('http', 'ws')}${path}`, {
          perMessageDeflate: false,
        });
        client.on('error', () => undefined);
        await once(client, 'open');
        return client;
      };
      const told = async (client: WebSocket, data: string | Buffer): Promise<string> => {
        client.send(data);
        const [reply] = (await once(client, 'message')) as [Buffer];
        return String(reply);
      };

      const eager = await connected('/svc/in-band');
      eager.send(Buffer.alloc(frameBytes + 1024));
      t.match((await once(eager, 'close'))[0], /1006|1009/, 'a large frame before it ends the connection');

      const late = await connected('/svc/in-band');
      clock.advance(socketMs);
      const [code, reason] = (await once(late, 'close')) as [number, Buffer];
      t.same([code, String(reason)], [1008, 'not authenticated in time']);

      const client = await connected('/svc/in-band');
      t.equal(await told(client, 'key'), '3');
      clock.advance(socketMs);
      t.equal(await told(client, Buffer.alloc(frameBytes - 1024)), String(frameBytes - 1024));
      t.equal(await valueOf(server, 'unauthenticated_sockets'), 0);
      if (stack === 'node') t.equal(await told(client, Buffer.alloc(32 * MiB)), String(32 * MiB));
      client.terminate();

      const holder = await connected('/svc/known');
      t.equal(
        await told(holder, Buffer.alloc(32 * MiB)),
        String(32 * MiB),
        'with a key in the handshake: 32 MiB',
      );
      holder.terminate();

      const many = await Promise.all(
        Array.from({ length: sockets.perAddress }, () => connected('/svc/in-band')),
      );
      await until(
        'they wait',
        async () => (await valueOf(server, 'unauthenticated_sockets')) === many.length,
      );
      await t.rejects(connected('/svc/in-band'), /503/, 'one more is refused');
      clock.advance(sockets.graceMs);
      many.push(await connected('/svc/in-band'));
      await until('one had to go', () => many.some(({ readyState }) => readyState === WebSocket.CLOSED));
      t.equal(await valueOf(server, 'unauthenticated_sockets'), sockets.perAddress);
      for (const socket of many) socket.terminate();
    });
  });
}
