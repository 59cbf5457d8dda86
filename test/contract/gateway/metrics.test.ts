/** `/metrics`: who has access. Its figures: several-gateways.test.ts. */
import t from '../../fixtures/tap.js';
import type { Role } from '../../../contracts/permissions.js';
import { startEdge } from '../../fixtures/edge/edge.js';

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
  { name: 'a key that reads', headers: bearer('read'), plain: 403, proxied: 403 },
  { name: 'a key for the machine', headers: bearer('machine'), plain: 200, proxied: 200 },
  { name: 'a full key of the default workspace', headers: bearer('full'), plain: 200, proxied: 200 },
  { name: 'a full key of another one', headers: bearer('other'), plain: 403, proxied: 403 },
  { name: 'a key that speaks', headers: bearer('speech'), plain: 403, proxied: 403 },
];

const ROLE_OF: Readonly<Record<string, Role>> = { other: 'full' };

const keys = {
  authenticate: (key: string) =>
    Promise.resolve(
      ['full', 'read', 'speech', 'machine', 'other'].includes(key)
        ? { workspaceId: 'w', keyId: 'k', role: ROLE_OF[key] ?? (key as Role), isOperators: key !== 'other' }
        : undefined,
    ),
};

for (const stack of ['uws', 'node'] as const) {
  for (const trustedProxies of [[], ['127.0.0.1']]) {
    const which = trustedProxies.length > 0 ? 'proxied' : 'plain';
    t.test(`who may read the metrics (${stack}, ${which})`, async (t) => {
      const scraping = { keys, token: TOKEN };
      const server = await startEdge(stack, [], { trustedProxies, scraping });
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
    t.match(
      await answers[0].text(),
      /^nodejs_eventloop_lag_mean_seconds (?:[\d.]+|Nan)$/m,
      "Node's, at the first",
    );
    for (const { headers } of answers)
      t.notOk([...headers.keys()].some((name) => name.startsWith('access-control')));
    const health = await fetch(`${server.base}/health`, { method: 'OPTIONS', headers: asked });
    t.equal(health.headers.get('access-control-allow-origin'), '*');
  });
}
