/** Sessions with a key, through a whole gateway (spec "Session creation"; native-and-platform.md 6.6, 6.7; fine point 12). */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { AccessToken, TokenVerifier } from 'livekit-server-sdk';
import t from 'tap';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { systemClock } from '../../contracts/clock.js';
import { randomIds } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import { createJoinTokens } from '../../gateway/join-tokens.js';
import { createKey } from '../../storage/keys.js';
import { type Body, type CallOptions, client, makeAgent } from '../fixtures/agents.js';
import { spawnGateway, startGateway, temporaryFolder, TEST_KEY, TONE } from '../fixtures/gateway.js';
import { pick, seeded } from '../fixtures/random.js';
import { startPostgres } from '../fixtures/postgres.js';
import { until } from '../fixtures/until.js';

t.setTimeout(240_000);

const SECRETS_KEY = 'a secret of these tests';
const postgres = await startPostgres(t);
const gateway = await startGateway({ DATABASE_URL: postgres.url, SECRETS_KEY, CONCURRENCY: '4' });
t.teardown(() => gateway.stop());
const { sql } = await postgres.open();
const call = client(gateway.base);

const ALL_OVERRIDES = ['first_message', 'system_prompt', 'voice_id', 'language'];
const agentId = await makeAgent(call, {
  config: {
    prompt: {
      system_prompt: 'You help {{name}} of {{place}}.',
      first_message_mode: 'fixed',
      first_message: 'Hello {{ name }}, {{unknown}}!',
      first_message_prompt: 'Greet {{name}}.',
    },
    conversation: { timezone: 'Europe/Berlin', max_duration_seconds: 600 },
    webhooks: { post_call: { url: 'https://hooks.example.com/a' } },
  },
  change: { overrides_allowed: ALL_OVERRIDES },
});

const create = (body: Body, options: CallOptions = {}) =>
  call('sessions', { body: { agent_id: agentId, ...body }, ...options });

const planOf = async ({ body }: { body: Body }): Promise<Body> => {
  const [row] = await sql<
    { plan: Body }[]
  >`select plan from sessions where id = ${String(body['session_id'])}`;
  return row!.plan;
};
const configOf = async (answer: { body: Body }) => (await planOf(answer))['config'] as Record<string, Body>;
const read = async (id: unknown) => (await call(`sessions/${String(id)}`)).body;

/** Makes room for the next test: no session waits or talks. */
const endAll = () => sql`
  update sessions set status = 'failed', ended_at = now(), ended_reason = 'error' where ended_at is null`;
t.afterEach(async () => {
  await endAll();
});

t.test('a session is answered with what a client joins by', async (t) => {
  const { status, body } = await create({});
  t.equal(status, 201);
  t.same(Object.keys(body).sort(), [
    'expires_at',
    'max_duration_seconds',
    'media_url',
    'session_id',
    'token',
    'transport',
  ]);
  t.equal(body['transport'], 'media');
  t.equal(body['media_url'], gateway.base.replace('http', 'ws'));
  t.equal(body['max_duration_seconds'], 600);
  const [row] =
    await sql`select expires_at, created_at from sessions where id = ${String(body['session_id'])}`;
  t.equal(body['expires_at'], (row!['expires_at'] as Date).toISOString());
  t.equal(+(row!['expires_at'] as Date) - +(row!['created_at'] as Date), LIMITS.session.joinWindowMs);
  const claims = JSON.parse(
    Buffer.from(String(body['token']).split('.')[1] ?? '', 'base64url').toString(),
  ) as Body;
  t.match(claims, {
    sub: 'user',
    video: {
      room: body['session_id'],
      roomJoin: true,
      canPublish: true,
      canSubscribe: true,
      canPublishData: true,
    },
    attributes: { use: 'join' },
  });
  t.ok(
    Math.abs(Number(claims['exp']) * 1000 - Date.parse(String(body['expires_at']))) <= 2000,
    'as old as the window',
  );
});

