/**
 * The answer to a read of a tool, a configuration, an agent, a scenario or a suite can be sent back whole: nothing changes, and the secrets that reads
 * do not show still work on the wire (docs/contract/decisions.md 14).
 */
import t from '../../fixtures/tap.js';
import { HEADER_KINDS } from '../../../contracts/schemas/tools.js';
import { scenarioId, TESTS } from '../../fixtures/agent-tests/runs.js';
import { shortOrLong } from '../../fixtures/long.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';
import { pick, seeded } from '../../fixtures/random.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

const platform = await sharedPlatform(t, 'speech');
const { call, database } = platform;
const { url, seen } = await startReceiver(t);
t.beforeEach(() => {
  seen.length = 0;
});
const ROUNDS = shortOrLong(8, 25);

/** Reads, writes back what was read, and reads again; `isLater`: whether `updated_at` is no earlier than before. */
async function writeBack(path: string) {
  const before = (await call('GET', path)).body;
  const written = await call('PATCH', path, { body: before });
  const { updated_at: then, ...after } = (await call('GET', path)).body;
  const { updated_at: _, ...was } = before;
  return {
    status: written.status,
    text: written.text,
    was,
    after,
    isLater: (then as string) >= (_ as string),
  };
}

const word = (random: () => number): string => `w${Math.floor(random() * 1e6)}`;
const some = <T>(random: () => number, make: (nth: number) => T): T[] =>
  Array.from({ length: Math.floor(random() * 4) }, (_, nth) => make(nth));

const randomTool = (random: () => number): Json => ({
  name: word(random),
  description: pick(random, ['', 'What it does']),
  tool_type: pick(random, ['webhook', 'client']),
  method: pick(random, ['GET', 'POST', 'DELETE']),
  url: pick(random, ['', url]),
  arguments: some(random, (nth) => ({ name: `a${nth}`, description: pick(random, ['', 'x']) })),
  content_type: pick(random, ['', 'text/plain']),
  body_template: pick(random, ['', '{"a":"{{a0}}"}']),
  headers: some(random, (nth): Json => ({
    name: `X-${nth}`,
    kind: pick(random, HEADER_KINDS),
    ...pick(random, [{ value: `Bearer ${word(random)}` }, {}, { value: null }, { value: '' }]),
  })),
  timeout_seconds: 1 + Math.floor(random() * 120),
  error_handling: pick(random, ['passthrough', 'hide']),
  mock_responses: some(random, () => ({ status_code: 404 })),
  expects_response: random() < 0.5,
});

t.test('a tool', async (t) => {
  const random = seeded(11);
  for (let round = 0; round < ROUNDS; round++) {
    const path = `/v1/agent/tools/${await platform.tool(randomTool(random))}`;
    const { status, text, was, after, isLater } = await writeBack(path);
    t.equal(status, 200, text);
    t.strictSame(after, was);
    t.ok(isLater);
  }
});

