/**
 * Two gateway processes behind one port, on one database (WORKERS; decisions 6 and 24), and their common figures, all of which
 * docs/metrics.md lists.
 */
import { once } from 'node:events';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { Caller, letGo, type SessionInvite } from '../../fixtures/calls/caller.js';
import { exactly } from '../../fixtures/exactly.js';
import { commandOf, familyOf } from '../../fixtures/processes/family.js';
import { freePort } from '../../fixtures/free-port.js';
import { EMBEDDED_POSTGRES, startGateway } from '../../fixtures/gateway.js';
import { productFile } from '../../fixtures/processes/product.js';
import { until } from '../../fixtures/until.js';

const PAGE = fileURLToPath(new URL('docs/metrics.md', CHECKOUT));

const CONCURRENCY = 6;
const gateway = await startGateway({
  ...EMBEDDED_POSTGRES,
  WORKERS: '2',
  PORT: String(await freePort()),
  CONCURRENCY: String(CONCURRENCY),
  DRAIN_SECONDS: '3600',
});
t.teardown(() => gateway.stop());

/** Characters of a text whose speech, 1280 bytes a character, is more than all buffers on the way to a client that does not read hold. */
const UNREAD = 20_000;

const gateways = () => familyOf(gateway.pid).filter((pid) => commandOf(pid).includes('workers/gateway'));

const speak = (text: string, headers: Record<string, string> = gateway.authorization) =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json', connection: 'close' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: 16_000 }),
  });

const CLOSE = { connection: 'close' };
const scrape = async () => (await fetch(`${gateway.base}/metrics`, { headers: CLOSE })).text();

// The figures come first: they count what this file asks.
t.test('each scrape shows the figures of both', async (t) => {
  const REQUESTS = 24;
  const counted = `gateway_requests_total{route="/v1/agent/agents",method="GET",status="200"} ${REQUESTS}\n`;
  for (let sent = 0; sent < REQUESTS; sent += 1) {
    const headers = { ...gateway.authorization, ...CLOSE };
    await (await fetch(`${gateway.base}/v1/agent/agents`, { headers })).body?.cancel();
  }
  const lines = [
    counted,
    `gateway_request_seconds_count{route="/v1/agent/agents"} ${REQUESTS}\n`,
    `gateway_request_seconds_bucket{le="+Inf",route="/v1/agent/agents"} ${REQUESTS}\n`,
    'gateway_processes 2\n',
    // A child is not counted twice.
    'gateway_child_connected{role="media",index="0"} 1\n',
  ];
  for (let scrapes = 0; scrapes < 8; scrapes += 1) {
    const text = await scrape();
    const missing = lines.filter((line) => !text.includes(line));
    t.strictSame(missing, [], text);
    t.match(text, /^process_cpu_seconds_total [\d.]+$/m);
  }
});

t.test('each line of their log is one of its own level, with the process that it is from', async (t) => {
  const lines = () =>
    gateway
      .stderr()
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as { level: number; process?: number; msg: string; route?: string });
  const requests = () => lines().filter(({ route }) => route === '/v1/agent/agents');
  await until('a request is in the log', () => requests().length > 0);
  for (const { level, process: pid, msg } of requests()) {
    exactly(t, { level, msg }, { level: 30, msg: 'request' });
    t.ok(gateways().includes(pid ?? -1));
  }
  t.notOk(lines().some(({ msg }) => msg.startsWith('{')));
});

t.test('a wait for a child is counted once, whichever process is scraped', async (t) => {
  const COUNTED = /^gateway_child_job_wait_seconds_count\{role="encode"\} (\d+)$/m;
  const waits = async () => Number(COUNTED.exec(await scrape())?.[1] ?? 0);
  const headers = { ...gateway.authorization, ...CLOSE, 'content-type': 'application/json' };
  const body = JSON.stringify({ text: 'One word.', format: 'mp3' });
  const SPOKEN = 4;
  for (let count = 0; count < SPOKEN; count += 1)
    await (await fetch(`${gateway.base}/v1/tts`, { method: 'POST', headers, body })).arrayBuffer();
  t.ok(await until('each is counted', async () => (await waits()) === SPOKEN));
});

