/** `/metrics`: access, figures of several gateway processes, and that docs/metrics.md lists all of them. */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { Role } from '../../contracts/permissions.js';
import { permissionsFor } from '../../gateway/permissions.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { startEdge } from '../fixtures/edge.js';
import { commandOf, familyOf } from '../fixtures/family.js';
import { freePort } from '../fixtures/free-port.js';
import { startGateway } from '../fixtures/gateway.js';
import { until } from '../fixtures/until.js';

const PAGE = fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url));
const TOKEN = 'a-token-of-the-operator';

interface Case {
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Status if loopback is no trusted proxy; `proxied`: if it is one. */
  readonly plain: number;
  readonly proxied: number;
}

const bearer = (key: string) => ({ 'x-forwarded-for': '203.0.113.9', authorization: `Bearer ${key}` });

const CASES: readonly Case[] = [
  { name: 'from this machine', plain: 200, proxied: 200 },
  {
    name: 'forwarded for a public address',
    headers: { 'x-forwarded-for': '203.0.113.9' },
    plain: 401,
    proxied: 401,
  },
  {
    name: 'forwarded for a private address',
    headers: { 'x-forwarded-for': '10.1.2.3' },
    plain: 401,
    proxied: 200,
  },
  { name: 'for one in IPv6', headers: { 'x-forwarded-for': 'fd00::1' }, plain: 401, proxied: 200 },
  {
    name: 'for a public one in IPv6',
    headers: { 'x-forwarded-for': '2001:db8::1' },
    plain: 401,
    proxied: 401,
  },
  {
    name: 'a private address that the client made up',
    headers: { 'x-forwarded-for': '10.1.2.3, 203.0.113.9' },
    plain: 401,
    proxied: 401,
  },
  {
    name: 'something that is no address',
    headers: { 'x-forwarded-for': 'unknown' },
    plain: 401,
    proxied: 401,
  },
  { name: 'an empty header', headers: { 'x-forwarded-for': '' }, plain: 401, proxied: 401 },
  { name: 'another kind of header', headers: { forwarded: 'for=10.1.2.3' }, plain: 401, proxied: 401 },
  { name: 'a proxy that says no more', headers: { via: '1.1 proxy' }, plain: 401, proxied: 401 },
  { name: 'X-Real-IP', headers: { 'x-real-ip': '127.0.0.1' }, plain: 401, proxied: 401 },
  { name: 'the operator token', headers: bearer(TOKEN), plain: 200, proxied: 200 },
  { name: 'another token', headers: bearer(`${TOKEN}x`), plain: 401, proxied: 401 },
  { name: 'a key that reads', headers: bearer('read'), plain: 200, proxied: 200 },
  { name: 'a full key', headers: bearer('full'), plain: 200, proxied: 200 },
  { name: 'a key that speaks', headers: bearer('speech'), plain: 403, proxied: 403 },
];

const keys = {
  authenticate: (key: string) =>
    Promise.resolve(
      ['full', 'read', 'speech'].includes(key)
        ? { workspaceId: 'w', keyId: 'k', role: key as Role }
        : undefined,
    ),
};

for (const stack of ['uws', 'node'] as const) {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const which = trustedProxies.length > 0 ? 'proxied' : 'plain';
    t.test(`who may read the metrics (${stack}, ${which})`, async (t) => {
      const scraping = { keys, token: TOKEN };
      const permissionOf = permissionsFor(defaultVocabulary);
      const server = await startEdge(stack, [], { trustedProxies, scraping, permissionOf });
      t.teardown(() => server.close());
      for (const { name, headers = {}, ...expected } of CASES) {
        const response = await fetch(`${server.base}/metrics`, { headers });
        const body = await response.text();
        t.equal(response.status, expected[which], name);
        t.equal(body.includes('gateway_requests_total'), expected[which] === 200, name);
      }
    });
  }

  t.test(`pages of other origins do not read the metrics (${stack})`, async (t) => {
    const server = await startEdge(stack, []);
    t.teardown(() => server.close());
    const origin = { origin: 'https://elsewhere.example' };
    const asked = { ...origin, 'access-control-request-method': 'GET' };
    const answers = await Promise.all([
      fetch(`${server.base}/metrics`, { headers: origin }),
      fetch(`${server.base}/metrics`, { headers: { ...origin, 'x-forwarded-for': '203.0.113.9' } }),
      fetch(`${server.base}/metrics`, { method: 'OPTIONS', headers: asked }),
    ]);
    t.same(
      answers.map(({ status }) => status),
      [200, 401, 204],
    );
    t.match(await answers[0].text(), /^nodejs_eventloop_lag_mean_seconds [\d.]+$/m, "Node's, at the first");
    for (const { headers } of answers)
      t.notOk([...headers.keys()].some((name) => name.startsWith('access-control')));
    const health = await fetch(`${server.base}/health`, { method: 'OPTIONS', headers: asked });
    t.equal(health.headers.get('access-control-allow-origin'), '*');
  });
}

const CLOSE = { connection: 'close' };

t.test('two gateway processes', async (t) => {
  const gateway = await startGateway({ WORKERS: '2', PORT: String(await freePort()) });
  t.teardown(() => gateway.stop());
  const scrape = async () => (await fetch(`${gateway.base}/metrics`, { headers: CLOSE })).text();

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
      t.match(body, { processes: 2, errors: [{ method: 'GET', route, status: 404, count: REFUSED }] });
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
        (name, kind) =>
          page.includes(`| \`${name}\` | ${kind} | `) && page.includes(` | ${helps.get(name)} |`),
      ),
      [],
      'docs/metrics.md has each with its kind, and says what it is',
    );
    const listed = [...page.matchAll(/^\| `(gateway_\w+)`/gm)].map(([, name]) => name);
    t.same(listed.sort(), own.map(([name]) => name).sort());
  });

  t.test('a process that has died is left out, and its figures return with it', async (t) => {
    /** Kills it each time it is restarted: a scrape waits a moment for figures, in which a fast machine restarts it. */
    const kill = (): void => {
      const pid = familyOf(gateway.pid).find((pid) => commandOf(pid).includes('gateway-0.sock'));
      if (pid !== undefined) process.kill(pid, 'SIGKILL');
    };
    t.ok(
      await until('the other one answers alone', async () => {
        kill();
        const text = await scrape().catch(() => '');
        return /^gateway_processes 1$/m.test(text);
      }),
    );
    t.ok(
      await until('both are back', async () => {
        const text = await scrape().catch(() => '');
        return /^gateway_processes 2$/m.test(text);
      }),
    );
  });
});