t.test(
  'shapes: 422 with every problem, unknown fields refused (fine point 18: session length)',
  async (t) => {
    const cases: [Body, ...(string | number)[][]][] = [
      [{ extra: 1 }, ['extra']],
      [{ max_duration_seconds: 60 }, ['max_duration_seconds']],
      [{ overrides: { max_duration_seconds: 60 } }, ['overrides', 'max_duration_seconds']],
      [{ overrides: { language: 'it' } }, ['overrides', 'language']],
      [{ overrides: 'x' }, ['overrides']],
      [{ name: 'x'.repeat(129) }, ['name']],
      [{ end_user_id: 'x'.repeat(257) }, ['end_user_id']],
      [{ timezone: 'x'.repeat(65) }, ['timezone']],
      [{ client_timezone: 'x'.repeat(65) }, ['client_timezone']],
      [{ overrides: { first_message: 'x'.repeat(10_001) } }, ['overrides', 'first_message']],
      [{ overrides: { first_message_prompt: 'x'.repeat(10_001) } }, ['overrides', 'first_message_prompt']],
      [{ overrides: { voice_id: 'x'.repeat(257) } }, ['overrides', 'voice_id']],
      [{ metadata: [] }, ['metadata']],
      [{ dynamic_variables: [1] }, ['dynamic_variables']],
      [{ tool_events: 'yes' }, ['tool_events']],
      [{ record_audio: 1 }, ['record_audio']],
      [{ world_context: 'no' }, ['world_context']],
      [{ agent_id: '' }, ['agent_id']],
      [{ agent_id: 5 }, ['agent_id']],
      [{ agent_id: 'x'.repeat(129) }, ['agent_id']],
      [{ name: 'a\0b' }, ['name']],
      [{ metadata: { a: '\ud800' } }, ['metadata', 'a']],
      [{ extra: 1, name: 7, tool_events: 3 }, ['extra'], ['name'], ['tool_events']],
    ];
    for (const [body, ...locs] of cases) {
      const answer = await create(body);
      t.equal(answer.status, 422, JSON.stringify(body).slice(0, 100));
      const errors = answer.body['errors'] as { loc: unknown; msg: string; type: string }[];
      t.same(
        errors.map(({ loc }) => JSON.stringify(loc)).sort(),
        locs.map((loc) => JSON.stringify(loc)).sort(),
      );
      t.equal(answer.body['message'], errors[0]?.msg);
    }
    t.equal((await call('sessions', { body: {} })).status, 422);
    t.equal((await create({ agent_id: 'x'.repeat(128) })).status, 404, 'long enough for an id');
  },
);

t.test('values: 422 on one side of each bound, 201 on the other (fine points 5, 19)', async (t) => {
  const variables = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`v${i}`, i]));
  const metadata = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });
  const words = (count: number) => 'a '.repeat(count - 1) + 'a';
  const fine: Body[] = [
    {
      name: 'x'.repeat(128),
      end_user_id: 'x'.repeat(256),
      timezone: 'Asia/Tokyo',
      client_timezone: 'x'.repeat(64),
    },
    { timezone: 'UTC', metadata: metadata(16 * 1024), dynamic_variables: variables(50) },
    { dynamic_variables: { a: 'x'.repeat(1000), B_2: -1.5e300, c: false, constructor: 'own' } },
    { overrides: { first_message: 'x'.repeat(10_000), voice_id: 'x'.repeat(256), language: 'en' } },
    { overrides: { first_message_prompt: 'x'.repeat(10_000), system_prompt: words(4000) } },
    // Tokens count as sent: rendered, this one is far longer, and as long as it may be.
    { overrides: { system_prompt: '{{a}}'.repeat(100) }, dynamic_variables: { a: 'x '.repeat(500) } },
  ];
  for (const body of fine) {
    const answer = await create(body);
    t.equal(answer.status, 201, JSON.stringify(answer.body));
    await endAll();
  }
  const wrong: [Body, (string | number)[]][] = [
    [{ timezone: 'Mars/Olympus' }, ['timezone']],
    [{ timezone: '' }, ['timezone']],
    [{ timezone: '+01:00' }, ['timezone']],
    [{ metadata: metadata(16 * 1024 + 1) }, ['metadata']],
    [{ metadata: { a: 'ü'.repeat(8200) } }, ['metadata']],
    [{ dynamic_variables: variables(51) }, ['dynamic_variables']],
    [{ dynamic_variables: { a: 'x'.repeat(1001) } }, ['dynamic_variables', 'a']],
    [{ dynamic_variables: { '1a': 1 } }, ['dynamic_variables', '1a']],
    [{ dynamic_variables: { _a: 1 } }, ['dynamic_variables', '_a']],
    [{ dynamic_variables: { 'a-b': 1 } }, ['dynamic_variables', 'a-b']],
    [{ dynamic_variables: { '': 1 } }, ['dynamic_variables', '']],
    [{ dynamic_variables: { a: null } }, ['dynamic_variables', 'a']],
    [{ dynamic_variables: { a: {} } }, ['dynamic_variables', 'a']],
    [{ dynamic_variables: { a: [] } }, ['dynamic_variables', 'a']],
    [{ overrides: { first_message: 'a', first_message_prompt: 'b' } }, ['overrides', 'first_message_prompt']],
    [{ overrides: { system_prompt: words(4001) } }, ['overrides', 'system_prompt']],
    [{ overrides: { system_prompt: '{{a}}'.repeat(101) }, dynamic_variables: { a: 'x'.repeat(1000) } }, ['dynamic_variables']],
  ]; // prettier-ignore
  for (const [body, loc] of wrong) {
    const answer = await create(body);
    t.equal(answer.status, 422, JSON.stringify(body).slice(0, 100));
    t.match(answer.body, { status: 422, errors: [{ loc }] });
  }
});

