/** Sessions without a key: two gateways on one database (docs/contract/platform.md 6.10). */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createKey } from '../../../storage/keys/keys.js';
import { type Body, type Call, type CallOptions, client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { startGateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { patiently } from '../../fixtures/patience.js';
import { until } from '../../fixtures/until.js';

const PER_ADDRESS = 5;
const PER_AGENT = 12;

const postgres = await startPostgres(t);
const env = {
  DATABASE_URL: postgres.url,
  SECRETS_KEY: 'a secret of these tests',
  PUBLIC_SESSIONS_PER_IP: String(PER_ADDRESS),
  PUBLIC_SESSIONS_PER_AGENT: String(PER_AGENT),
  CONCURRENCY: '200',
};
/** What docs/clients.md says for the described platform's own browser SDK. */
const THEIRS = { VENDOR_TRANSPORT: 'livekit', VENDOR_TRANSPORT_URL_FIELD: 'livekit_url' };

/** The first trusts the address that the tests claim, the second does not. */
const behindProxy = await startGateway({ ...env, TRUSTED_PROXIES: '127.0.0.1' });
t.teardown(() => behindProxy.stop());
const exposed = await startGateway({ ...env, ...THEIRS });
t.teardown(() => exposed.stop());
const here = client(behindProxy.base);
const there = client(exposed.base);
const { sql } = await postgres.open();

const ORIGIN = 'https://www.example.com';
const publicAgent = (change: Body = {}, config?: Body) =>
  makeAgent(here, {
    change: { public_enabled: true, allowed_origins: [ORIGIN], ...change },
    ...(config && { config }),
  });
const agentId = await publicAgent({
  overrides_allowed: ['first_message', 'system_prompt', 'voice_id', 'language'],
});

let addresses = 0;
/** An address that no test has used. */
const fresh = (): string => `198.51.${Math.floor(addresses / 250) % 250}.${(addresses++ % 250) + 1}`;

interface Visit extends CallOptions {
  readonly origin?: string | null;
  readonly from?: string;
}

const visit = (
  body: Body = {},
  { origin = ORIGIN, from = fresh(), ...options }: Visit = {},
  call: Call = here,
) =>
  call('sessions', {
    body: { agent_id: agentId, ...body },
    key: null,
    ...options,
    headers: { 'x-forwarded-for': from, ...(origin !== null && { origin }), ...options.headers },
  });

/** Limits count by the database's clock minutes: a test that counts begins early in one. */
const earlyInAMinute = () =>
  until('a minute is young', async () => {
    const [row] = await sql<{ second: number }[]>`select extract(second from now())::float8 as second`;
    return row!.second < 30;
  });

const agentLimitsGone = () => sql`delete from public_limits`;
t.beforeEach(async () => {
  await agentLimitsGone();
});

t.test('a page of an allowed origin starts a session without a key', async (t) => {
  const { status, body, headers } = await visit({
    client_timezone: 'America/Lima',
    metadata: { page: '/pricing' },
  });
  t.equal(status, 201);
  exactly(t, body, { transport: 'media', session_id: /^sess_/ });
  t.ok(headers.get('access-control-allow-origin'));
  const detail = await here(`sessions/${String(body['session_id'])}`);
  exactly(t, detail.body, { source: 'public', timezone: 'America/Lima', metadata: { page: '/pricing' } });
});

t.test('clients join by the address that they reached us by (decision 7)', async (t) => {
  const headers = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'speech.example.com' };
  const proxied = await visit({}, { headers });
  t.equal(proxied.body['media_url'], 'wss://speech.example.com');
  const direct = await visit({}, { headers }, there);
  exactly(t, direct.body, { transport: 'livekit', media_url: undefined }, 'by the names that the SDK reads');
  t.equal(direct.body['livekit_url'], exposed.base.replace('http', 'ws'), 'only a trusted proxy is believed');
});

t.test('browsers may send what SDKs send', async (t) => {
  for (const path of ['sessions', `agents/${agentId}/widget`]) {
    const response = await fetch(`${behindProxy.base}/v1/agent/${path}`, {
      method: 'OPTIONS',
      headers: {
        origin: ORIGIN,
        'access-control-request-method': path === 'sessions' ? 'POST' : 'GET',
        'access-control-request-headers': 'content-type,x-fish-sdk',
      },
    });
    t.ok(response.ok);
    t.match(response.headers.get('access-control-allow-headers'), /content-type,\s*x-fish-sdk/i);
    t.ok(['*', ORIGIN].includes(response.headers.get('access-control-allow-origin') ?? ''));
  }
});

t.test('origins: scheme, host and port, exactly', async (t) => {
  const id = await publicAgent({
    allowed_origins: ['https://shop.example.com/', 'http://localhost:3000', 'https://UPPER.example.com'],
  });
  const cases: [string | null, number][] = [
    ['https://shop.example.com', 201],
    ['https://SHOP.example.com', 201],
    ['https://shop.example.com:443', 201],
    ['http://localhost:3000', 201],
    ['https://upper.example.com', 201],
    ['http://shop.example.com', 403],
    ['https://shop.example.com:8443', 403],
    ['https://www.shop.example.com', 403],
    ['https://shop.example.com.evil.com', 403],
    ['https://evil.com/https://shop.example.com', 403],
    ['http://localhost:3001', 403],
    ['http://localhost', 403],
    ['null', 403],
    ['', 403],
    [null, 403],
  ];
  for (const [origin, status] of cases) {
    const answer = await visit({ agent_id: id }, { origin });
    t.equal(answer.status, status, String(origin));
    const message = origin ? 'Origin not allowed' : 'Origin header is required for public agents';
    if (status === 403) t.same(answer.body, { status, message });
    await agentLimitsGone();
  }
});

t.test('an agent that is not public says so, and nothing else of itself', async (t) => {
  const closed = await makeAgent(here, { change: { allowed_origins: [ORIGIN] } });
  const answer = await visit({ agent_id: closed });
  t.same([answer.status, answer.body], [403, { status: 403, message: 'Agent is not public' }]);
  t.equal((await visit({ agent_id: 'agent_none' })).status, 404);
  const bare = await publicAgent({ allowed_origins: [] });
  exactly(t, (await visit({ agent_id: bare })).body, { status: 403, message: 'Origin not allowed' });
});

t.test('a key makes it no public request, a broken one neither', async (t) => {
  t.equal((await visit({ name: 'mine' }, { headers: behindProxy.authorization, origin: null })).status, 201);
  for (const authorization of ['', 'Bearer', 'Bearer wrong', 'Basic x'])
    t.equal((await visit({}, { headers: { authorization } })).status, 401, `"${authorization}"`);
});

t.test('public fields that shape the prompt are refused, whatever the agent allows', async (t) => {
  const cases: [Body, number][] = [
    [{ name: 'x' }, 400],
    [{ name: '' }, 400],
    [{ overrides: { first_message: 'x' } }, 400],
    [{ overrides: { first_message_prompt: 'x' } }, 400],
    [{ overrides: { system_prompt: 'x' } }, 400],
    [{ overrides: { language: 'en', system_prompt: 'x' } }, 400],
    [{ overrides: { language: 'en' } }, 201],
    [{ overrides: { voice_id: 'alloy' } }, 201],
    [{ overrides: { voice_id: 'nobody' } }, 422],
    [{ overrides: {}, name: null }, 201],
    [
      {
        dynamic_variables: { a: 1 },
        end_user_id: 'u',
        timezone: 'UTC',
        tool_events: false,
        record_audio: false,
      },
      201,
    ],
  ];
  for (const [body, status] of cases) t.equal((await visit(body)).status, status, JSON.stringify(body));
  const strict = await publicAgent({ overrides_allowed: ['language'] });
  t.equal(
    (await visit({ agent_id: strict, overrides: { voice_id: 'alloy' } })).status,
    400,
    'the agent allows it not',
  );
  t.equal((await visit({ agent_id: strict, overrides: { language: 'en' } })).status, 201);
});

t.test('errors win in their order (decision 12)', async (t) => {
  const closed = await makeAgent(here);
  const draft = await makeAgent(here, {
    published: false,
    change: { public_enabled: true, allowed_origins: [ORIGIN] },
  });
  const cases: [string, number, Promise<{ status: number }>][] = [
    ['JSON', 400, visit({}, { body: '{', origin: 'https://evil.com' })],
    ['shape before agent', 422, visit({ agent_id: 'agent_none', extra: 1 })],
    ['origin before override', 403, visit({ name: 'x' }, { origin: 'https://evil.com' })],
    ['public before override', 403, visit({ agent_id: closed, name: 'x' })],
    ['override before values', 400, visit({ name: 'x', timezone: 'Mars/Olympus' })],
    ['values before state', 422, visit({ agent_id: draft, timezone: 'Mars/Olympus' })],
    ['state', 409, visit({ agent_id: draft })],
  ];
  for (const [what, status, answering] of cases) t.equal((await answering).status, status, what);
});

t.test('an address has a limited number of starts a minute, at both gateways together', async (t) => {
  await earlyInAMinute();
  const from = '127.0.0.1';
  const answers = await Promise.all(
    Array.from({ length: PER_ADDRESS * 3 }, (_, index) => visit({}, { from }, index % 2 ? here : there)),
  );
  const made = answers.filter(({ status }) => status === 201);
  t.equal(made.length, PER_ADDRESS, 'however they are spread, and whatever the exposed one is told');
  for (const { status, headers, body } of answers.filter((answer) => !made.includes(answer))) {
    t.equal(status, 429);
    const wait = Number(headers.get('retry-after'));
    t.ok(wait >= 1 && wait <= 60, `${wait} s`);
    exactly(t, body, { status: 429, message: /this address/ });
  }
  t.equal((await visit({ name: 'x' }, { from })).status, 429, 'the limit is checked before the overrides');
  t.equal((await visit()).status, 201, 'another address is not concerned');
  t.equal((await here('sessions', { body: { agent_id: agentId } })).status, 201, 'nor is a key');
});

t.test('an address is what the trusted proxy says, from the right', async (t) => {
  await earlyInAMinute();
  for (let made = 0; made < PER_ADDRESS; made++)
    t.equal((await visit({}, { from: `10.9.9.${made}, 203.0.113.7` })).status, 201);
  t.equal(
    (await visit({}, { from: '10.1.1.1, 203.0.113.7' })).status,
    429,
    'what a client puts in front is not believed',
  );
  t.equal((await visit({}, { from: '203.0.113.7, 203.0.113.8' })).status, 201);
  for (let made = 0; made < PER_ADDRESS; made++)
    t.equal((await visit({}, { from: `2001:db8:1:2:${made}::1` })).status, 201);
  t.equal((await visit({}, { from: '2001:db8:1:2:ffff::9' })).status, 429, 'an IPv6 client has a /64');
  t.equal((await visit({}, { from: '2001:db8:1:3::1' })).status, 201);
  const id = await publicAgent();
  const spoofing = await Promise.all(
    Array.from({ length: PER_ADDRESS + 1 }, () => visit({ agent_id: id }, {}, there)),
  );
  t.equal(spoofing.filter(({ status }) => status === 429).length, 1, 'the exposed gateway believes nobody');
});

t.test('an agent has a limited number of starts a minute, at both gateways together', async (t) => {
  await earlyInAMinute();
  const [one, other] = [await publicAgent(), await publicAgent()];
  const answers = await Promise.all(Array.from({ length: PER_AGENT * 2 }, () => visit({ agent_id: one })));
  t.equal(answers.filter(({ status }) => status === 201).length, PER_AGENT);
  const elsewhere = await visit({ agent_id: one }, {}, there);
  t.equal(elsewhere.status, 429);
  exactly(t, elsewhere.body, { message: /this agent/ });
  t.equal((await visit({ agent_id: other })).status, 201);
});

t.test('in the next minute all may start again', async (t) => {
  await earlyInAMinute();
  const from = fresh();
  for (let made = 0; made < PER_ADDRESS; made++) await visit({}, { from });
  t.equal((await visit({}, { from })).status, 429);
  await sql`update public_limits set minute = minute - interval '1 minute'`;
  t.equal((await visit({}, { from })).status, 201);
});

t.test('a refusal takes nothing from the limits, whatever it is for', async (t) => {
  await earlyInAMinute();
  const from = fresh();
  const draft = await makeAgent(here, { published: false, change: { public_enabled: true, allowed_origins: [ORIGIN] } }); // oxfmt-ignore
  const refused: [number, Body, Visit?][] = [
    [400, {}, { body: '{' }],
    [422, { extra: 1 }],
    [404, { agent_id: 'agent_none' }],
    [403, {}, { origin: 'https://evil.com' }],
    [400, { name: 'x' }],
    [422, { timezone: 'Mars/Olympus' }],
    [409, { agent_id: draft }],
  ];
  for (let round = 0; round < PER_ADDRESS; round++)
    for (const [status, body, options] of refused)
      t.equal((await visit(body, { from, ...options })).status, status);
  for (let made = 0; made < PER_ADDRESS; made++) t.equal((await visit({}, { from })).status, 201);
  t.equal((await visit({}, { from })).status, 429);
});

t.test('a flood of refused requests is refused itself, before anything is looked at', async (t) => {
  const from = fresh();
  const most = LIMITS.session.publicPerMinute.refused;
  const flood = Array.from({ length: most }, () => patiently(() => visit({ extra: 1 }, { from })));
  for (const { status } of await Promise.all(flood)) if (status !== 422) t.fail(`${status}`);
  for (const [body, options] of [[{}], [{ extra: 1 }], [{}, { body: '{' }]] as [Body, Visit?][]) {
    const { status, headers, body: answer } = await visit(body, { from, ...options });
    exactly(t, [status, answer['message']], [429, /^Too many refused requests/]);
    t.match(headers.get('retry-after'), /^[1-9]\d?$/);
  }
  t.equal((await visit()).status, 201, 'another address is not concerned');
  t.equal((await here('sessions', { body: { agent_id: agentId }, headers: { 'x-forwarded-for': from } })).status, 201, 'nor is a key'); // oxfmt-ignore
});

t.test('an exhausted quota is 402 for a visitor as well', async (t) => {
  const workspaceId = randomIds.next('workspace');
  await sql`insert into workspaces (id, name, conversation_ms) values (${workspaceId}, 'Poor', 0)`;
  const { key } = await createKey(sql, randomIds, { workspaceId, name: 'poor' });
  const poor = await makeAgent((path, options) => here(path, { ...options, key }), {
    change: { public_enabled: true, allowed_origins: [ORIGIN] },
  });
  const answer = await visit({ agent_id: poor });
  t.same([answer.status, answer.body], [402, { status: 402, message: 'Out of API credit' }]);
});

t.test('the widget has the same gate', async (t) => {
  const widget = (id: string, origin?: string) =>
    here(`agents/${id}/widget`, { key: null, headers: origin === undefined ? {} : { origin } });
  const { status, body } = await widget(agentId, ORIGIN);
  t.same(
    [status, body],
    [
      200,
      {
        ...{ agent_name: 'Bakery', consent_required: false, text_contents: {} },
        ...{ transcript_enabled: true, text_input_enabled: true, mic_muting_enabled: true },
      },
    ],
  );
  t.equal((await widget(agentId, 'https://evil.com')).status, 403);
  t.equal((await widget(agentId)).status, 403);
  t.equal((await widget(await makeAgent(here), ORIGIN)).status, 403);
  t.equal((await widget('agent_none', ORIGIN)).status, 404);
});

t.test('the widget is told what the published version says, and what has no value is absent', async (t) => {
  const widget = {
    ...{ agent_name: 'Ada', greeting: 'Ask away.', proactive_message: '', consent_text: null },
    ...{ consent_required: true, transcript_enabled: false, text_input_enabled: false },
    ...{ mic_muting_enabled: false, text_contents: { start: 'Call', 'their.own-name': 'Words' } },
  };
  const id = await publicAgent({}, { widget });
  await here(`agents/${id}/config`, { method: 'PATCH', body: { widget: { greeting: 'A draft' } } });
  const { body } = await here(`agents/${id}/widget`, { key: null, headers: { origin: ORIGIN } });
  const { proactive_message: _, consent_text: __, ...shown } = widget;
  t.strictSame(body, shown);
});

t.test('an agent published at one gateway takes sessions at the other at once', async (t) => {
  for (let round = 0; round < 5; round++) {
    const id = await makeAgent(here, { config: { prompt: { system_prompt: `round ${round}` } } });
    const { status, body } = await there('sessions', { body: { agent_id: id } });
    t.equal(status, 201);
    await there(`agents/${id}/config`, { method: 'PATCH', body: { prompt: { system_prompt: 'next' } } });
    await there(`agents/${id}/publish`, { method: 'POST' });
    const next = await here('sessions', { body: { agent_id: id } });
    exactly(t, (await here(`sessions/${String(next.body['session_id'])}`)).body, { version_number: 2 });
    t.equal((await here(`sessions/${String(body['session_id'])}/end`, { method: 'POST' })).status, 204);
    exactly(
      t,
      (await there(`sessions/${String(body['session_id'])}`)).body,
      { status: 'failed' },
      'and ends from either',
    );
  }
});
