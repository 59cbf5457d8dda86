/**
 * Answers that take long, on both adapters: none is dropped, whatever the size of the request's body. The stacks' own
 * timers run in real time only, so all cases wait at once.
 */
import { once } from 'node:events';
import { Agent, type IncomingMessage, request as requestHttp, type RequestOptions } from 'node:http';
import { Agent as TlsAgent, request as requestHttps } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { Client } from 'undici';
import type { Stack } from '../../../gateway/server/listen.js';
import type { HttpRequest, Reply } from '../../../gateway/server/port.js';
import { TLS } from '../../fixtures/edge/requests.js';
import { type EdgeServer, get, json, post, stacks, startEdge } from '../../fixtures/edge/edge.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const KiB = 1024;
const MiB = 1024 * KiB;
/** The largest is more than all buffers between client and gateway hold. */
const LARGEST = shortOrLong(16, 50) * MiB;
const SIZES = [KiB, 64 * KiB, MiB, LARGEST];
const WAIT_MS = 15_000;
const LONG_WAIT_MS = shortOrLong(20_000, 60_000);
const BYTES = Buffer.alloc(LARGEST, 'x');
/** An upload a little above the least that is allowed, per second and in all. */
const TRICKLE = { bytesPerSecond: 17 * KiB, seconds: 24 };

const secondsOf = ({ query }: HttpRequest): number => Number(query.get('ms') ?? WAIT_MS);

async function counted(request: HttpRequest): Promise<number> {
  let bytes = 0;
  for await (const chunk of request.body(64 * MiB)) bytes += chunk.length;
  return bytes;
}

const ROUTES = [
  post('/late', async (request) => {
    const bytes = await counted(request);
    await sleep(secondsOf(request), undefined, { signal: request.signal });
    return json(200, { bytes });
  }),
  post('/later', async (request) => {
    await sleep(secondsOf(request), undefined, { signal: request.signal });
    return json(200, { bytes: await counted(request) });
  }),
  get('/pauses', async (request): Promise<Reply> => {
    const first = BYTES.subarray(0, Number(request.query.get('first')));
    return {
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        yield first;
        await sleep(6000);
        yield 'b'.repeat(1000);
        await sleep(WAIT_MS);
        yield 'end';
      })(),
    };
  }),
];

/** The clients run in this process and delay its event loop, which must not count. */
const PATIENT = { load: { thresholds: { loopDelayMs: Number.POSITIVE_INFINITY } } };

interface Sending {
  readonly server: EdgeServer;
  readonly agent: Agent;
  readonly path: string;
  readonly headers?: Record<string, string | number>;
  readonly write: (stream: NodeJS.WritableStream) => void | Promise<void>;
}

/** Sends a request; resolves with status and body, rejects if the connection ends without them. */
async function sent({ server, agent, path, headers = {}, write }: Sending): Promise<string> {
  const options: RequestOptions = { method: 'POST', agent, headers };
  const start = server.base.startsWith('https') ? requestHttps : requestHttp;
  const request = start(server.base + path, { ...options, rejectUnauthorized: false } as RequestOptions);
  // A failure before the reply rejects below; one after it shows in the next case.
  request.on('error', () => undefined);
  if (headers['expect']) {
    request.flushHeaders();
    await once(request, 'continue');
  }
  const [[response]] = await Promise.all([
    once(request, 'response') as Promise<[IncomingMessage]>,
    (async () => {
      await write(request);
      request.end();
    })(),
  ]);
  let body = '';
  for await (const chunk of response) body += String(chunk);
  return `${response.statusCode} ${body}`;
}

const agentFor = (server: EdgeServer): Agent =>
  new (server.base.startsWith('https') ? TlsAgent : Agent)({ keepAlive: true, maxSockets: 1 });

const lengthOf = (bytes: number): Record<string, number> => ({ 'content-length': bytes });

const writes =
  (bytes: number) =>
  (stream: NodeJS.WritableStream): void =>
    void stream.write(BYTES.subarray(0, bytes));

async function trickle(stream: NodeJS.WritableStream): Promise<void> {
  const bytes = TRICKLE.bytesPerSecond * TRICKLE.seconds;
  const since = performance.now();
  for (let written = 0; written < bytes; await sleep(100)) {
    const due = ((performance.now() - since) / 1000) * TRICKLE.bytesPerSecond + KiB;
    const piece = Math.min(bytes, Math.ceil(due)) - written;
    stream.write(BYTES.subarray(0, piece));
    written += piece;
  }
}