t.test('errors win in the order of fine point 12', async (t) => {
  const draft = await makeAgent(call, { published: false });
  const archived = await makeAgent(call, { change: { status: 'archived' } });
  const wrongValue = { timezone: 'Mars/Olympus' };
  const at = (agent: string, body: Body = {}, options: CallOptions = {}) =>
    call('sessions', { body: { agent_id: agent, ...body }, ...options });
  const cases: [string, number, Promise<{ status: number; body: Body }>, string?][] = [
    ['malformed JSON before the key', 400, call('sessions', { body: '{', key: 'wrong' }), 'Malformed JSON'],
    ['key before shape', 401, at(draft, { extra: 1 }, { key: 'wrong' }), 'Invalid token'],
    ['shape before agent', 422, at('agent_none', { extra: 1 }), 'unknown field extra'],
    ['agent before values', 404, at('agent_none', wrongValue), 'Agent not found'],
    ['refused override before values', 400, at(draft, { overrides: { language: 'ja' }, ...wrongValue })],
    ['values before state', 422, at(draft, wrongValue)],
    ['state: a draft', 409, at(draft), 'Agent has no published version'],
    ['state: archived', 409, at(archived), 'Agent is archived'],
  ];
  for (const [what, status, answering, message] of cases) {
    const { status: got, body } = await answering;
    t.equal(got, status, what);
    t.equal(body['status'], status);
    if (message !== undefined) t.equal(body['message'], message, what);
  }
  const bare = await fetch(`${gateway.base}/v1/agent/sessions`, {
    method: 'POST',
    headers: gateway.authorization,
    body: '{}',
  });
  t.equal(bare.status, 415);
  for (const authorization of ['', 'Basic abc', 'Bearer', 'Bearer  '])
    t.equal(
      (await at(agentId, {}, { key: null, headers: { authorization } })).status,
      401,
      `"${authorization}" is no public request`,
    );
});

t.test("another workspace's agents and sessions are not found", async (t) => {
  const workspaceId = randomIds.next('workspace');
  await sql`insert into workspaces (id, name) values (${workspaceId}, 'Other')`;
  const { key } = await createKey(sql, randomIds, { workspaceId, name: 'other' });
  const { body } = await create({});
  t.equal((await create({}, { key })).status, 404);
  for (const [path, method] of [
    ['', 'GET'],
    ['/recording', 'GET'],
    ['/end', 'POST'],
  ] as const) {
    const answer = await call(`sessions/${String(body['session_id'])}${path}`, { method, key });
    t.same([answer.status, answer.body], [404, { status: 404, message: 'Session not found' }], path);
  }
  t.same((await call('sessions?status=pending', { key })).body['sessions'], []);
  t.equal((await call(`agents/${agentId}/preview`, { method: 'POST', key })).status, 404);
  t.match(await read(body['session_id']), { status: 'pending' });
});

t.test('PUBLIC_URL is where clients join, whatever host was asked (fine point 7)', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  const { port } = holder.address() as { port: number };
  holder.close();
  await once(holder, 'close');
  const [PORT, DATA_DIR] = [String(port), await temporaryFolder()];
  const shared = { DATABASE_URL: postgres.url, SECRETS_KEY, API_KEY: TEST_KEY };
  const { child } = spawnGateway({
    ...shared,
    ...TONE,
    PORT,
    DATA_DIR,
    PUBLIC_URL: 'https://speech.example.com',
  });
  t.teardown(async () => {
    const exited = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await exited;
    await rm(DATA_DIR, { recursive: true, force: true });
  });
  const base = `http://127.0.0.1:${PORT}`;
  const ready = () => fetch(`${base}/health`).then(({ status }) => status === 200).catch(() => false); // prettier-ignore
  await until('the gateway is ready', ready);
  const answer = await client(base)('sessions', { body: { agent_id: agentId } });
  t.equal(answer.status, 201);
  t.equal(answer.body['media_url'], 'wss://speech.example.com');
});

