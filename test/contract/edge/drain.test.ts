/** A server that drains, on both adapters: what it finishes, what it refuses, and for how long. */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import { traced } from '../../../gateway/server/tracing/trace-requests.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { ask, never } from '../../fixtures/edge/requests.js';
import { exchange, get, json, RawClient, eachStack, startEdge } from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const onEach = eachStack(t);

onEach('a drain lets streams finish and takes nothing new', async (t, stack) => {
  let finish: () => void = () => undefined;
  const server = await startEdge(stack, [
    get('/stream', async () => ({
      status: 200,
      body: (async function* () {
        yield 'begin';
        await new Promise<void>((resolve) => (finish = resolve));
        yield 'end';
      })(),
    })),
    get('/x', async () => json(200, {})),
  ]);
  t.teardown(() => server.close());
  const kept = new RawClient(server.port).write('GET /x HTTP/1.1\r\nHost: a\r\n\r\n');
  await kept.sees('{}');
  const streaming = new RawClient(server.port).write(ask('/stream'));
  await streaming.sees('begin');
  // Half a request keeps this connection from being idle when the drain begins.
  kept.text = '';
  kept.write('GET /x HTTP/1.1\r\nHost:');
  const half = new RawClient(server.port);
  await until('connected', () => half.socket.readyState === 'open');
  let drained = false;
  const drain = server.drain().then(() => (drained = true));
  await until('no more connections are taken', async () => {
    const late = new RawClient(server.port);
    await until('it is decided', () => late.closed || late.socket.readyState === 'open');
    const refused = late.closed;
    late.leave();
    return refused;
  });
  kept.write(' a\r\n\r\n');
  await until('it is answered or closed', () => kept.text !== '' || kept.closed);
  if (kept.text !== '') t.match(kept.text, /^HTTP\/1\.1 503 [^]*connection: close[^]*"draining"/i);
  else t.equal(stack, 'node', 'node ends what it takes for idle');
  t.equal(drained, false);
  finish();
  await streaming.gone();
  t.match(streaming.text, /end\r\n0\r\n\r\n$/);
  await drain;
  t.equal(server.health.report().status, 'draining');
  half.leave();
  kept.leave();
});

onEach('a drain keeps its port for calls, however long they last', async (t, stack) => {
  const clock = new SimulatedClock();
  const call = { ...get('/call', async () => json(200, {})), whileDraining: true };
  const server = await startEdge(stack, [get('/x', async () => json(200, {})), call], { clock });
  t.teardown(() => server.close());
  let over = (): void => undefined;
  const calls = new Promise<void>((resolve) => (over = resolve));
  const drain = server.drain({ calls });
  clock.advance(40 * LIMITS.http.drainMs);
  t.match(await exchange(server.port, ask('/call')), /^HTTP\/1\.1 200 /);
  t.match(await exchange(server.port, ask('/x')), /^HTTP\/1\.1 503 [^]*"draining"/);
  over();
  await drain;
  t.equal(await exchange(server.port, ask('/call')), '', 'nobody listens any more');
});

onEach('a drain does not wait for a balancer if nobody polls /health', async (t, stack) => {
  const clock = new SimulatedClock();
  const server = await startEdge(stack, [], { clock, announceMs: 5000 });
  t.teardown(() => server.close());
  await server.drain();
  t.equal(clock.now(), 0, 'at once');
});

onEach('a drain ends requests that do not end by themselves, and the log says so', async (t, stack) => {
  const clock = new SimulatedClock();
  const lines: object[] = [];
  const log = { ...silentLog, info: (details: object) => void lines.push(details) };
  const route = get(
    '/silent',
    traced('/silent', { log, clock }, ({ signal }) => never(signal)),
  );
  const server = await startEdge(stack, [route], { clock });
  t.teardown(() => server.close());
  const client = new RawClient(server.port).write(ask('/silent'));
  await until('it is under way', async () => /in_flight 1/.test(await server.metrics.registry.metrics()));
  const drain = server.drain();
  clock.advance(LIMITS.http.drainMs);
  await until('it waits once more for close frames', () => clock.pending > 0);
  await new Promise((resolve) => setImmediate(resolve));
  clock.advance(2000);
  await drain;
  await client.gone();
  t.equal(client.text, '');
  exactly(t, lines, [{ route: '/silent', outcome: 'drained' }]);
});
