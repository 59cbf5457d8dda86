/** Session requests, without a gateway: placeholders, origins, addresses, filters, timezones; its socket. */
import t from 'tap';
import { systemClock } from '../../contracts/clock.js';
import { silentLog } from '../../contracts/log.js';
import { LIMITS } from '../../contracts/limits.js';
import { isTimezone } from '../../contracts/time/timezones.js';
import { mediaDialect } from '../../gateway/calls/signalling.js';
import { filterOf } from '../../gateway/dialects/platform/sessions/filter.js';
import { networkOf } from '../../gateway/server/client-address.js';
import { admitOrigin } from '../../gateway/dialects/platform/sessions/origin.js';
import { render, type Variable } from '../../contracts/agents/placeholders.js';

const variables = new Map<string, Variable>([
  ['name', 'Ada'],
  ['count', 7],
  ['ok', false],
  ['nested', '{{name}}'],
  ['dollar', '$&$1$$'],
  ['empty', ''],
]);

t.test('placeholders become their values, once', async (t) => {
  const cases: [string, string][] = [
    ['', ''],
    ['no placeholder', 'no placeholder'],
    ['{{name}}', 'Ada'],
    ['{{ name }}', 'Ada'],
    ['{{name}}{{count}}{{ok}}', 'Ada7false'],
    ['{{nested}}', '{{name}}'],
    ['{{dollar}}', '$&$1$$'],
    ['[{{empty}}]', '[]'],
    ['{{unknown}} {{Name}} {{}} {{ }}', '{{unknown}} {{Name}} {{}} {{ }}'],
    ['{name} {{name} {name}}', '{name} {{name} {name}}'],
    ['{{{name}}}', '{Ada}'],
    ['{{{{name}}}}', '{{Ada}}'],
    ['{{name\n}}', '{{name\n}}'],
    ['{{__proto__}} {{constructor}}', '{{__proto__}} {{constructor}}'],
  ];
  for (const [template, rendered] of cases) t.equal(render(template, variables), rendered, template);
});

t.test('a rendered text is bounded, and rendering hostile ones is quick (decision 19)', async (t) => {
  const most = LIMITS.session.renderedLength;
  const long = new Map<string, Variable>([['a', 'x'.repeat(1000)]]);
  t.equal(render('{{a}}'.repeat(100), long)?.length, most);
  t.equal(render(`{{a}}`.repeat(100) + 'y', long), undefined);
  t.equal(render('{{a}}'.repeat(20_000), long), undefined);
  for (const hostile of [
    '{'.repeat(100_000),
    '{{ '.repeat(30_000),
    `{{${'a'.repeat(99_000)}`,
    '{{a '.repeat(25_000),
  ])
    t.equal(render(hostile, long), hostile);
});

t.test('origins are compared as browsers send them', async (t) => {
  const admits = (entries: string[], origin: string | undefined): boolean => {
    const agent = { publicEnabled: true, allowedOrigins: entries } as never;
    try {
      admitOrigin(agent, { headers: new Map(origin === undefined ? [] : [['origin', origin]]) });
      return true;
    } catch {
      return false;
    }
  };
  t.ok(admits(['https://a.example'], 'https://a.example'));
  t.ok(admits(['https://a.example/'], 'https://A.example'));
  t.ok(admits(['https://a.example:443'], 'https://a.example'));
  t.ok(admits(['chrome-extension://abcdef'], 'chrome-extension://abcdef'));
  t.ok(admits(['capacitor://localhost/'], 'capacitor://localhost'));
  t.notOk(admits(['chrome-extension://abcdef'], 'chrome-extension://abcdeg'));
  t.notOk(admits(['*'], 'https://a.example'));
  t.notOk(admits(['https://*.example'], 'https://a.example'));
  t.notOk(admits(['null'], 'null'), 'a sandboxed page is nobody');
  t.notOk(admits([''], ''));
  t.notOk(admits(['https://a.example'], undefined));
});

t.test('one client is one address, or one /64', async (t) => {
  t.equal(networkOf('203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('::ffff:203.0.113.7'), '203.0.113.7');
  t.equal(networkOf('2001:db8:0:1::7'), '2001:db8:0:1::/64');
  t.equal(networkOf('2001:db8:0:1:ffff:ffff:ffff:ffff'), '2001:db8:0:1::/64');
  t.equal(networkOf('/run/proxy.sock'), '/run/proxy.sock');
});

t.test('moments of a filter', async (t) => {
  const at = (text: string) =>
    filterOf(new URLSearchParams({ created_after: text })).createdAfter?.toISOString();
  const fine: [string, string][] = [
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04:05Z', '2026-01-02T03:04:05.000Z'],
    ['2026-01-02T03:04:05.123456Z', '2026-01-02T03:04:05.123Z'],
    ['2026-01-02T03:04:05+02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05 02:00', '2026-01-02T01:04:05.000Z'],
    ['2026-01-02T03:04:05-02:00', '2026-01-02T05:04:05.000Z'],
    ['2026-01-02T03:04', '2026-01-02T03:04:00.000Z'],
    ['2026-01-02 03:04:05', '2026-01-02T03:04:05.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ];
  for (const [text, moment] of fine) t.equal(at(text), moment, text);
  for (const text of ['', 'now', '1735689600', '2026-13-01', '2026-01-32', '2026-01-02T25:00:00Z', '26-01-02', '2026-01-02T', '+002026-01-02', '2026-02-29', '2026-04-31T00:00:00Z', '0000-01-01', '0001-01-01T00:00:00+01:00', '9999-12-31T23:59:59-01:00'])
    t.throws(() => at(text), { code: 'invalid_request' } as never, text); // oxfmt-ignore
});

t.test('timezones are names of the IANA', async (t) => {
  for (const name of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5', 'europe/berlin'])
    t.ok(isTimezone(name), name); // oxfmt-ignore
  for (const name of ['', '+01:00', '-05:00', 'Mars/Olympus', 'Europe/', '../etc/passwd', 'UTC+1', ' UTC'])
    t.notOk(isTimezone(name), name); // oxfmt-ignore
});

t.test('a call has no cap of 3600 s on its sockets, and small frames (decisions 5, 9)', async (t) => {
  const { sockets = [] } = mediaDialect({
    joinTokens: {
      verify: () => Promise.resolve({ sessionId: 'sess_1', identity: 'user', use: 'join' }),
    } as never,
    runs: { join: () => Promise.resolve({ record: {} }) } as never,
    calls: { settled: () => Promise.resolve(), begin: () => undefined, hasRoom: true } as never,
    relay: {} as never,
    ...{ nodeId: '', agents: {} as never, held: { holds: true }, clock: systemClock, log: silentLog },
  });
  t.same(sockets.map(({ path }) => path), ['/rtc/v1', '/rtc']); // oxfmt-ignore
  const request = { query: new URLSearchParams({ access_token: 'x' }), headers: new Map() } as never;
  for (const { upgrade } of sockets)
    t.match(await upgrade(request), { connectionMs: null, maxFrameBytes: LIMITS.socket.rtcFrameBytes });
});