t.test('overrides need the permission of the agent, field by field', async (t) => {
  const fields: [string, string, string][] = [
    ['first_message', 'first_message', 'Hi'],
    ['first_message_prompt', 'first_message', 'Greet'],
    ['system_prompt', 'system_prompt', 'Be kind'],
    ['voice_id', 'voice_id', 'abc'],
    ['language', 'language', 'en'],
  ];
  const none = await makeAgent(call);
  for (const [field, permission, value] of fields) {
    const only = await makeAgent(call, { change: { overrides_allowed: [permission] } });
    const others = await makeAgent(call, {
      change: { overrides_allowed: ALL_OVERRIDES.filter((one) => one !== permission) },
    });
    const status = async (agent: string) =>
      (await create({ agent_id: agent, overrides: { [field]: value } })).status;
    t.same([await status(only), await status(others), await status(none)], [201, 400, 400], field);
  }
  t.equal(
    (await create({ agent_id: none, overrides: { language: null }, name: null })).status,
    201,
    'null is absent',
  );
});

t.test('variables are rendered into the prompt, once, and kept nowhere else', async (t) => {
  const answer = await create({
    dynamic_variables: { name: 'Ada {{place}} $& $1', place: 7, constructor: true },
    overrides: {
      system_prompt: 'You help {{name}}; {{ place }}, {{  place  }}, {{constructor}}, {{toString}}, {{}}.',
    },
  });
  t.equal(answer.status, 201);
  t.match((await configOf(answer))['prompt'], {
    system_prompt: 'You help Ada {{place}} $& $1; 7, {{  place  }}, true, {{toString}}, {{}}.',
    first_message_mode: 'fixed',
    first_message: 'Hello Ada {{place}} $& $1, {{unknown}}!',
    first_message_prompt: 'Greet Ada {{place}} $& $1.',
  });
  const id = String(answer.body['session_id']);
  const shown = await read(id);
  t.notMatch(JSON.stringify(shown), /Ada/);
  t.same(shown['overrides'], {
    system_prompt: 'You help {{name}}; {{ place }}, {{  place  }}, {{constructor}}, {{toString}}, {{}}.',
  });
  await call(`sessions/${id}/end`, { method: 'POST' });
  const [row] = await sql`select to_jsonb(s)::text as all from sessions s where id = ${id}`;
  t.notMatch(row!['all'], /Ada/, 'and forgotten with the end');
});

t.test('overrides take effect for this session and are kept as they came', async (t) => {
  const overrides = { first_message: 'Ahoy {{name}}', voice_id: 'v1', language: 'fr' };
  const answer = await create({ overrides, dynamic_variables: { name: 'X' } });
  const config = await configOf(answer);
  t.match(config, {
    prompt: {
      first_message_mode: 'fixed',
      first_message: 'Ahoy X',
      system_prompt: 'You help X of {{place}}.',
    },
    voice: { voice_id: 'v1', speaking_language: 'fr' },
  });
  t.same((await read(answer.body['session_id']))['overrides'], overrides);
  const prompted = await create({ overrides: { first_message_prompt: 'Sing' } });
  t.match((await configOf(prompted))['prompt'], {
    first_message_mode: 'prompt',
    first_message_prompt: 'Sing',
  });
  const plain = await create({});
  t.match((await configOf(plain))['voice'], { voice_id: 'default', speaking_language: 'en' });
  t.same((await read(plain.body['session_id']))['overrides'], {});
});

t.test("the timezone is the request's, the agent's, the browser's, or UTC", async (t) => {
  const nowhere = await makeAgent(call);
  const cases: [Body, string][] = [
    [{ timezone: 'Asia/Tokyo', client_timezone: 'America/Lima' }, 'Asia/Tokyo'],
    [{ client_timezone: 'America/Lima' }, 'Europe/Berlin'],
    [{ agent_id: nowhere, client_timezone: 'America/Lima' }, 'America/Lima'],
    [{ agent_id: nowhere, client_timezone: 'not/a zone' }, 'UTC'],
    [{ agent_id: nowhere }, 'UTC'],
  ];
  for (const [body, timezone] of cases) {
    const answer = await create(body);
    t.equal((await planOf(answer))['timezone'], timezone);
    t.equal((await read(answer.body['session_id']))['timezone'], timezone);
    await endAll();
  }
});

