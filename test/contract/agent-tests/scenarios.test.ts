/**
 * Tests of agents through the platform's API (docs/contract/platform.md 6.12): scenarios, suites, their limits, and runs
 * without a language model. With one: model.test.ts.
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import {
  ok,
  over,
  type Result,
  scenarioId,
  scenarioOf,
  start,
  TESTS,
} from '../../fixtures/agent-tests/runs.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const { agentTest: limits } = LIMITS;
const plain = await sharedPlatform(t);

t.test('a scenario is made, read, changed, listed and deleted; another workspace has none', async (t) => {
  const agentId = await plain.agent();
  const made = await scenarioOf(plain, agentId, { checks: [{ type: 'contains', text: 'hi' }] });
  t.equal(made.status, 201);
  exactly(t, made.body, { agent_id: agentId, mode: 'text', max_turns: limits.turns.default, tool_mocks: [] });
  const path = `${TESTS}/scenarios/${String(made.body['scenario_id'])}`;
  const changed = await ok(plain.call('PATCH', path, { body: { name: 'Greets', max_turns: 3 } }));
  exactly(t, changed, { name: 'Greets', max_turns: 3, checks: [{ text: 'hi' }] });
  t.same((await plain.call('GET', path)).body, changed);
  const { scenarios } = await ok<{ scenarios: Json[] }>(
    plain.call('GET', `${TESTS}/scenarios?agent_id=${agentId}`),
  );
  t.same(scenarios, [changed]);
  for (const method of ['GET', 'DELETE'])
    t.equal((await plain.call(method, path, { key: plain.otherKey })).status, 404);
  const foreign = { agent_id: agentId, name: 'Asks', user: { lines: ['Hello?'] } };
  t.equal(
    (await plain.call('POST', `${TESTS}/scenarios`, { body: foreign, key: plain.otherKey })).status,
    404,
  );
  t.equal((await plain.call('DELETE', path)).status, 204);
  t.equal((await plain.call('GET', path)).status, 404);
});

t.test('a scenario that makes no sense is refused, with everything that is wrong', async (t) => {
  const agentId = await plain.agent();
  const many = (count: number, item: unknown): unknown[] => Array.from({ length: count }, () => item);
  const check = { type: 'contains', text: 'a' };
  const wide = Object.fromEntries(many(limits.mockArguments + 1, 1).map((_, index) => [`a${index}`, 1]));
  const refused: readonly (readonly [Json, string])[] = [
    [{ user: {} }, 'user'],
    [{ user: { lines: ['a'], goal: 'b' } }, 'user'],
    [{ user: { lines: ['a'], persona: 'b' } }, 'user.persona'],
    [{ user: { lines: many(limits.lines.max + 1, 'a') } }, 'user.lines'],
    [{ user: { lines: ['a'.repeat(limits.line.max + 1)] } }, 'user.lines.0'],
    [{ user: { goal: 'a'.repeat(limits.goal.max + 1) } }, 'user.goal'],
    [{ user: { goal: 'a', persona: 'a'.repeat(limits.persona + 1) } }, 'user.persona'],
    [{ name: '' }, 'name'],
    [{ checks: [{ type: 'contains' }] }, 'checks.0.text'],
    [{ checks: [{ ...check, tool: 'x' }] }, 'checks.0.tool'],
    [{ checks: [{ ...check, text: 'a'.repeat(limits.text.max + 1) }] }, 'checks.0.text'],
    [{ checks: [{ type: 'matches', pattern: '(a' }] }, 'checks.0.pattern'],
    [{ checks: [{ type: 'matches', pattern: 'a'.repeat(limits.pattern.max + 1) }] }, 'checks.0.pattern'],
    [{ checks: [{ type: 'matches', pattern: '((a{50}){50}){50}' }] }, 'checks.0.pattern'],
    [{ checks: [{ type: 'judged', criterion: 'a'.repeat(limits.criterion.max + 1) }] }, 'checks.0.criterion'],
    [{ checks: many(limits.checks + 1, check) }, 'checks'],
    [{ tool_mocks: many(limits.mocks + 1, { tool: 'a', output: '' }) }, 'tool_mocks'],
    [{ tool_mocks: [{ tool: 'a', output: 'a'.repeat(limits.mockOutput + 1) }] }, 'tool_mocks.0.output'],
    [{ tool_mocks: [{ tool: 'a', output: '', arguments: wide }] }, 'tool_mocks.0.arguments'],
    [{ max_turns: limits.turns.max + 1 }, 'max_turns'],
    [{ max_seconds: limits.seconds.min - 1 }, 'max_seconds'],
    [{ max_seconds: limits.seconds.max + 1 }, 'max_seconds'],
    [{ dynamic_variables: { '1x': 'a' } }, 'dynamic_variables.1x'],
    [{ overrides: { language: 'xx' } }, 'overrides.language'],
  ];
  for (const [body, place] of refused) {
    const answer = await scenarioOf(plain, agentId, body);
    t.equal(answer.status, 422, place);
    t.ok(places(answer).includes(place), `${place}: ${answer.text}`);
  }
  t.equal((await scenarioOf(plain, 'agent_x')).status, 404);
});

t.test('a suite is a list of the agent’s scenarios with a unique name', async (t) => {
  const agentId = await plain.agent();
  const [one, two] = [await scenarioId(plain, agentId), await scenarioId(plain, agentId)];
  const foreign = await scenarioId(plain, await plain.agent());
  const make = (body: Json) =>
    plain.call('POST', `${TESTS}/suites`, { body: { agent_id: agentId, name: 'All', ...body } });
  t.same(places(await make({ scenario_ids: [one, foreign, one] })), ['scenario_ids.1', 'scenario_ids.2']);
  t.equal((await make({ scenario_ids: Array.from({ length: limits.perRun + 1 }, () => one) })).status, 422);
  const suite = await ok(make({ scenario_ids: [two, one] }));
  t.same(suite['scenario_ids'], [two, one]);
  exactly(t, await make({ scenario_ids: [one] }), { status: 409, body: { message: /another suite/ } });
  const path = `${TESTS}/suites/${String(suite['suite_id'])}`;
  exactly(t, await ok(plain.call('PATCH', path, { body: { name: 'Some' } })), { name: 'Some' });
  await plain.call('DELETE', `${TESTS}/scenarios/${two}`);
  exactly(t, await ok(plain.call('GET', path)), { scenario_ids: [one] }, 'a deleted scenario leaves it');
  t.equal((await plain.call('GET', path, { key: plain.otherKey })).status, 404);
  const run = await over(plain, start(plain, { agent_id: agentId, suite_id: suite['suite_id'] }));
  exactly(t, run, { suite_name: 'Some', results: [{ scenario_id: one }] });
  t.equal((await plain.call('DELETE', path)).status, 204);
  exactly(
    t,
    await ok(plain.call('GET', `${TESTS}/runs/${run.run_id}`)),
    { suite_name: 'Some' },
    'its runs stay',
  );
});

t.test('an agent may have a limited number of scenarios and suites', async (t) => {
  const agentId = await plain.agent();
  const { sql } = plain.database;
  const id = await scenarioId(plain, agentId);
  const fill = (table: 'scenarios' | 'suites', most: number) =>
    table === 'scenarios'
      ? sql`insert into agent_test_scenarios (id, workspace_id, agent_id, name, definition)
          select ${agentId} || i, ${plain.workspaceId}, ${agentId}, 'x', '{}' from generate_series(2, ${most}::int) as i`
      : sql`insert into agent_test_suites (id, workspace_id, agent_id, name)
          select ${agentId} || i, ${plain.workspaceId}, ${agentId}, 'x' || i from generate_series(1, ${most}::int) as i`;
  await fill('suites', limits.suites);
  const suite = { agent_id: agentId, name: 'All', scenario_ids: [id] };
  exactly(t, await plain.call('POST', `${TESTS}/suites`, { body: suite }), {
    status: 409,
    body: { message: /50 suites/ },
  });
  await fill('scenarios', limits.scenarios);
  exactly(t, await scenarioOf(plain, agentId), { status: 409, body: { message: /500 scenarios/ } });
  exactly(t, await start(plain, { agent_id: agentId }), {
    status: 409,
    body: { message: /100 scenarios at most/ },
  });
});

t.test('without a language model: scripts and rules are played, what needs one is refused', async (t) => {
  const config = {
    prompt: { first_message_mode: 'fixed', first_message: 'Hello {{name}}, this is the bakery.' },
  };
  const agentId = await plain.agent({ config });
  await scenarioId(plain, agentId, {
    dynamic_variables: { name: 'Ada' },
    checks: [
      { type: 'contains', text: 'Hello Ada' },
      { type: 'not_contains', text: '{{' },
      { type: 'ended_by', by: 'user' },
    ],
  });
  const run = await over(plain, start(plain, { agent_id: agentId }));
  exactly(t, run, {
    status: 'passed',
    version_number: null,
    counts: { passed: 1 },
    results: [{ status: 'passed' }],
  });
  const [{ scenario_id: id }] = run.results as readonly [Result];
  const result = await ok(plain.call('GET', `${TESTS}/runs/${run.run_id}/results/${id}`));
  exactly(t, result, {
    ended_by: 'user',
    items: [
      { role: 'assistant', content: 'Hello Ada, this is the bakery.' },
      { role: 'user', content: 'Hello?' },
      { role: 'assistant' },
    ],
  });
  t.equal((await plain.call('GET', `${TESTS}/runs/${run.run_id}`, { key: plain.otherKey })).status, 404);
  for (const body of [
    { name: 'Wants', user: { goal: 'tea' } },
    { name: 'Judges', checks: [{ type: 'judged', criterion: 'Polite' }] },
  ]) {
    const needing = await scenarioId(plain, agentId, body);
    const refused = await start(plain, { agent_id: agentId, scenario_ids: [needing] });
    exactly(t, refused, { status: 409, body: { message: /needs a language model.*LLM_BASE_URL/ } });
  }
});

t.test('a run is of the draft, of what is live, or of a version', async (t) => {
  const opening = (text: string) => ({ prompt: { first_message_mode: 'fixed', first_message: text } });
  const agentId = await plain.agent({ config: opening('one') });
  await scenarioId(plain, agentId, { checks: [{ type: 'contains', text: 'two' }] });
  const refusals: readonly (readonly [Json, number])[] = [
    [{ version: 'live' }, 409],
    [{ version: 7 }, 404],
    [{ version: 'newest' }, 422],
    [{ agent_id: 'agent_x' }, 404],
    [{ suite_id: 'suite_x' }, 404],
    [{ suite_id: 'suite_x', scenario_ids: ['scn_x'] }, 422],
    [{ scenario_ids: ['scn_x'] }, 422],
  ];
  for (const [body, status] of refusals)
    t.equal((await start(plain, { agent_id: agentId, ...body })).status, status, JSON.stringify(body));
  await ok(plain.call('POST', `/v1/agent/agents/${agentId}/publish`));
  await ok(plain.call('PATCH', `/v1/agent/agents/${agentId}/config`, { body: opening('two') }));
  const [live, one, draft] = await Promise.all(
    ['live', 1, 'draft'].map((version) => over(plain, start(plain, { agent_id: agentId, version }))),
  );
  exactly(
    t,
    [live, one, draft],
    [
      { status: 'failed', version_number: 1 },
      { status: 'failed', version_number: 1 },
      { status: 'passed', version_number: null },
    ],
  );
  const compared = await ok(
    plain.call('GET', `${TESTS}/runs/compare?base=${one?.run_id}&other=${draft?.run_id}`),
  );
  exactly(t, compared, {
    base: { status: 'failed' },
    other: { status: 'passed' },
    scenarios: [
      {
        change: 'fixed',
        base: 'failed',
        other: 'passed',
        checks: [{ name: 'says “two”', base: false, other: true }],
      },
    ],
  });
  const bad = await plain.call('GET', `${TESTS}/runs/compare?base=${one?.run_id}`);
  t.equal(bad.status, 400);
  const empty = await start(plain, { agent_id: await plain.agent() });
  exactly(t, empty, { status: 409, body: { message: /no scenarios/ } });
  await ok(plain.call('PATCH', `/v1/agent/agents/${agentId}`, { body: { status: 'archived' } }));
  exactly(t, await start(plain, { agent_id: agentId }), {
    status: 409,
    body: { message: 'Agent is archived' },
  });
});

t.test('overrides are those that the agent allows, as in sessions', async (t) => {
  const agentId = await plain.agent();
  await scenarioId(plain, agentId, {
    overrides: { first_message: 'Overridden' },
    checks: [{ type: 'contains', text: 'Overridden' }],
  });
  exactly(t, await start(plain, { agent_id: agentId }), { status: 400, body: { message: /not enabled/ } });
  const body = { overrides_allowed: ['first_message'] };
  await ok(plain.call('PATCH', `/v1/agent/agents/${agentId}`, { body }));
  exactly(t, await over(plain, start(plain, { agent_id: agentId })), { status: 'passed' });
});
