/**
 * The plan of a session: overrides, variables, choices and metadata on top of the published version, or of the draft in a
 * preview (docs/contract/platform.md 6.6, 6.7).
 */
import t from '../../fixtures/tap.js';
import { createVersions } from '../../../storage/agents/versions.js';
import { type Body, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { ALL_OVERRIDES, startSessions } from '../../fixtures/platform/sessions.js';
import { plansOn } from '../../fixtures/platform/plans.js';

const { sql, workspaceId, call, agentId, create, read, planOf, configOf, endAll } = await startSessions(t);

t.test('overrides need the permission of the agent, field by field', async (t) => {
  const fields: [string, string, string][] = [
    ['first_message', 'first_message', 'Hi'],
    ['first_message_prompt', 'first_message', 'Greet'],
    ['system_prompt', 'system_prompt', 'Be kind'],
    ['voice_id', 'voice_id', 'alloy'],
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
  exactly(t, (await configOf(answer))['prompt'], {
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

t.test('a number among the variables has all its digits', async (t) => {
  const rendered = async (name: string) => {
    const body = `{"agent_id": "${agentId}", "dynamic_variables": {"place": 1, "name": 0, "name": ${name}}}`;
    const answer = await call('sessions', { body });
    return answer.status === 201 ? (await configOf(answer))['prompt']!['system_prompt'] : answer.status;
  };
  const cases: readonly (readonly [sent: string, told: string])[] = [
    ['12345678901234567890', '12345678901234567890'],
    ['-9007199254740993', '-9007199254740993'],
    ['9007199254740993.0', '9007199254740992'],
    ['1e3', '1000'],
    ['10.5', '10.5'],
    ['"12345678901234567891"', '12345678901234567891'],
    ['true', 'true'],
  ];
  for (const [sent, told] of cases) t.equal(await rendered(sent), `You help ${told} of 1.`, sent);
  t.equal(await rendered('9'.repeat(300)), `You help ${'9'.repeat(300)} of 1.`);
  t.equal(await rendered('1e400'), 422, 'which no number here can hold');
  t.equal(await rendered('9'.repeat(400)), 422);
});

t.test('overrides take effect for this session and are kept as they came', async (t) => {
  const overrides = { first_message: 'Ahoy {{name}}', voice_id: 'alloy', language: 'fr' };
  const answer = await create({ overrides, dynamic_variables: { name: 'X' } });
  const config = await configOf(answer);
  exactly(t, config, {
    prompt: {
      first_message_mode: 'fixed',
      first_message: 'Ahoy X',
      system_prompt: 'You help X of {{place}}.',
    },
    voice: { voice_id: 'alloy', speaking_language: 'fr' },
  });
  t.same((await read(answer.body['session_id']))['overrides'], overrides);
  const prompted = await create({ overrides: { first_message_prompt: 'Sing' } });
  exactly(t, (await configOf(prompted))['prompt'], {
    first_message_mode: 'prompt',
    first_message_prompt: 'Sing',
  });
  const plain = await create({});
  exactly(t, (await configOf(plain))['voice'], { voice_id: 'default', speaking_language: 'en' });
  t.same((await read(plain.body['session_id']))['overrides'], {});
});

t.test("the timezone is the request's, the agent's, the browser's, or UTC", async (t) => {
  const nowhere = await makeAgent(call);
  const cases: [Body, string][] = [
    [{ timezone: 'Asia/Tokyo', client_timezone: 'America/Lima' }, 'Asia/Tokyo'],
    [{ client_timezone: 'America/Lima' }, 'Europe/Berlin'],
    [{ agent_id: nowhere, client_timezone: 'America/Lima' }, 'America/Lima'],
    [{ agent_id: nowhere, client_timezone: 'not/a zone' }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: '' }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: 'x'.repeat(65) }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: 'a\0b' }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: 5 }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: ['America/Lima'] }, 'UTC'],
    [{ agent_id: nowhere, client_timezone: null }, 'UTC'],
    [{ agent_id: nowhere }, 'UTC'],
  ];
  for (const [body, timezone] of cases) {
    const answer = await create(body);
    t.equal((await planOf(answer))['timezone'], timezone);
    t.equal((await read(answer.body['session_id']))['timezone'], timezone);
    await endAll();
  }
});

t.test('tool events and world context are on unless the session says no, recording is off', async (t) => {
  const choices = { recordAudio: false, toolEvents: true, worldContext: true };
  exactly(t, await planOf(await create({})), choices);
  exactly(
    t,
    await planOf(await create({ record_audio: null, tool_events: null, world_context: null })),
    choices,
  );
  const others = { record_audio: true, tool_events: false, world_context: false };
  exactly(t, await planOf(await create(others)), {
    recordAudio: true,
    toolEvents: false,
    worldContext: false,
  });
  const config = (await call(`agents/${agentId}/config`)).body;
  exactly(t, config, { conversation: { record_audio: false } }, 'the agent stays as it is');
  const recording = await makeAgent(call, { config: { conversation: { record_audio: true } } });
  exactly(t, await planOf(await create({ agent_id: recording })), { recordAudio: true });
  exactly(t, await planOf(await create({ agent_id: recording, record_audio: false })), {
    recordAudio: false,
  });
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
  t.hasStrict(detail, {
    session_id: body['session_id'],
    agent_id: agentId,
    agent_name: 'Bakery',
    name: 'Call 7',
    status: 'pending',
    source: 'api_key',
    caller_number: null,
    dialed_number: null,
    direction: 'inbound',
    dial_status: null,
    answered_by: null,
    started_at: null,
    ended_at: null,
    duration_seconds: null,
    end_user_id: 'customer-42',
    version_number: 1,
    ended_reason: null,
    analysis: null,
  });
  t.strictSame(detail['items'], []);
  const bare = await read((await create({})).body['session_id']);
  t.strictSame([bare['metadata'], bare['name'], bare['end_user_id']], [{}, null, null]);
});

t.test('a session runs what was published, not the draft', async (t) => {
  const id = await makeAgent(call, { config: { prompt: { system_prompt: 'one' } } });
  await call(`agents/${id}/config`, { method: 'PATCH', body: { prompt: { system_prompt: 'two' } } });
  const first = await create({ agent_id: id });
  t.equal((await configOf(first))['prompt']!['system_prompt'], 'one');
  await call(`agents/${id}/publish`, { method: 'POST' });
  const second = await create({ agent_id: id });
  t.equal((await configOf(second))['prompt']!['system_prompt'], 'two');
  exactly(t, await read(second.body['session_id']), { version_number: 2 });
  exactly(t, await read(first.body['session_id']), { version_number: 1 });
  t.equal((await call(`agents/${id}`, { method: 'DELETE' })).status, 204);
  exactly(t, await read(first.body['session_id']), { agent_name: 'Bakery' }, 'records outlive the agent');
});

t.test(
  'previews run the draft, without webhooks, unseen in lists, and need a key (decision 21)',
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
    const { prompt, webhooks } = await configOf(answer);
    t.hasStrict(prompt, { system_prompt: 'draft of X' });
    t.strictSame(webhooks, { post_call: [], conversation_init: null });
    t.hasStrict(await read(answer.body['session_id']), { source: 'dashboard', version_number: null });
    t.same((await call(`sessions?status=pending&agent_id=${id}`)).body['sessions'], []);
    t.equal((await preview()).status, 201, 'the body may be missing');
    t.equal((await preview({ agent_id: id })).status, 422);
    t.equal((await preview({ version_number: 1 })).status, 404, 'a version that there is not');
    t.equal((await preview({ version_number: 2 ** 31 - 1 })).status, 404);
    for (const version_number of [2 ** 31, 1e300])
      t.equal((await preview({ version_number })).status, 422, `${version_number}`);
    await call(`agents/${id}/publish`, { method: 'POST' });
    const body = { prompt: { system_prompt: 'changed' } };
    await call(`agents/${id}/config`, { method: 'PATCH', body });
    const old = await preview({ version_number: 1, dynamic_variables: { x: 'X' } });
    t.hasStrict(
      (await configOf(old)).prompt,
      { system_prompt: 'draft of X' },
      'a version, as it was published',
    );
    t.hasStrict(await read(old.body['session_id']), { source: 'dashboard', version_number: 1 });
    t.equal((await call(`agents/${id}/preview`, { method: 'POST', key: null })).status, 401);
    t.equal((await call('agents/agent_none/preview', { method: 'POST' })).status, 404);
  },
);