t.test('choices of the session: recording, tool events, world context', async (t) => {
  const choices = { recordAudio: true, toolEvents: true, worldContext: true };
  t.match(await planOf(await create({})), choices);
  t.match(
    await planOf(await create({ record_audio: null, tool_events: null, world_context: null })),
    choices,
  );
  const none = { record_audio: false, tool_events: false, world_context: false };
  t.match(await planOf(await create(none)), { recordAudio: false, toolEvents: false, worldContext: false });
  const config = (await call(`agents/${agentId}/config`)).body;
  t.match(config, { conversation: { record_audio: true } }, 'the agent stays as it is');
});

t.test('metadata comes back as it went in', async (t) => {
  const metadata = {
    z: 1,
    a: [null, { '10': 'x', '9': 'y' }],
    'ü "q"': '\u2028',
    __proto__x: { deep: [[[]]] },
  };
  const { body } = await create({ metadata, name: 'Call 7', end_user_id: 'customer-42' });
  const detail = await read(body['session_id']);
  t.equal(JSON.stringify(detail['metadata']), JSON.stringify(metadata));
  t.match(detail, {
    session_id: body['session_id'],
    agent_id: agentId,
    agent_name: 'Bakery',
    name: 'Call 7',
    status: 'pending',
    source: 'api_key',
    caller_number: null,
    dialed_number: null,
    started_at: null,
    ended_at: null,
    duration_seconds: null,
    end_user_id: 'customer-42',
    version_number: 1,
    ended_reason: null,
    items: [],
    analysis: null,
  });
  const bare = await read((await create({})).body['session_id']);
  t.match(bare, { metadata: {}, name: null, end_user_id: null });
});

t.test('a session runs what was published, not the draft', async (t) => {
  const id = await makeAgent(call, { config: { prompt: { system_prompt: 'one' } } });
  await call(`agents/${id}/config`, { method: 'PATCH', body: { prompt: { system_prompt: 'two' } } });
  const first = await create({ agent_id: id });
  t.equal((await configOf(first))['prompt']!['system_prompt'], 'one');
  await call(`agents/${id}/publish`, { method: 'POST' });
  const second = await create({ agent_id: id });
  t.equal((await configOf(second))['prompt']!['system_prompt'], 'two');
  t.match(await read(second.body['session_id']), { version_number: 2 });
  t.match(await read(first.body['session_id']), { version_number: 1 });
  t.equal((await call(`agents/${id}`, { method: 'DELETE' })).status, 204);
  t.match(await read(first.body['session_id']), { agent_name: 'Bakery' }, 'records outlive the agent');
});

t.test('a language that no engine recognises is 409 (fine point 10)', async (t) => {
  const plain = await startGateway({
    DATABASE_URL: postgres.url,
    SECRETS_KEY,
    STT_ENGINES: 'openai-compatible',
    REMOTE_OPENAI_URL: 'http://127.0.0.1:9/v1',
    REMOTE_OPENAI_LANGUAGES: 'en',
  });
  t.teardown(() => plain.stop());
  const there = client(plain.base);
  const body = { agent_id: agentId, overrides: { language: 'ja' } };
  const answer = await there('sessions', { body });
  t.same([answer.status, answer.body['message']], [409, 'No speech recognition for "ja"']);
  t.equal((await there('sessions', { body: { agent_id: agentId } })).status, 201);
});

t.test(
  'previews run the draft, without webhooks, unseen in lists, and need a key (fine point 21)',
  async (t) => {
    const id = await makeAgent(call, {
      published: false,
      config: {
        prompt: { system_prompt: 'draft of {{x}}' },
        webhooks: { post_call: { url: 'https://hooks.example.com/a' } },
        conversation: { max_duration_seconds: 3600 },
      },
    });
    const preview = (body?: Body) => call(`agents/${id}/preview`, { method: 'POST', ...(body && { body }) });
    const answer = await preview({ dynamic_variables: { x: 'X' } });
    t.equal(answer.status, 201);
    t.equal(answer.body['max_duration_seconds'], 600);
    t.match(await configOf(answer), { prompt: { system_prompt: 'draft of X' }, webhooks: { post_call: [] } });
    t.match(await read(answer.body['session_id']), { source: 'dashboard', version_number: null });
    t.same((await call(`sessions?status=pending&agent_id=${id}`)).body['sessions'], []);
    t.equal((await preview()).status, 201, 'the body may be missing');
    t.equal((await preview({ agent_id: id })).status, 422);
    t.equal((await call(`agents/${id}/preview`, { method: 'POST', key: null })).status, 401);
    t.equal((await call('agents/agent_none/preview', { method: 'POST' })).status, 404);
  },
);

