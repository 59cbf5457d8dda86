/** Refusals arrive: at clients that are still sending, in every protocol's own words, on both stacks. */
import { request as requestHttp } from 'node:http';
import { once } from 'node:events';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { ServiceError } from '../../../contracts/errors.js';
import { readAll } from '../../../gateway/server/bodies/body.js';
import type { HttpHandler } from '../../../gateway/server/port.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { shortOrLong } from '../../fixtures/long.js';
import { json, post, RawClient, stacks, startEdge } from '../../fixtures/edge/edge.js';
import { until } from '../../fixtures/until.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** Uploads of each size: of ten large ones hardly any used to arrive, and of ten small ones half. */
const TRIES = shortOrLong(2, 100);
const SIZES = [4 * KiB, 256 * KiB, shortOrLong(3, 8) * MiB];

const refuses =
  (code: ConstructorParameters<typeof ServiceError>[0]): HttpHandler =>
  async () => {
    throw new ServiceError(code);
  };

/** Begins to read, and then fails as an upload does that is too slow. */
const tooSlow: HttpHandler = async (request) => {
  for await (const _ of request.body(LIMITS.body.transcription)) throw new ServiceError('request_timeout');
  return json(200, {});
};

const ROUTES = [
  post('/400', refuses('invalid_request')),
  post('/401', refuses('missing_key')),
  post('/402', refuses('quota_exceeded')),
  post('/403', refuses('forbidden')),
  post('/408', tooSlow),
  post('/413', async (request) => json(200, (await readAll(request, KiB)).length)),
  post('/415', refuses('unsupported_media_type')),
  post('/429', refuses('rate_limited')),
  post('/503', refuses('overloaded')),
];
const STATUSES = [...ROUTES.map(({ path }) => Number(path.slice(1))), 404];

/** The status that a form's sender sees, or how its request failed. */
async function upload(url: string, bytes: number): Promise<number | string> {
  const body = new FormData();
  body.set('file', new Blob([Buffer.alloc(bytes)]), 'a.wav');
  try {
    const response = await fetch(url, { method: 'POST', body });
    await response.text();
    return response.status;
  } catch (error) {
    return String((error as Error).cause ?? error);
  }
}

/** What the senders of all sizes see, once each. */
async function seen(url: string): Promise<readonly unknown[]> {
  const all: unknown[] = [];
  for (const bytes of SIZES)
    for (let tried = 0; tried < TRIES; tried += 1) all.push(await upload(url, bytes));
  return [...new Set(all)];
}