const versions = createVersions(plansOn(sql));
const transfers = (...ids: readonly string[]) => ({
  config: { tools: { transfer_agents: ids.map((agent_id) => ({ agent_id, description: 'Orders' })) } },
});

t.test('hand-overs: all agents that can be reached are pinned with the versions of now', async (t) => {
  const last = await makeAgent(call);
  const middle = await makeAgent(call, transfers(last, 'agent_none'));
  const archived = await makeAgent(call, { change: { status: 'archived' } });
  const first = await makeAgent(call, transfers(middle, archived));
  await call(`agents/${last}/config`, { method: 'PATCH', body: transfers(first).config });
  await call(`agents/${last}/publish`, { method: 'POST' });
  const made = await create({ agent_id: first, dynamic_variables: { name: 'Ada' } });
  const plan = await planOf(made);
  const pinned = plan['transfers'] as {
    agents: { agentId: string; versionNumber: number }[];
    variables: object;
  };
  t.same(
    pinned.agents.map(({ agentId, versionNumber }) => [agentId, versionNumber]),
    [
      [middle, 1],
      [last, 2],
      [first, 1],
    ],
  );
  t.same(pinned.variables, { name: 'Ada' });
  await call(`agents/${last}/publish`, { method: 'POST' });
  exactly(t, await versions.version(last, workspaceId, 2), { agent: { id: last }, version: { number: 2 } });
  t.match(await versions.version(last, 'ws_other', 2), undefined);
  await call(`agents/${last}`, { method: 'DELETE' });
  t.equal(await versions.version(last, workspaceId, 2), undefined, 'nothing of a deleted agent is left');
});

t.test(
  'hand-overs: the variables are forgotten with the end, and who reaches nobody keeps none',
  async (t) => {
    const other = await makeAgent(call);
    const handing = await makeAgent(call, transfers(other));
    const made = await create({ agent_id: handing, dynamic_variables: { name: 'Ada' } });
    const id = String(made.body['session_id']);
    await sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
    await call(`sessions/${id}/end`, { method: 'POST' });
    const [row] = await sql`select plan::text as plan from sessions where id = ${id}`;
    t.notMatch(row!['plan'], /Ada/);
    t.match(row!['plan'], /transfer_agents/, 'the rest is there for the analysis');
    t.notOk('transfers' in (await planOf(await create({ dynamic_variables: { name: 'Ada' } }))));
  },
);