t.test('live sessions count against the concurrency of the workspace (fine point 6)', async (t) => {
  for (let made = 0; made < 4; made++) {
    const { body } = await create({});
    await sql`update sessions set status = 'active', started_at = now() where id = ${String(body['session_id'])}`;
  }
  const full = await create({});
  t.equal(full.status, 429);
  t.ok(Number(full.headers.get('retry-after')) >= 1);
  await endAll();
  t.equal((await create({})).status, 201);
});

t.test('sessions that wait to be joined are bounded', async (t) => {
  const [workspace] = await sql`select workspace_id as id from sessions limit 1`;
  const pending = (count: number) => sql`
    insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides,
      expires_at, max_duration_seconds)
    select 'many_' || n, ${workspace!['id'] as string}, 'a', 'A', '', 'api_key', 'UTC', '{}', '{}', now() + interval '1 hour', 60
    from generate_series(1, ${count}::int) n`;
  await pending(LIMITS.session.pending - 1);
  t.equal((await create({})).status, 201);
  t.equal((await create({})).status, 429);
  await sql`delete from sessions where id like 'many_%'`;
});

t.test('an exhausted quota is 402, after all else (fine point 12)', async (t) => {
  const workspaceId = randomIds.next('workspace');
  await sql`insert into workspaces (id, name, conversation_ms, synthesis_characters) values (${workspaceId}, 'Poor', 0, 100)`;
  const { key } = await createKey(sql, randomIds, { workspaceId, name: 'poor' });
  const poor = (path: string, options?: CallOptions) => call(path, { ...options, key });
  const id = await makeAgent(poor);
  const draft = await makeAgent(poor, { published: false });
  t.equal((await poor('sessions', { body: { agent_id: draft } })).status, 409, 'the state comes before it');
  const answer = await poor('sessions', { body: { agent_id: id } });
  t.same([answer.status, answer.body], [402, { status: 402, message: 'Out of API credit' }]);
});

t.test('lists: newest first, filters, both paging modes', async (t) => {
  const id = await makeAgent(call, { name: 'Listed' });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await create({ agent_id: id, name });
  const list = async (query: string) => {
    const { status, body } = await call(`sessions?${query}`);
    t.equal(status, 200, query);
    return body as { sessions: Body[]; has_more: boolean; next_cursor: string | null; total: number | null };
  };
  const namesOf = ({ sessions }: { sessions: Body[] }) => sessions.map(({ name }) => name).join('');
  t.equal(namesOf(await list(`agent_id=${id}`)), '', 'pending ones only where they are asked for');
  await sql`update sessions set status = 'completed', ended_at = now(), ended_reason = 'hangup', caller_number = '+1' || name
    where agent_id = ${id} and name in ('a', 'b', 'c')`;
  await sql`update sessions set status = 'active', started_at = now() where agent_id = ${id} and name = 'd'`;
  t.equal(namesOf(await list(`agent_id=${id}`)), 'dcba');
  t.equal(namesOf(await list(`agent_id=${id}&status=pending`)), 'e');
  t.equal(namesOf(await list(`agent_id=${id}&status=pending,active`)), 'ed');
  t.equal(namesOf(await list(`agent_id=${id}&status=failed,unknown`)), '');
  t.equal(namesOf(await list(`agent_id=${id}&caller_number=%2B1b`)), 'b');
  t.equal(namesOf(await list('agent_id=nobody')), '');
  const { sessions } = await list(`agent_id=${id}&status=completed`);
  const [third, second, first] = sessions as [Body, Body, Body];
  const moment = (session: Body) => encodeURIComponent(String(session['created_at']));
  t.equal(namesOf(await list(`agent_id=${id}&created_after=${moment(second)}&status=completed`)), 'cb');
  t.equal(namesOf(await list(`agent_id=${id}&created_before=${moment(second)}`)), 'ba');
  t.equal(
    namesOf(await list(`agent_id=${id}&created_after=2020-01-01&created_before=${moment(first)}`)),
    'a',
  );
  t.equal(
    namesOf(
      await list(
        `agent_id=${id}&created_after=${String(third['created_at']).replace('Z', '+00:00')}&status=completed`,
      ),
    ),
    'c',
  );
  const page = await list(`agent_id=${id}&page_size=3`);
  t.match(page, { has_more: true, total: null });
  t.equal(namesOf(page), 'dcb');
  const rest = await list(`agent_id=${id}&page_size=3&cursor=${page.next_cursor}&include_total=true`);
  t.match(rest, { has_more: false, next_cursor: null, total: 4 });
  t.equal(namesOf(rest), 'a');
  const second2 = await list(`agent_id=${id}&page_size=3&page=2`);
  t.match(second2, { has_more: false, total: 4 });
  t.equal(namesOf(second2), 'a');
  for (const query of [
    'page_size=100',
    'page=100001&page_size=1',
    `agent_id=${'x'.repeat(128)}&caller_number=${'1'.repeat(64)}`,
  ])
    await list(query);
  for (const query of ['page=1&cursor=x', 'cursor=x', 'page_size=0', 'page_size=101', 'page=0', 'page=100002&page_size=1', 'status=lost',
    'status=pending,', 'created_after=yesterday', 'created_before=2026-13-01', 'include_total=maybe', `agent_id=${'x'.repeat(129)}`, `caller_number=${'1'.repeat(65)}`])
    t.equal((await call(`sessions?${query}`)).status, 400, query); // prettier-ignore
  const row = page.sessions[0]!;
  t.notOk('items' in row || 'analysis' in row || 'overrides' in row, 'rows are the short form');
});

