/**
 * A server that is told to leave, on both adapters: for a while it still answers, and each answer ends its connection, so that clients
 * that keep theirs open are never refused (gateway/server/goodbye.ts).
 */
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { LIMITS } from '../../../contracts/limits.js';
import type { ListenOptions, Stack } from '../../../gateway/server/listen.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { ask } from '../../fixtures/edge/requests.js';
import { exchange, get, json, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';
import { until } from '../../fixtures/until.js';

const ANNOUNCE_MS = 5000;
/** Longer than a connection may be idle on either stack. */
const ALL_GONE_MS = 66_000;
const KEPT = 'GET /x HTTP/1.1\r\nHost: own.example\r\n\r\n';
const WELL = get('/x', async () => json(200, {}));

/** A server that announces its leave, and one client whose connection stays open. */
async function kept(t: Test, stack: Stack, options: Partial<ListenOptions> = {}, routes = [WELL]) {
  const clock = new SimulatedClock();
  const server = await startEdge(stack, routes, { clock, announceMs: ANNOUNCE_MS, ...options });
  t.teardown(() => server.close());
  const client = new RawClient(server.port).write(KEPT);
  await client.sees('{}');
  t.match(client.text, /connection: keep-alive/i);
  client.text = '';
  return { clock, server, client };
}

/** What a server does that leaves. */
const CASES: Readonly<Record<string, (t: Test, stack: Stack) => Promise<void>>> = {
  'an open connection gets its answer, and ends with it; then new work is refused': async (t, stack) => {
    const { clock, server, client } = await kept(t, stack);
    const calls = new Promise<void>((resolve) => t.teardown(resolve));
    let refuses = false;
    void server.drain({ calls, refuses: () => (refuses = true) });
    const health = await exchange(server.port, 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n');
    t.match(health, /^HTTP\/1\.1 503 [^]*connection: close[^]*"status":"draining"/i);
    client.write(KEPT);
    await client.gone();
    t.match(client.text, /^HTTP\/1\.1 200 [^]*connection: close[^]*{}/i);
    t.match(await exchange(server.port, KEPT), /^HTTP\/1\.1 200 [^]*connection: close/i, 'a new connection');
    clock.advance(ANNOUNCE_MS - 1);
    await nextTurn();
    t.equal(refuses, false, 'for the whole time');
    await until('it refuses', () => {
      clock.advance(1000);
      return refuses;
    });
    t.match(await exchange(server.port, KEPT), /^HTTP\/1\.1 503 [^]*connection: close[^]*"main":"draining"/i);
  },

  'a connection that is idle all the while is not refused either': async (t, stack) => {
    const { clock, server, client } = await kept(t, stack);
    let refuses = false;
    const drain = server.drain({ refuses: () => (refuses = true) });
    clock.advance(ANNOUNCE_MS);
    if (stack === 'node') await client.gone();
    else {
      for (let turn = 0; turn < 5; turn += 1) await nextTurn();
      t.equal(refuses, false, 'it cannot be ended, so it is waited for');
      client.write(KEPT);
      await client.gone();
      t.match(client.text, /^HTTP\/1\.1 200 [^]*connection: close/i);
    }
    await until('it refuses', () => {
      clock.advance(1000);
      return refuses;
    });
    await drain;
  },

  'a reply that has promised to keep its connection is waited for': async (t, stack) => {
    let finish = (): void => undefined;
    const stream = get('/stream', async () => ({
      status: 200,
      body: (async function* () {
        yield 'begin';
        await new Promise<void>((resolve) => (finish = resolve));
        yield 'end';
      })(),
    }));
    const { clock, server, client } = await kept(t, stack, {}, [WELL, stream]);
    client.write(KEPT.replace('/x', '/stream'));
    await client.sees('begin');
    let refuses = false;
    void server.drain({ refuses: () => (refuses = true) });
    clock.advance(ANNOUNCE_MS);
    for (let turn = 0; turn < 5; turn += 1) await nextTurn();
    t.equal(refuses, false);
    finish();
    await client.sees('0\r\n\r\n');
    client.text = '';
    client.write(KEPT);
    if (stack === 'node') await until('it is answered or closed', () => client.text !== '' || client.closed);
    else await client.gone();
    t.match(client.text, stack === 'node' ? /^$|^HTTP\/1\.1 200 / : /^HTTP\/1\.1 200 [^]*connection: close/i);
  },

  'whoever is hurried takes no leave': async (t, stack) => {
    const { clock, server, client } = await kept(t, stack);
    await exchange(server.port, ask('/health'));
    await server.drain({ over: Promise.resolve() });
    t.equal(clock.now(), 0);
    client.leave();
  },

  'a balancer that asks for health is waited for; without one, and with no connection, nobody is': async (
    t,
    stack,
  ) => {
    const [watched, alone] = [await kept(t, stack), await kept(t, stack)];
    for (const { clock, client } of [watched, alone]) {
      clock.advance(ALL_GONE_MS);
      client.leave();
    }
    await exchange(watched.server.port, ask('/health'));
    let drained = false;
    const drain = watched.server.drain().then(() => (drained = true));
    await alone.server.drain();
    t.equal(alone.clock.now(), ALL_GONE_MS, 'at once');
    t.equal(drained, false);
    watched.clock.advance(ANNOUNCE_MS);
    await drain;
    t.equal(await exchange(watched.server.port, ask('/health')), '', 'nobody listens any more');
  },

  'sockets go on meanwhile, and end with 1012 while calls go on': async (t, stack) => {
    const clock = new SimulatedClock();
    const accept = (connectionMs?: null) => async () => ({
      maxFrameBytes: 100,
      ...(connectionMs === null && { connectionMs }),
      open: (socket: { send(data: string): void }) => ({
        message: (frame: unknown) => socket.send(String(frame)),
        closed: () => undefined,
      }),
    });
    const server = await startEdge(stack, [], {
      ...{ clock, announceMs: ANNOUNCE_MS },
      sockets: [
        { path: '/ws', permission: 'open', upgrade: accept() },
        { path: '/call', permission: 'open', upgrade: accept(null), whileDraining: true },
      ],
    });
    t.teardown(() => server.close());
    const open = async (path: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${server.port}${path}`);
      await once(client, 'open');
      return client;
    };
    const [before, call] = [await open('/ws'), await open('/call')];
    await exchange(server.port, ask('/health'));
    const drain = server.drain({ callsUntil: new Promise(() => undefined) });
    const during = await open('/ws');
    for (const client of [before, during, call]) {
      const echo = once(client, 'message');
      client.send('still here');
      t.equal(String((await echo)[0]), 'still here');
    }
    const closed = Promise.all([before, during].map((client) => once(client, 'close')));
    clock.advance(LIMITS.http.drainMs);
    for (const [code, reason] of await closed)
      t.strictSame([code, String(reason)], [1012, 'service restart']);
    t.equal(call.readyState, WebSocket.OPEN);
    call.close();
    await drain;
  },
};

for (const stack of stacks(t.comment))
  void t.test(`on ${stack}`, async (t) => {
    for (const [name, leaves] of Object.entries(CASES)) await t.test(name, (t) => leaves(t, stack));
  });