t.test('the last hour is that of both as well, and shows no other workspace to a key', async (t) => {
  const ask = async (path: string) => {
    const headers = { ...gateway.authorization, ...CLOSE };
    const response = await fetch(gateway.base + path, { headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const REFUSED = 12;
  for (let sent = 0; sent < REFUSED; sent += 1) t.equal((await ask('/v1/agent/tools/none')).status, 404);
  const route = '/v1/agent/tools/{tool_id}';
  for (let asked = 0; asked < 4; asked += 1) {
    const { body } = await ask('/v1/machine/history');
    exactly(t, body, { processes: 2, errors: [{ method: 'GET', route, status: 404, count: REFUSED }] });
    const minutes = body['minutes'] as { replies: number; refused: number; first_byte: Record<string, number | null> }[]; // oxfmt-ignore
    t.equal(minutes.length, 60);
    t.equal(
      minutes.reduce((sum, { refused }) => sum + refused, 0),
      REFUSED,
    );
    const busy = minutes.find(({ replies }) => replies > 0);
    t.ok(busy && Number(busy.first_byte['p50_ms']) > 0);
    t.ok(busy && Number(busy.first_byte['p95_ms']) >= Number(busy.first_byte['p50_ms']));
  }
  t.equal((await fetch(`${gateway.base}/v1/machine/history`)).status, 401);
});

t.test('names, kinds and docs/metrics.md', async (t) => {
  const text = await scrape();
  const kinds = new Map([...text.matchAll(/^# TYPE (\S+) (\w+)$/gm)].map(([, name, kind]) => [name, kind]));
  const helps = new Map([...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(([, name, help]) => [name, help]));
  const page = readFileSync(PAGE, 'utf8');
  const own = [...kinds].filter(([name = '']) => name.startsWith('gateway_'));
  t.ok(own.length > 20);
  const without = (isRight: (name: string, kind: string) => boolean) =>
    own.filter(([name = '', kind = '']) => !isRight(name, kind));
  t.strictSame(
    without((name, kind) => name.endsWith('_total') === (kind === 'counter')),
    [],
    'counters alone are named totals',
  );
  t.strictSame(
    without((name) => !/_(ms|millis\w*|minutes|mb|kb)(_|$)/.test(name)),
    [],
    'all are in base units',
  );
  t.strictSame(
    without(
      (name, kind) => page.includes(`| \`${name}\` | ${kind} | `) && page.includes(` | ${helps.get(name)} |`),
    ),
    [],
    'docs/metrics.md has each with its kind, and says what it is',
  );
  const listed = [...page.matchAll(/^\| `(gateway_\w+)`/gm)].map(([, name]) => name);
  t.same(listed.sort(), own.map(([name]) => name).sort());
});

t.test(
  'the slots of a workspace hold across the processes, and 429 carries Retry-After (decision 6)',
  async (t) => {
    const long = 'abcdefghi '.repeat(UNREAD / 10);
    await until('every slot can be taken', async () => {
      const responses = await Promise.all(Array.from({ length: CONCURRENCY * 3 }, () => speak(long)));
      const running = responses.filter(({ status }) => status === 200).length;
      for (const response of responses) {
        if (response.status === 200) continue;
        t.equal(response.status, 429);
        t.ok(Number(response.headers.get('retry-after')) >= 1);
      }
      t.ok(running <= CONCURRENCY, `${running} run at once`);
      await Promise.all(responses.map(async ({ body }) => body?.cancel()));
      return running > 0;
    });
  },
);

t.test('a key revoked by the command is refused by every process', async (t) => {
  const cli = productFile('gateway/commands/main');
  const keys = async (...args: string[]) => {
    const env = { ...process.env, DATA_DIR: gateway.dataDir };
    const child = spawn(process.execPath, [cli, 'keys', ...args], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let printed = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (printed += chunk));
    const [code] = (await once(child, 'close')) as [number];
    t.equal(code, 0);
    return printed;
  };
  const created = await keys('create', 'temporary');
  const key = /\bsk_[\w-]+/.exec(created)?.[0] ?? '';
  const id = /\bkey_\w+/.exec(created)?.[0] ?? '';
  const statuses = async () => {
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => speak('a', { authorization: `Bearer ${key}` })),
    );
    await Promise.all(responses.map((response) => response.arrayBuffer()));
    return responses.map(({ status }) => status);
  };
  t.ok((await statuses()).some((status) => status === 200));
  await keys('revoke', id);
  await until('no process takes it', async () => (await statuses()).every((status) => status === 401));
});

t.test('SIGKILL of one gateway leaves the other serving, and it comes back with its figures', async (t) => {
  const before = gateways();
  t.equal(before.length, 2);
  /** Kills it each time it is restarted: a scrape waits a moment for figures, in which a fast machine restarts it. */
  const kill = (): void => {
    const pid = familyOf(gateway.pid).find((pid) => commandOf(pid).includes('gateway-0.sock'));
    if (pid !== undefined) process.kill(pid, 'SIGKILL');
  };
  await until('the other one answers alone', async () => {
    kill();
    const text = await scrape().catch(() => '');
    return /^gateway_processes 1$/m.test(text);
  });
  await until('the port is served', async () => {
    const response = await speak('a').catch(() => undefined);
    await response?.arrayBuffer();
    return response?.status === 200;
  });
  await until('two run again', () => gateways().length === 2);
  t.equal(gateways().filter((pid) => before.includes(pid)).length, 1, 'one of them is new');
  await until('the figures of both are back', async () => {
    const text = await scrape().catch(() => '');
    return /^gateway_processes 2$/m.test(text);
  });
});

/** Time after which another signal counts as a second one. */
const AGAIN_MS = 2000;

t.test(
  'SIGTERM lets what runs in each process come to its end (decision 24); again, it hurries',
  async (t) => {
    t.teardown(letGo);
    const call = client(gateway.base);
    const agentId = await makeAgent(call, { config: { prompt: { first_message_mode: 'off' } } });
    const { body: invite } = await call('sessions', { body: { agent_id: agentId } });
    const caller = await Caller.join(invite as unknown as SessionInvite);
    const minutes = 'abcdefghij '.repeat(550);
    const whole = await until('one runs alone', async () => {
      const response = await speak(minutes);
      const { byteLength } = await response.arrayBuffer();
      return response.status === 200 && byteLength;
    });
    // Each process has leased a part of the slots and refuses more jobs than that.
    const running = await until('several run', async () => {
      const responses = await Promise.all(Array.from({ length: 4 }, () => speak(minutes)));
      const served = responses.filter(({ status }) => status === 200);
      if (served.length > 1) return served;
      await Promise.all(responses.map(async ({ body }) => body?.cancel()));
      return undefined;
    });
    gateway.kill('SIGTERM');
    for (const response of running) t.equal((await response.arrayBuffer()).byteLength, whole, 'whole');
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
    t.notOk(caller.ended, 'a call may go on for long');
    gateway.kill('SIGTERM');
    t.equal(await gateway.exited, 0);
    await until('the client of the call is told', () => caller.ended);
  },
);