t.test(
  'a session is ended from outside: 204, once for its record, never a second time (fine point 13)',
  async (t) => {
    const { body } = await create({});
    const id = String(body['session_id']);
    const end = () => call(`sessions/${id}/end`, { method: 'POST' });
    t.equal((await end()).status, 204);
    const ended = await read(id);
    t.match(ended, {
      status: 'failed',
      ended_reason: 'ended_by_api',
      started_at: null,
      duration_seconds: null,
    });
    t.equal((await end()).status, 204);
    t.same(await read(id), ended, 'an ended session stays as it ended');
    t.equal(
      (await sql`select 1 from deliveries where session_id = ${id}`).length,
      0,
      'nobody is told of a call that was none',
    );
    const { body: live } = await create({});
    await sql`update sessions set status = 'active', started_at = now() - interval '90.7 seconds' where id = ${String(live['session_id'])}`;
    t.equal((await call(`sessions/${String(live['session_id'])}/end`, { method: 'POST' })).status, 204);
    t.match(await read(live['session_id']), {
      status: 'completed',
      ended_reason: 'ended_by_api',
      duration_seconds: 90,
    });
    for (const wrong of ['none', 'sess_000000000000000000000000', '%00', 'a b', 'x'.repeat(200)])
      t.equal((await call(`sessions/${wrong}/end`, { method: 'POST' })).status, 404, wrong);
  },
);

t.test('what was never recorded has no recording', async (t) => {
  const { body } = await create({});
  const answer = await call(`sessions/${String(body['session_id'])}/recording`);
  t.same([answer.status, answer.body], [404, { status: 404, message: 'Recording not found' }]);
});

t.test('join tokens: ours only, unchanged, in time', async (t) => {
  const key = { id: 'gateway', secret: 'a'.repeat(64) };
  const tokens = createJoinTokens(key, systemClock);
  const claims = { sessionId: 'sess_1', identity: 'user', use: 'join' } as const;
  const soon = new Date(Date.now() + 60_000);
  const token = await tokens.issue(claims, soon);
  t.same(await tokens.verify(token), claims);
  t.match(
    await new TokenVerifier(key.id, key.secret).verify(token),
    { video: { room: 'sess_1' } },
    'for a cluster too',
  );
  const again = await tokens.issue({ ...claims, use: 'rejoin' }, soon);
  t.equal((await tokens.verify(again))?.use, 'rejoin');
  const [head, payload, signature] = token.split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const other = createJoinTokens({ ...key, secret: 'b'.repeat(64) }, systemClock);
  const foreign = new AccessToken(key.id, key.secret, { identity: 'user' });
  foreign.addGrant({ roomJoin: true, room: 'sess_1' });
  for (const [what, wrong] of [
    ['garbage', 'x'],
    ['empty', ''],
    ['huge', 'x'.repeat(100_000)],
    ['unsigned', `${none}.${payload}.`],
    ['another signature', `${head}.${payload}.${signature!.slice(1)}A`],
    ['of another installation', await other.issue(claims, soon)],
    ['too old', await tokens.issue(claims, new Date(Date.now() - 60_000))],
    ['without a use', await foreign.toJwt()],
  ] as const)
    t.equal(await tokens.verify(wrong), undefined, what);
});

