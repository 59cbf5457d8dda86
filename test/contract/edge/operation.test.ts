/** A server in operation, on both adapters: load, health and metrics, TLS, proxies, the port. */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get as getHttp, type IncomingMessage } from 'node:http';
import { get as getHttps } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import t from '../../fixtures/tap.js';
import { SimulatedClock } from '../../fixtures/clock.js';
import { ask, settled, TLS } from '../../fixtures/edge/requests.js';
import {
  bodyOf,
  dialect,
  exchange,
  get,
  json,
  post,
  eachStack,
  startEdge,
} from '../../fixtures/edge/edge.js';
import { exactly } from '../../fixtures/exactly.js';
import { freePort } from '../../fixtures/free-port.js';

const [MAJOR = 0, MINOR = 0] = process.versions.node.split('.').map(Number);
const NODE_SHARES_PORTS = MAJOR > 22 || (MAJOR === 22 && MINOR >= 12);

const onEach = eachStack(t);

onEach(
  'under load new requests are shed in the shape of their API; health, metrics and running calls are not (decision 18)',
  async (t, stack) => {
    const load = { delay: 0 };
    const clock = new SimulatedClock();
    const answer = async () => json(200, {});
    const call = { ...get('/call', answer), whileDraining: true };
    const begins = { ...get('/begins', answer), whileDraining: true, beginsCalls: true };
    const server = await startEdge(stack, [], {
      clock,
      dialects: [
        dialect('main', ['/'], [get('/x', answer), call, begins]),
        dialect('other', ['/other'], [get('/other/x', answer)]),
      ],
      load: {
        thresholds: { loopDelayMs: 100, retryAfterSeconds: 7 },
        loopDelay: { sample: () => load.delay, stop: () => undefined },
      },
    });
    t.teardown(() => server.close());
    const status = async (path: string) =>
      /^HTTP\/1\.1 (\d+)/.exec(await exchange(server.port, ask(path)))?.[1];
    t.equal(await status('/x'), '200');
    load.delay = 101;
    clock.advance(500);
    const shed = await exchange(server.port, ask('/x'));
    t.match(shed, /^HTTP\/1\.1 503 [^]*retry-after: 7\r\n[^]*"main":"overloaded"/i);
    t.match(await exchange(server.port, ask('/other/x')), /^HTTP\/1\.1 503 [^]*"other":"overloaded"/i);
    t.equal(await status('/health'), '200');
    t.equal(await status('/metrics'), '200');
    t.equal(await status('/call'), '200', 'a running call keeps its callbacks');
    t.equal(await status('/begins'), '503', 'no call begins');
    load.delay = 0;
    clock.advance(500);
    t.equal(await status('/x'), '200');
  },
);

onEach(
  'health follows its checks; metrics and the interface description name what is served',
  async (t, stack) => {
    const server = await startEdge(stack, [
      {
        ...post('/x/{id}', async () => json(200, {})),
        description: { summary: 'X', responses: { 200: { description: 'ok' } } },
      },
    ]);
    t.teardown(() => server.close());
    const fetched = async (path: string) => {
      const response = await fetch(server.base + path);
      return { status: response.status, body: await response.text() };
    };
    server.health.set('database', false);
    t.same(JSON.parse((await fetched('/health')).body), {
      status: 'degraded',
      ready: false,
      live: true,
      checks: { database: false },
    });
    t.equal((await fetched('/health')).status, 503);
    const without = await fetched('/health?exclude=database');
    t.equal(without.status, 200, 'a check that does not count for who asks');
    t.same(JSON.parse(without.body), {
      status: 'degraded',
      ready: true,
      live: true,
      checks: { database: false },
    });
    const misspelled = await fetched('/health?exclude=databse');
    t.equal(misspelled.status, 400);
    t.match(misspelled.body, 'databse is no check; there are: database');
    t.equal((await fetched('/health/live')).status, 200);
    server.health.set('database', true);
    const well = '{"status":"ok","ready":true,"live":true,"checks":{"database":true}}';
    t.strictSame(await fetched('/health'), { status: 200, body: well });
    t.equal((await fetched('/health/ready')).status, 200);
    await fetch(`${server.base}/x/1`, { method: 'POST', body: 'abcde' }).then((response) => response.text());
    server.metrics.gauge('of_another_room', 'Test', () => [{ labels: { role: 'a' }, value: 3 }], ['role']);
    const metrics = (await fetched('/metrics')).body;
    t.match(metrics, 'gateway_requests_total{route="/x/{id}",method="POST",status="200"} 1');
    t.match(metrics, 'gateway_bytes_total{direction="in"} 5');
    t.match(metrics, 'gateway_of_another_room{role="a"} 3');
    for (const name of [
      'first_byte_seconds',
      'request_seconds',
      'open_sockets',
      'egress_queue_bytes',
      'requests_in_flight',
      'loop_delay_seconds',
      'shed_requests_total',
    ]) {
      t.match(metrics, `gateway_${name}`);
    }
    const document = JSON.parse((await fetched('/openapi.json')).body) as Record<string, unknown>;
    exactly(t, document, { openapi: '3.1.0', info: { version: '1' } });
    t.strictSame(document['servers'], [{ url: server.base }]);
    t.strictSame(document['paths'], {
      '/x/{id}': {
        post: {
          summary: 'X',
          operationId: 'x',
          tags: ['main'],
          parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
          responses: {
            200: {
              description: 'ok',
              headers: { 'X-Generation-Id': { $ref: '#/components/headers/X-Generation-Id' } },
            },
          },
          security: [{ bearer: [] }],
        },
      },
    });
  },
);

