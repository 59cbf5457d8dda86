/**
 * Creating sessions with a key, through a whole gateway: answers, refusals and their order, and the number of sessions
 * (docs/contract/platform.md 6.6; decision 12).
 */
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createKey } from '../../../storage/keys/keys.js';
import { type Body, type CallOptions, client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { freePort } from '../../fixtures/free-port.js';
import { spawnGateway, TEST_KEY, TEST_SECRET } from '../../fixtures/gateway.js';
import { startSessions } from '../../fixtures/platform/sessions.js';
import { until } from '../../fixtures/until.js';
import { temporaryFolder } from '../../fixtures/folders.js';

const { url, gateway, sql, workspaceId, key, call, agentId, create, read, endAll } = await startSessions(t);

/** Starts a second gateway on the same database, with other settings; resolves with a client of it. */
async function startElsewhere() {
  const PORT = String(await freePort());
  const DATA_DIR = temporaryFolder();
  const { child } = spawnGateway({
    DATABASE_URL: url,
    SECRETS_KEY: TEST_SECRET,
    API_KEY: TEST_KEY,
    PORT,
    DATA_DIR,
    PUBLIC_URL: 'https://speech.example.com',
    CALLS_PER_WORKSPACE: '4',
    PHONE_CALLS_PER_DAY: '5',
    PHONE_ALLOW_SHORT: '112',
    PHONE_PREMIUM: 'refuse',
    TTS_ENGINES: 'openai-compatible,tone',
    STT_ENGINES: 'openai-compatible',
    REMOTE_OPENAI_URL: 'http://127.0.0.1:9/v1',
    REMOTE_OPENAI_LANGUAGES: 'en',
  });
  t.teardown(async () => {
    const exited = once(child, 'exit');
    if (child.exitCode === null && child.kill('SIGTERM')) await exited;
    await rm(DATA_DIR, { recursive: true, force: true });
  });
  const base = `http://127.0.0.1:${PORT}`;
  const ready = () => fetch(`${base}/health`).then(({ status }) => status === 200).catch(() => false); // oxfmt-ignore
  await until('the gateway is ready', ready);
  return client(base, key);
}
const there = await startElsewhere();

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
  t.equal(+(row!['expires_at'] as Date) - +(row!['created_at'] as Date), CALL_TIMES.joinWindowMs);
  const claims = JSON.parse(
    Buffer.from(String(body['token']).split('.')[1] ?? '', 'base64url').toString(),
  ) as Body;
  exactly(t, claims, {
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

t.test('shapes: 422 with every problem, unknown fields refused (decision 18: session length)', async (t) => {
  const cases: [Body, ...(string | number)[][]][] = [
    [{ extra: 1 }, ['extra']],
    [{ max_duration_seconds: 60 }, ['max_duration_seconds']],
    [{ overrides: { max_duration_seconds: 60 } }, ['overrides', 'max_duration_seconds']],
    [{ overrides: { language: 'it' } }, ['overrides', 'language']],
    [{ overrides: 'x' }, ['overrides']],
    [{ name: 'x'.repeat(129) }, ['name']],
    [{ end_user_id: 'x'.repeat(257) }, ['end_user_id']],
    [{ timezone: 'x'.repeat(65) }, ['timezone']],
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
});

t.test('values: 422 on one side of each bound, 201 on the other (decisions 5, 19)', async (t) => {
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
    { overrides: { first_message: 'x'.repeat(10_000), voice_id: 'alloy', language: 'en' } },
    { overrides: { first_message_prompt: 'x'.repeat(10_000), system_prompt: words(4000) } },
    // Tokens are counted as sent, not as rendered: rendered, this prompt is far longer.
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
    [{ overrides: { voice_id: 'nobody' } }, ['overrides', 'voice_id']],
    [{ overrides: { voice_id: 'x'.repeat(256) } }, ['overrides', 'voice_id']],
    [{ overrides: { first_message: 'a', first_message_prompt: 'b' } }, ['overrides', 'first_message_prompt']],
    [{ overrides: { system_prompt: words(4001) } }, ['overrides', 'system_prompt']],
    [{ overrides: { system_prompt: '{{system.foo}}' } }, ['overrides', 'system_prompt']],
    [{ overrides: { first_message: '{{system.now}}' } }, ['overrides', 'first_message']],
    [{ dynamic_variables: { 'system.today': 'x' } }, ['dynamic_variables', 'system.today']],
    [{ overrides: { system_prompt: '{{a}}'.repeat(101) }, dynamic_variables: { a: 'x'.repeat(1000) } }, ['dynamic_variables']],
  ]; // oxfmt-ignore
  for (const [body, loc] of wrong) {
    const answer = await create(body);
    t.equal(answer.status, 422, JSON.stringify(body).slice(0, 100));
    exactly(t, answer.body, { status: 422, errors: [{ loc }] });
  }
});

t.test('errors win in the order of decision 12', async (t) => {
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
    headers: { authorization: `Bearer ${key}` },
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
  exactly(t, await read(body['session_id']), { status: 'pending' });
});

t.test('PUBLIC_URL is where clients join, whatever host was asked (decision 7)', async (t) => {
  const answer = await there('sessions', { body: { agent_id: agentId } });
  t.equal(answer.status, 201);
  t.equal(answer.body['media_url'], 'wss://speech.example.com');
});

t.test(
  'a language that no engine recognises is 409 (decision 10), a voice that does not speak it 422',
  async (t) => {
    const body = { agent_id: agentId, overrides: { language: 'ja' } };
    const answer = await there('sessions', { body });
    t.same([answer.status, answer.body['message']], [409, 'No speech recognition for "ja"']);
    t.equal((await there('sessions', { body: { agent_id: agentId } })).status, 201);
    const english = await makeAgent(call, {
      config: { voice: { voice_id: 'alloy' } },
      change: { overrides_allowed: ['language'] },
    });
    const french = await makeAgent(call, {
      config: { voice: { voice_id: 'alloy', speaking_language: 'fr' } },
    });
    const cases: [Body, string[], string][] = [
      [
        { agent_id: agentId, overrides: { language: 'ja', voice_id: 'alloy' } },
        ['overrides', 'voice_id'],
        'ja',
      ],
      [{ agent_id: english, overrides: { language: 'de' } }, ['overrides', 'language'], 'de'],
      [{ agent_id: french }, ['agent_id'], 'fr'],
    ];
    for (const [body, loc, language] of cases) {
      const { status, body: answer } = await there('sessions', { body });
      const message = `The voice "alloy" does not speak "${language}"`;
      exactly(t, { status, answer }, { status: 422, answer: { message, errors: [{ loc }] } });
    }
    t.equal((await there('sessions', { body: { agent_id: english } })).status, 201);
  },
);

t.test(
  'a workspace has at most CALLS_PER_WORKSPACE calls at once, where no number of its own is set',
  async (t) => {
    const create = () => there('sessions', { body: { agent_id: agentId } });
    for (let made = 0; made < 4; made++) t.equal((await create()).status, 201);
    // Quickly, because no process holds these calls, and upkeep ends such sessions.
    await sql`update sessions set status = 'active', started_at = now() 
    where ended_at is null and workspace_id = ${workspaceId}`;
    const full = await create();
    t.equal(full.status, 429);
    t.ok(Number(full.headers.get('retry-after')) >= 1);
    await endAll();
    t.equal((await create()).status, 201);
  },
);

t.test('sessions that wait to be joined are bounded', async (t) => {
  const pending = (count: number) => sql`
    insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata, overrides,
      expires_at, max_duration_seconds)
    select 'many_' || n, ${workspaceId}, 'a', 'A', '', 'api_key', 'UTC', '{}', '{}', now() + interval '1 hour', 60
    from generate_series(1, ${count}::int) n`;
  await pending(LIMITS.session.pending - 1);
  t.equal((await create({})).status, 201);
  t.equal((await create({})).status, 429);
  await sql`delete from sessions where id like 'many_%'`;
});

t.test('an exhausted quota is 402, after all else (decision 12)', async (t) => {
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

t.test(
  'emergency and short numbers are refused unless PHONE_ALLOW_SHORT lists them, and premium ones',
  async (t) => {
    const { body: number } = await there('phone-numbers', {
      body: {
        ...{ provider: 'twilio', phone_number: '+493012345678', api_url: 'https://twilio.invalid' },
        credentials: { auth_token: 'x', account_sid: 'AC1' },
      },
    });
    const place = (to: string) =>
      there('calls', { body: { agent_id: agentId, from: number['phone_number_id'], to } });
    exactly(t, await place('110'), { status: 422, body: { reason: 'destination_not_allowed' } });
    exactly(t, await place('112'), { status: 201, body: { to: '112' } });
    const premium = {
      status: 422,
      body: { reason: 'premium_destination_blocked', message: /^to is a premium number/ },
    };
    exactly(t, await place('+44 909 8790000'), premium, 'PHONE_PREMIUM=refuse');
    const transferTo = (phone_number: string) =>
      there(`agents/${agentId}/config`, {
        method: 'PATCH',
        body: { conversation: { transfer_destinations: [{ phone_number }] } },
      });
    t.same([(await transferTo('110')).status, (await transferTo('112')).status], [422, 200]);
    exactly(
      t,
      await call('calls', { body: { agent_id: agentId, from: number['phone_number_id'], to: '112' } }),
      {
        status: 422,
        body: { reason: 'destination_not_allowed' },
      },
    );
  },
);

t.test(
  'attempts to place calls are counted, refused ones too, and beyond PHONE_CALLS_PER_DAY are 429',
  async (t) => {
    const body = { agent_id: agentId, phone_number_id: 'phone_0', to_number: '+4930123456' };
    for (const path of ['phone-calls', 'calls'])
      t.not(
        (await there(path, { body: path === 'calls' ? { agent_id: agentId, from: 'x', to: 'y' } : body }))
          .status,
        429,
      );
    const { status, body: told, headers } = await there('phone-calls', { body });
    exactly(
      t,
      [status, told],
      [429, { status: 429, reason: 'daily_limit_exceeded', message: /5 calls today/ }],
    );
    t.match(headers.get('retry-after'), /^[1-9]\d*$/);
    t.equal(
      (await there('phone-calls', { body: {} })).status,
      422,
      'what is no request is not counted, and is told first',
    );
  },
);