t.test('its credentials are sent all the same', async (t) => {
  const bearer = { name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer sesame' };
  const id = await platform.tool({ url, headers: [bearer, { name: 'X-Team', value: 'red' }] });
  const path = `/v1/agent/tools/${id}`;
  const sent = async () => {
    await call('POST', `${path}/test`, { body: {} });
    const { authorization, 'x-team': team } = seen.at(-1)!.headers;
    return [authorization, team];
  };
  for (let twice = 0; twice < 2; twice++) {
    t.equal((await writeBack(path)).status, 200);
    t.strictSame(await sent(), ['Bearer sesame', 'red']);
  }
  const { value: _, ...kept } = bearer;
  const cases: [header: Record<string, unknown>, sent: string | undefined][] = [
    [{ ...kept, has_secret: true }, 'Bearer sesame'],
    [{ ...kept, value: 'Bearer new', has_secret: true }, 'Bearer new'],
    [{ ...kept }, 'Bearer new'],
    [{ ...kept, value: null, has_secret: true }, 'Bearer new'],
    [{ ...kept, value: null, has_secret: false }, undefined],
    [{ ...kept, value: null, has_secret: true }, undefined],
    [bearer, 'Bearer sesame'],
    [{ ...kept, has_secret: false }, undefined],
    [bearer, 'Bearer sesame'],
    [{ ...kept, value: null }, undefined],
  ];
  for (const [header, value] of cases) {
    const { body } = await call('PATCH', path, { body: { headers: [header] } });
    const [shown] = body['headers'] as Json[];
    t.strictSame([shown?.['value'], shown?.['has_secret']], [null, value !== undefined]);
    t.strictSame((await sent())[0], value, JSON.stringify(header));
  }
});

t.test('an agent, a scenario and a suite; not those of another one', async (t) => {
  const made = async () => {
    const agent = await platform.agent();
    const scenario = await scenarioId(platform, agent);
    const suite = { agent_id: agent, name: 'All', scenario_ids: [scenario] };
    const { body } = await call('POST', `${TESTS}/suites`, { body: suite });
    return [
      `/v1/agent/agents/${agent}`,
      `${TESTS}/scenarios/${scenario}`,
      `${TESTS}/suites/${String(body['suite_id'])}`,
    ];
  };
  const [mine, others] = [await made(), await made()];
  await call('PATCH', mine[0]!, {
    body: { allowed_origins: ['https://a.example'], overrides_allowed: ['language'] },
  });
  for (const [index, own] of [
    ['agent_id'],
    ['agent_id', 'scenario_id'],
    ['agent_id', 'suite_id'],
  ].entries()) {
    const path = mine[index]!;
    const { status, text, was, after, isLater } = await writeBack(path);
    t.equal(status, 200, text);
    t.strictSame(after, was);
    t.ok(isLater);
    const foreign = (await call('GET', others[index]!)).body;
    const refused = await call('PATCH', path, { body: foreign });
    t.strictSame(
      [
        refused.status,
        places(refused)
          .filter((place) => own.includes(place))
          .sort(),
      ],
      [422, own],
    );
    t.strictSame({ ...(await call('GET', path)).body, updated_at: null }, { ...was, updated_at: null });
  }
});

const randomConfig = (random: () => number): Json => ({
  prompt: { system_prompt: word(random), first_message_mode: pick(random, ['off', 'fixed', 'prompt']) },
  // A language that every installation's engines speak, since the configuration is published.
  voice: {
    voice_id: pick(random, ['', 'default', 'alloy']),
    speaking_language: 'en',
    languages: pick(random, [null, ['en']]),
    expressive: random() < 0.5,
  },
  conversation: {
    timezone: pick(random, ['', 'Europe/Berlin']),
    record_audio: random() < 0.5,
    hangup_after_seconds: pick(random, [null, 10, 3600]),
    hangup_farewell_enabled: random() < 0.5,
    transfer_destinations: some(random, () => ({ phone_number: '+4930123456' })),
    outbound: pick<Json | null>(random, [
      null,
      { amd_enabled: true },
      { voicemail: { action: 'leave_message', message: word(random) } },
    ]),
  },
  guardrails: { focus: random() < 0.5, manipulation: random() < 0.5 },
  widget: {
    greeting: pick(random, [null, '', 'Hello']),
    consent_required: random() < 0.5,
    text_contents: pick(random, [{}, { start: 'Call' }]),
  },
  webhooks: {
    conversation_init: pick<Json | null>(random, [
      null,
      { url: 'https://init.example.com/', timeout_seconds: 2.5 },
      { url: 'https://init.example.com/', secret: word(random), web: true },
    ]),
    post_call: some(random, (nth) => ({
      url: `https://${nth}.example.com/`,
      ...pick<Json>(random, [{ secret: word(random) }, {}, { secret: null }]),
    })),
  },
  analysis: {
    summary: { prompt: random() < 0.5 ? null : 'Briefly', enabled: random() < 0.5 },
    data_fields: some(random, (nth) => ({
      name: `f${nth}`,
      ...pick(random, [{}, { type: 'enum', enum_options: ['a', 'b'] }]),
    })),
    criteria: some(random, (nth) => ({ name: `c${nth}` })),
  },
});

t.test('a configuration, and that of a published version', async (t) => {
  const random = seeded(12);
  const [tool, source] = [await platform.tool(), await platform.source()];
  for (let round = 0; round < ROUNDS; round++) {
    const agent = await platform.agent({ config: randomConfig(random) });
    const path = `/v1/agent/agents/${agent}`;
    const refers = { tools: { tool_ids: [tool] }, knowledge_base: { knowledge_source_ids: [source] } };
    if (random() < 0.5) await call('PATCH', `${path}/config`, { body: refers });
    const { status, text, was, after } = await writeBack(`${path}/config`);
    t.equal(status, 200, text);
    t.strictSame(after, was, 'with the same hash');
    await call('POST', `${path}/publish`);
    await call('PATCH', `${path}/config`, { body: { prompt: { system_prompt: 'other' } } });
    const { config } = (await call('GET', `${path}/versions/1`)).body;
    const restored = (await call('PATCH', `${path}/config`, { body: config })).body;
    t.equal(restored['config_hash'], was['config_hash'], 'an older one can be brought back');
  }
});

t.test('its deliveries are signed all the same', async (t) => {
  const agent = await platform.agent({ config: { webhooks: { post_call: { url, secret: 'sesame' } } } });
  const path = `/v1/agent/agents/${agent}`;
  t.equal((await writeBack(`${path}/config`)).status, 200);
  await call('PATCH', `${path}/config`, {
    body: { webhooks: { post_call: [{ url, secret: null, has_secret: true }] } },
  });
  await call('POST', `${path}/publish`);
  const { body } = await call('POST', '/v1/agent/sessions', { body: { agent_id: agent } });
  const id = body['session_id'] as string;
  await database.sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
  await call('POST', `/v1/agent/sessions/${id}/end`);
  await until('it is delivered', () => seen.length > 0);
  t.ok(isSignedBy('sesame', seen[0]!));
  for (const gone of [
    { url, secret: null },
    { url, secret: null, has_secret: false },
    { url, has_secret: false },
  ]) {
    await call('PATCH', `${path}/config`, { body: { webhooks: { post_call: [{ url, secret: 'again' }] } } });
    const changed = await call('PATCH', `${path}/config`, { body: { webhooks: { post_call: [gone] } } });
    t.strictSame(
      (changed.body['webhooks'] as Json)['post_call'],
      [{ url, has_secret: false }],
      'removed on purpose',
    );
  }
});

t.test('the answer to a read of another object is refused', async (t) => {
  const [one, other] = [await platform.tool(), await platform.tool({ name: 'other', tool_type: 'client' })];
  const read = (await call('GET', `/v1/agent/tools/${other}`)).body;
  t.strictSame(places(await call('PATCH', `/v1/agent/tools/${one}`, { body: read })), [
    'tool_id',
    'tool_type',
  ]);
  const [agent, another] = [await platform.agent(), await platform.agent()];
  const config = (await call('GET', `/v1/agent/agents/${another}/config`)).body;
  const answer = await call('PATCH', `/v1/agent/agents/${agent}/config`, { body: config });
  t.strictSame([answer.status, places(answer)], [422, ['agent_id']]);
  const { agent_id: _, ...rest } = config;
  t.equal((await call('PATCH', `/v1/agent/agents/${agent}/config`, { body: rest })).status, 200);
  t.equal(
    (await call('POST', '/v1/agent/tools', { body: read })).status,
    422,
    'creation takes no unknown field',
  );
});