onEach('TLS by certificate files: 1.1 is refused, and so are wrong files at the start', async (t, stack) => {
  const secure = await startEdge(stack, [get('/x', async ({ baseUrl }) => json(200, { baseUrl }))], {
    tls: TLS,
  });
  t.teardown(() => secure.close());
  const text = await new Promise<string>((resolve, reject) => {
    getHttps(`${secure.base}/x`, { rejectUnauthorized: false, agent: false }, (response) => {
      let body = '';
      response.on('data', (chunk: Buffer) => (body += chunk.toString())).on('end', () => resolve(body));
    }).on('error', reject);
  });
  t.same(JSON.parse(text), { baseUrl: secure.base });
  const old = connectTls({
    port: secure.port,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    maxVersion: 'TLSv1.1',
    minVersion: 'TLSv1',
  });
  await t.rejects(new Promise((resolve, reject) => old.on('secureConnect', resolve).on('error', reject)));
  const files = { certFile: TLS.certFile, keyFile: '/nowhere/key.pem' };
  await t.rejects(startEdge(stack, [], { tls: files }), /\/nowhere\/key\.pem/);
  await t.rejects(
    startEdge(stack, [], { tls: { certFile: TLS.keyFile, keyFile: TLS.keyFile } }),
    /not a certificate/,
  );
});

for (const tls of [undefined, TLS]) {
  onEach(`a slow reader gets every byte as it was, ${tls ? 'with' : 'without'} TLS`, async (t, stack) => {
    const [chunks, size] = [300, 50_000];
    const numbered = (index: number): Buffer => Buffer.alloc(size, `${index},`);
    const state = { pulled: 0 };
    const server = await startEdge(
      stack,
      [
        get('/x', async () => ({
          status: 200,
          body: (async function* () {
            for (; state.pulled < chunks; state.pulled += 1) {
              yield numbered(state.pulled);
              await nextTurn();
            }
          })(),
        })),
      ],
      tls ? { tls } : {},
    );
    t.teardown(() => server.close());
    const [sent, received] = [createHash('sha256'), createHash('sha256')];
    for (let index = 0; index < chunks; index += 1) sent.update(numbered(index));
    const request = (tls ? getHttps : getHttp)(`${server.base}/x`, {
      rejectUnauthorized: false,
      agent: false,
    });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    await settled('the stream stands still', () => state.pulled);
    for await (const chunk of response) received.update(chunk as Buffer);
    t.equal(received.digest('hex'), sent.digest('hex'));
  });
}

onEach('forwarded addresses count behind trusted proxies only (decision 7)', async (t, stack) => {
  const route = get('/who', async ({ clientAddress, baseUrl }) => json(200, { clientAddress, baseUrl }));
  const forwarded =
    'X-Forwarded-For: 9.9.9.9, 1.2.3.4\r\nX-Forwarded-Proto: https\r\nX-Forwarded-Host: pub.example\r\n';
  const cases = [
    {
      trustedProxies: ['127.0.0.0/8'],
      expected: { clientAddress: '1.2.3.4', baseUrl: 'https://pub.example' },
    },
    { trustedProxies: [], expected: { clientAddress: '127.0.0.1', baseUrl: 'http://own.example' } },
    {
      trustedProxies: ['127.0.0.1'],
      publicUrl: 'https://fixed.example',
      expected: { clientAddress: '1.2.3.4', baseUrl: 'https://fixed.example' },
    },
  ];
  for (const { expected, ...options } of cases) {
    const server = await startEdge(stack, [route], options);
    t.same(JSON.parse(bodyOf(await exchange(server.port, ask('/who', forwarded)))), expected);
    await server.close();
  }
});

onEach('a taken port is refused by name', async (t, stack) => {
  const first = await startEdge(stack, []);
  t.teardown(() => first.close());
  await t.rejects(startEdge(stack, [], { port: first.port }), new RegExp(`Port ${first.port} is taken`));
  await t.rejects(
    startEdge(stack, [], { host: '192.0.2.1' }),
    /192\.0\.2\.1 is not an address of this machine/,
  );
});

onEach('several gateways share a port, if the stack can', async (t, stack) => {
  if (stack === 'node' && !NODE_SHARES_PORTS) {
    await t.rejects(startEdge(stack, [], { exclusive: false }), /WORKERS=1/);
    return;
  }
  // uWebSockets.js shares only a given port, not one that the kernel chose.
  const first = await startEdge(stack, [], { exclusive: false, port: await freePort() });
  t.teardown(() => first.close());
  const second = await startEdge(stack, [], { exclusive: false, port: first.port });
  t.teardown(() => second.close());
  t.equal(second.port, first.port);
  await t.rejects(startEdge(stack, [], { port: first.port }), /is taken/, 'but not with an exclusive one');
});