const posting = (path: string, lines: string, version = '1.1'): string =>
  `POST ${path} HTTP/${version}\r\nHost: a\r\n${lines}\r\n`;

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    await t.test('each refusal arrives at a client that still sends', async (t) => {
      const server = await startEdge(stack, ROUTES);
      t.teardown(() => server.close());
      for (const status of STATUSES)
        t.strictSame(await seen(`${server.base}/${status}`), [status], String(status));
    });

    await t.test('503 arrives from a server that sheds load, and from one that drains', async (t) => {
      const routes = [post('/x', refuses('internal'))];
      const loopDelay = { sample: () => 20_000, stop: () => undefined };
      const busy = await startEdge(stack, routes, { load: { loopDelay } });
      t.teardown(() => busy.close());
      t.strictSame(await seen(`${busy.base}/x`), [503]);
      const server = await startEdge(stack, routes, { load: { thresholds: { loopDelayMs: 10_000 } } });
      t.teardown(() => server.close());
      let over = (): void => undefined;
      const drained = server.drain({ calls: new Promise<void>((resolve) => (over = resolve)) });
      t.strictSame(await seen(`${server.base}/x`), [503]);
      over();
      await drained;
    });

    await t.test('a connection serves on after a refused body that was read to its end', async (t) => {
      const server = await startEdge(stack, ROUTES);
      t.teardown(() => server.close());
      for (const status of [401, 429, 503]) {
        const client = new RawClient(server.port).write(
          `${posting(`/${status}`, 'Content-Length: 3\r\n')}abc`,
        );
        await client.sees('"message"');
        t.match(client.text, /^connection: keep-alive/im, String(status));
        client.text = '';
        await client.write(`${posting('/402', 'Content-Length: 1\r\n')}a`).sees('"message"');
        t.match(client.text, /^HTTP\/1\.1 402 /);
        client.leave();
      }
    });

    await t.test('a client that waits to be told to send is refused', async (t) => {
      const server = await startEdge(stack, [
        ...ROUTES,
        post('/size', async (request) => json(200, (await readAll(request, MiB)).length)),
      ]);
      t.teardown(() => server.close());
      const ask = (path: string) => {
        const headers = { expect: '100-continue', 'content-length': 100_000 };
        const asked = requestHttp(server.base + path, { method: 'POST', headers, agent: false });
        asked.on('error', () => undefined);
        asked.flushHeaders();
        return asked;
      };
      for (const status of [401, 413, 503]) {
        const asked = ask(`/${status}`);
        let told = false;
        asked.on('continue', () => {
          told = true;
          asked.end(Buffer.alloc(100_000));
        });
        const [response] = await once(asked, 'response');
        t.equal(response.statusCode, status);
        t.equal(told, stack === 'uws', 'the binding answers 100 by itself');
        response.resume();
        asked.destroy();
      }
      const asked = ask('/size');
      asked.on('continue', () => asked.end(Buffer.alloc(100_000)));
      const [response] = await once(asked, 'response');
      t.equal(response.statusCode, 200, 'and is told to send where it is served');
      response.resume();
    });

    await t.test('chunked bodies, and clients of HTTP/1.0', async (t) => {
      const server = await startEdge(stack, ROUTES);
      t.teardown(() => server.close());
      const piece = 'x'.repeat(512 * KiB);
      const chunk = `${piece.length.toString(16)}\r\n${piece}\r\n`;
      for (const status of [401, 408, 413, 429, 503]) {
        const chunked = new RawClient(server.port).write(
          posting(`/${status}`, 'Transfer-Encoding: chunked\r\n'),
        );
        for (let sent = 0; sent < 4; sent += 1) chunked.write(chunk);
        chunked.write('0\r\n\r\n');
        await chunked.sees('"message"');
        chunked.leave();
        t.match(chunked.text, new RegExp(`^HTTP/1\\.1 ${status} [^]*"message"`));
        if (stack === 'uws') continue;
        const older = new RawClient(server.port).write(
          posting(`/${status}`, `Content-Length: ${4 * MiB}\r\n`, '1.0'),
        );
        for (let sent = 0; sent < 8; sent += 1) older.write(piece);
        await older.gone();
        t.match(older.text, new RegExp(`^HTTP/1\\.1 ${status} [^]*"message"`));
      }
    });

    await t.test('the wait for a refused body is bounded: in pauses and in connections', async (t) => {
      const clock = new SimulatedClock();
      const server = await startEdge(stack, ROUTES, { clock });
      t.teardown(() => server.close());
      const { idleMs, connections } = LIMITS.refused;
      const lingering = async (): Promise<number> =>
        Number(/requests_lingering (\d+)/.exec(await server.metrics.registry.metrics())?.[1]);
      const begin = (status = 401): RawClient =>
        new RawClient(server.port).write(posting(`/${status}`, `Content-Length: ${64 * MiB}\r\n`));

      const silent = begin();
      await silent.sees('"message"');
      t.match(silent.text, /^connection: close/im);
      clock.advance(idleMs);
      await silent.gone();

      const late = begin(408).write('x');
      await late.sees('"message"');
      clock.advance(LIMITS.refused.lateMs);
      await late.gone();

      const clients: RawClient[] = [];
      for (let open = 0; open < connections.perAddress; open += 1) clients.push(begin());
      await until('all are refused', async () => (await lingering()) === connections.perAddress);
      const one = begin();
      await one.sees('"message"');
      await until('the oldest has gone', () => clients.some(({ closed }) => closed));
      t.equal(clients.filter(({ closed }) => closed).length, 1);
      t.equal(await lingering(), connections.perAddress);
      for (const client of [...clients, one]) client.leave();
      await until('none is left', async () => (await lingering()) === 0);
    });
  });
}