t.test('a signalling frame over 1 MiB ends its socket with 1009 (fine point 5)', async (t) => {
  const { body } = await create({});
  const socket = new WebSocket(`${String(body['media_url'])}/rtc/v1?access_token=${String(body['token'])}`);
  t.teardown(() => socket.terminate());
  let [pongs, code] = [0, 0];
  socket.on('pong', () => (pongs += 1));
  socket.on('close', (closed) => (code = closed));
  await once(socket, 'open');
  socket.send(new Uint8Array(LIMITS.socket.rtcFrameBytes));
  socket.ping();
  await until('the largest frame has arrived', () => pongs === 1);
  t.equal(code, 0, 'which says nothing, and ends nothing');
  socket.send(new Uint8Array(LIMITS.socket.rtcFrameBytes + 1));
  await until('the socket is closed', () => code !== 0);
  t.equal(code, 1009);
  await call(`sessions/${String(body['session_id'])}/end`, { method: 'POST' });
});

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Body }>> };
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Body }>> }>
  >;
}

t.test('requests out of the description, whole and broken, are answered as it says', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, Described>>;
  };
  const operations = Object.entries(paths)
    .filter(([path]) => /^\/v1\/agent\/(sessions|.*(preview|widget)$)/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  t.equal(operations.length, 7);
  const random = seeded(20_260_102);
  const junk = [
    null,
    0,
    -1,
    1.5,
    true,
    '',
    'x',
    'UTC',
    'en',
    '{{a}}',
    '\0',
    '\ud800',
    [],
    {},
    { a: 1 },
    { a: { b: [] } },
    'x'.repeat(5000),
  ] as const;
  const fields = ['agent_id', 'name', 'overrides', 'dynamic_variables', 'metadata', 'timezone', 'client_timezone', 'tool_events', 'end_user_id', 'colour'] as const; // prettier-ignore
  const inner = [
    'language',
    'first_message',
    'first_message_prompt',
    'system_prompt',
    'voice_id',
    'colour',
  ] as const;
  const bodyOf = (): unknown => {
    const body: Body = { agent_id: agentId };
    if (random() < 0.3) return body;
    for (let changes = 0; changes < 3; changes++) body[pick(random, fields)] = pick(random, junk);
    if (random() < 0.5) body['overrides'] = { [pick(random, inner)]: pick(random, junk) };
    return random() < 0.05 ? pick(random, junk) : body;
  };
  const compiled = new Map<Body, ReturnType<typeof Compile>>();
  const fits = (schema: Body, value: unknown): boolean => {
    const known = compiled.get(schema) ?? Compile(schema);
    compiled.set(schema, known);
    return known.Check(value);
  };
  const ids: string[] = [String((await create({})).body['session_id'])];
  const seen = new Map<number, number>();
  for (let round = 0; round < 100; round++) {
    if (round % 10 === 9) await endAll();
    for (const { path, method, operation } of operations) {
      const session = random() < 0.2 ? pick(random, ['x', '%00', '%25', 'ü']) : (ids.at(-1) ?? '');
      const at = path
        .replace('/v1/agent/', '')
        .replace('{session_id}', session)
        .replace('{agent_id}', random() < 0.1 ? 'x' : agentId);
      const query = (operation.parameters ?? [])
        .filter((row) => row.in === 'query' && random() < 0.2)
        .map(
          ({ name }) =>
            `${name}=${encodeURIComponent(pick(random, ['1', 'x', '', '2026-01-01', 'pending', 'true', '100000000', 'Ö']))}`,
        );
      const answer = await call(`${at}?${query.join('&')}`, {
        method: method.toUpperCase(),
        key: random() < 0.2 ? null : TEST_KEY,
        ...(random() < 0.3 && { headers: { origin: 'https://www.example.com' } }),
        ...(operation.requestBody && { body: bodyOf() }),
      });
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      const shown = `${method} ${at}?${query.join('&')} → ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
      const response = operation.responses[String(answer.status)];
      const schema = response?.content?.['application/json']?.schema;
      if (answer.status >= 500 || !response) t.fail(shown);
      else if (schema && !fits(schema, answer.body)) t.fail(`another shape: ${shown}`);
      if (answer.status === 201) ids.push(String(answer.body['session_id']));
    }
  }
  for (const status of [200, 201, 204, 400, 401, 403, 404, 422])
    t.ok((seen.get(status) ?? 0) > 3, `${status}: ${seen.get(status)}`);
});