async function answers(t: Test, stack: Stack, tls: boolean): Promise<void> {
  const server = await startEdge(stack, ROUTES, { ...PATIENT, ...(tls ? { tls: TLS } : {}) });
  t.teardown(() => server.close());
  const cases: Promise<void>[] = [];
  const check = (name: string, expected: string, result: Promise<string>): void => {
    const told = result.catch((error: unknown) => String(error));
    cases.push(told.then((seen) => void t.equal(seen, expected, name)));
  };
  for (const bytes of SIZES) {
    const write = writes(bytes);
    const expected = `200 {"bytes":${bytes}}`;
    for (const expect of [false, true]) {
      const headers = { ...lengthOf(bytes), ...(expect ? { expect: '100-continue' } : {}) };
      for (const path of ['/late', '/later']) {
        const agent = agentFor(server);
        const sending = { server, agent, path, headers, write };
        const twice = async (): Promise<string> => {
          const first = await sent(sending);
          const again = { headers: { ...headers, ...lengthOf(KiB) }, write: writes(KiB) };
          const second = await sent({ ...sending, ...again, path: `${path}?ms=1` });
          agent.destroy();
          return `${first}, then ${second}`;
        };
        const name = `${bytes} bytes to ${path}${expect ? ', expecting 100' : ''}, and a few more behind them`;
        check(name, `${expected}, then 200 {"bytes":${KiB}}`, twice());
      }
    }
    check(
      `${bytes} bytes in chunks`,
      expected,
      sent({ server, agent: agentFor(server), path: '/late', write }),
    );
  }
  const agent = agentFor(server);
  check(
    `after ${LONG_WAIT_MS / 1000} s`,
    `200 {"bytes":${MiB}}`,
    sent({
      ...{ server, agent, path: `/late?ms=${LONG_WAIT_MS}`, headers: lengthOf(MiB) },
      write: writes(MiB),
    }),
  );
  const slow = TRICKLE.bytesPerSecond * TRICKLE.seconds;
  check(
    'an upload at little more than the slowest rate',
    `200 {"bytes":${slow}}`,
    sent({ server, agent: agentFor(server), path: '/late?ms=1', headers: lengthOf(slow), write: trickle }),
  );
  await Promise.all(cases);
}

/** Reads nothing for `pauseMs`, so that a long first part fills all buffers; then everything. */
async function read(server: EdgeServer, path: string, pauseMs: number): Promise<string> {
  const start = server.base.startsWith('https') ? requestHttps : requestHttp;
  const request = start(server.base + path, {
    rejectUnauthorized: false,
    agent: false,
  } as RequestOptions).end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  await sleep(pauseMs);
  let length = 0;
  let last = Buffer.of();
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    last = Buffer.from(chunk.subarray(-3));
  }
  return `${length} ${last.toString()}`;
}

async function streams(t: Test, stack: Stack, tls: boolean): Promise<void> {
  const server = await startEdge(stack, ROUTES, { ...PATIENT, ...(tls ? { tls: TLS } : {}) });
  t.teardown(() => server.close());
  const cases = [10, LARGEST].flatMap((first) =>
    [0, 2000].map(async (pauseMs) => {
      const seen = await read(server, `/pauses?first=${first}`, pauseMs).catch((error: unknown) =>
        String(error),
      );
      t.equal(seen, `${first + 1003} end`, `${first} bytes, read after ${pauseMs} ms`);
    }),
  );
  await Promise.all(cases);
}

const IDLE_SECONDS = shortOrLong([5, 9, 11], [5, 9, 11, 30]);

/** What clients leave between their own timers and the server's. */
const SLACK_MS = 1000;
const PATIENT_MS = 300_000;

/** What two requests with a pause between them are answered; undefined if the machine held the second one up, so that the pause was longer. */
async function askedTwice(ask: () => Promise<number | undefined>, seconds: number) {
  const first = await ask();
  const since = performance.now();
  await sleep(seconds * 1000);
  const second = await ask().catch((error: unknown) => String(error));
  const isLate = performance.now() - since > seconds * 1000 + SLACK_MS / 2;
  return typeof second === 'string' && isLate ? undefined : [first, second];
}

/** One request, a pause, and another one, with clients that reuse their connection as the reply's header allows. */
async function rests(t: Test, stack: Stack): Promise<void> {
  const server = await startEdge(stack, ROUTES, PATIENT);
  t.teardown(() => server.close());
  const { headers } = await fetch(`${server.base}/health`);
  t.match(headers.get('keep-alive'), stack === 'uws' ? 'timeout=7' : 'timeout=60');
  const cases = IDLE_SECONDS.flatMap((seconds) => {
    const dispatcher = new Client(server.base);
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true, timeout: 300_000 })];
    const ask = [
      ...agents.map((agent) => async (): Promise<number | undefined> => {
        const [response] = (await once(
          requestHttp(`${server.base}/health`, { agent }).end(),
          'response',
        )) as [IncomingMessage];
        await response.resume().toArray();
        return response.statusCode;
      }),
      async () => {
        const { statusCode, body } = await dispatcher.request({ method: 'GET', path: '/health' });
        await body.dump();
        return statusCode;
      },
    ];
    t.teardown(async () => {
      for (const agent of agents) agent.destroy();
      await dispatcher.close();
    });
    return ask.map(async (once, client) => {
      const statuses = await until(
        `client ${client} asks in time`,
        () => askedTwice(once, seconds),
        PATIENT_MS,
      );
      t.same(statuses, [200, 200], `client ${client} after ${seconds} s`);
    });
  });
  await Promise.all(cases);
}

t.jobs = 16;
for (const stack of stacks(t.comment)) {
  void t.test(`a connection is kept for as long as its header says, on ${stack}`, (t) => rests(t, stack));
  for (const tls of [false, true]) {
    const where = `on ${stack}${tls ? ' with TLS' : ''}`;
    const name = `an answer may take a minute, whatever the body's size, ${where}`;
    void t.test(name, (t) => answers(t, stack, tls));
    void t.test(`a stream may rest for 15 s, ${where}`, (t) => streams(t, stack, tls));
  }
}
