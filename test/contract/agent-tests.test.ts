/**
 * Tests of agents through the platform's API (docs/contract/platform.md 6.12): scenarios, suites, runs with a language
 * model and without one, what limits them, and the command for CI as a user starts it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { CHECKOUT } from '../../contracts/places.js';
import { skipReason } from '../fixtures/external.js';
import { said, startModel, toolSaid } from '../fixtures/model.js';
import {
  type Answer,
  type Json,
  places,
  type Platform,
  sharedPlatform,
  startPlatform,
} from '../fixtures/platform.js';
import { until } from '../fixtures/until.js';

const { agentTest: limits } = LIMITS;
const model = await startModel();
t.teardown(() => model.stop());
const thinking = await startPlatform(t, { LLM_BASE_URL: model.url });
const plain = await sharedPlatform(t);

const TESTS = '/v1/agent/tests';

interface Result {
  readonly scenario_id: string;
  readonly status: string;
  readonly error: string | null;
  readonly checks: readonly { readonly name: string; readonly passed: boolean; readonly evidence: string }[];
}
interface Run extends Json {
  readonly run_id: string;
  readonly status: string;
  readonly results: readonly Result[];
}

/** The answer's body. */
async function ok<T = Json>(answer: Promise<Answer>): Promise<T> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body as T;
}

const scenarioOf = ({ call }: Platform, agentId: string, body: Json = {}): Promise<Answer> =>
  call('POST', `${TESTS}/scenarios`, {
    body: { agent_id: agentId, name: 'Asks', user: { lines: ['Hello?'] }, ...body },
  });

const scenarioId = async (...args: Parameters<typeof scenarioOf>): Promise<string> =>
  String((await ok(scenarioOf(...args)))['scenario_id']);

const start = ({ call }: Platform, body: Json): Promise<Answer> => call('POST', `${TESTS}/runs`, { body });

/** The run once it is over. */
async function over(platform: Platform, run: Promise<Answer>): Promise<Run> {
  const { run_id: id } = await ok<Run>(run);
  return until('the run is over', async () => {
    const now = await ok<Run>(platform.call('GET', `${TESTS}/runs/${id}`));
    return now['ended_at'] === null ? undefined : now;
  });
}

t.test('a scenario is made, read, changed, listed and deleted; another workspace has none', async (t) => {
  const agentId = await plain.agent();
  const made = await scenarioOf(plain, agentId, { checks: [{ type: 'contains', text: 'hi' }] });
  t.equal(made.status, 201);
  t.match(made.body, { agent_id: agentId, mode: 'text', max_turns: limits.turns.default, tool_mocks: [] });
  const path = `${TESTS}/scenarios/${String(made.body['scenario_id'])}`;
  const changed = await ok(plain.call('PATCH', path, { body: { name: 'Greets', max_turns: 3 } }));
  t.match(changed, { name: 'Greets', max_turns: 3, checks: [{ text: 'hi' }] });
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

t.test('a suite is a list of the agent’s scenarios, by a name of its own', async (t) => {
  const agentId = await plain.agent();
  const [one, two] = [await scenarioId(plain, agentId), await scenarioId(plain, agentId)];
  const foreign = await scenarioId(plain, await plain.agent());
  const make = (body: Json) =>
    plain.call('POST', `${TESTS}/suites`, { body: { agent_id: agentId, name: 'All', ...body } });
  t.same(places(await make({ scenario_ids: [one, foreign, one] })), ['scenario_ids.1', 'scenario_ids.2']);
  t.equal((await make({ scenario_ids: Array.from({ length: limits.perRun + 1 }, () => one) })).status, 422);
  const suite = await ok(make({ scenario_ids: [two, one] }));
  t.same(suite['scenario_ids'], [two, one]);
  t.match(await make({ scenario_ids: [one] }), { status: 409, body: { message: /another suite/ } });
  const path = `${TESTS}/suites/${String(suite['suite_id'])}`;
  t.match(await ok(plain.call('PATCH', path, { body: { name: 'Some' } })), { name: 'Some' });
  await plain.call('DELETE', `${TESTS}/scenarios/${two}`);
  t.match(await ok(plain.call('GET', path)), { scenario_ids: [one] }, 'a deleted scenario leaves it');
  t.equal((await plain.call('GET', path, { key: plain.otherKey })).status, 404);
  const run = await over(plain, start(plain, { agent_id: agentId, suite_id: suite['suite_id'] }));
  t.match(run, { suite_name: 'Some', results: [{ scenario_id: one }] });
  t.equal((await plain.call('DELETE', path)).status, 204);
  t.match(
    await ok(plain.call('GET', `${TESTS}/runs/${run.run_id}`)),
    { suite_name: 'Some' },
    'its runs stay',
  );
});

t.test('an agent has so many scenarios and suites', async (t) => {
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
  t.match(await plain.call('POST', `${TESTS}/suites`, { body: suite }), {
    status: 409,
    body: { message: /50 suites/ },
  });
  await fill('scenarios', limits.scenarios);
  t.match(await scenarioOf(plain, agentId), { status: 409, body: { message: /500 scenarios/ } });
  t.match(await start(plain, { agent_id: agentId }), {
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
  t.match(run, {
    status: 'passed',
    version_number: null,
    counts: { passed: 1 },
    results: [{ status: 'passed' }],
  });
  const [{ scenario_id: id }] = run.results as readonly [Result];
  const result = await ok(plain.call('GET', `${TESTS}/runs/${run.run_id}/results/${id}`));
  t.match(result, {
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
    t.match(refused, { status: 409, body: { message: /needs a language model.*LLM_BASE_URL/ } });
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
  t.match(
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
  t.match(compared, {
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
  t.match(empty, { status: 409, body: { message: /no scenarios/ } });
  await ok(plain.call('PATCH', `/v1/agent/agents/${agentId}`, { body: { status: 'archived' } }));
  t.match(await start(plain, { agent_id: agentId }), { status: 409, body: { message: 'Agent is archived' } });
});

t.test('overrides are those that the agent allows, as in sessions', async (t) => {
  const agentId = await plain.agent();
  await scenarioId(plain, agentId, {
    overrides: { first_message: 'Overridden' },
    checks: [{ type: 'contains', text: 'Overridden' }],
  });
  t.match(await start(plain, { agent_id: agentId }), { status: 400, body: { message: /not enabled/ } });
  const body = { overrides_allowed: ['first_message'] };
  await ok(plain.call('PATCH', `/v1/agent/agents/${agentId}`, { body }));
  t.match(await over(plain, start(plain, { agent_id: agentId })), { status: 'passed' });
});

/** An agent with a tool that looks orders up, at an address that nobody may reach. */
async function bakery(): Promise<string> {
  const toolId = await thinking.tool({
    ...{ name: 'Look up an order', url: 'https://orders.example.com/{{order_id}}', method: 'GET' },
    arguments: [{ name: 'order_id' }],
  });
  return thinking.agent({
    name: 'Bakery',
    config: { prompt: { first_message_mode: 'off' }, tools: { enabled: true, tool_ids: [toolId] } },
  });
}

/** The model as all three: the agent looks up and tells, the user asks and leaves, the judge finds everything true. */
function playAll(verdict = 'success'): void {
  model.answer((messages) => {
    const system = messages[0]?.content ?? '';
    if (system.includes('You play the user'))
      return messages.length > 3 ? 'Thank you, bye. [hang up]' : 'Where is my order A-17?';
    if (system.includes('transcript of a telephone conversation'))
      return JSON.stringify({
        criteria: [{ name: 'criterion_1', result: verdict, rationale: 'As it was said.' }],
      });
    const told = toolSaid(messages);
    if (told !== undefined) return `It says ${told}.`;
    return said(messages).includes('A-17') ? { calls: { Look_up_an_order: { order_id: 'A-17' } } } : 'Bye.';
  });
}

const MOCKED = {
  user: { persona: 'Ada', goal: 'Find out where order A-17 is' },
  tool_mocks: [{ tool: 'Look up an order', arguments: { order_id: 'A-17' }, output: 'shipped' }],
  checks: [
    { type: 'tool_called', tool: 'Look up an order', arguments: { order_id: 'A-17' }, times: 1 },
    { type: 'contains', text: 'shipped' },
    { type: 'judged', name: 'answers', criterion: 'The agent says where the order is.' },
  ],
};

t.test(
  'with a language model: it plays the user, the agent and the judge; mocks answer for tools',
  async (t) => {
    playAll();
    const agentId = await bakery();
    const id = await scenarioId(thinking, agentId, MOCKED);
    const run = await over(thinking, start(thinking, { agent_id: agentId }));
    t.match(run, { status: 'passed', results: [{ error: null, ended_by: 'user' }] }, JSON.stringify(run));
    t.match(run.results[0]?.checks, [
      { passed: true, evidence: 'Called with {"order_id":"A-17"}' },
      { passed: true, evidence: '“It says shipped.”' },
      { name: 'answers', passed: true, evidence: 'As it was said.' },
    ]);
    const { items } = await ok<{ items: Json[] }>(
      thinking.call('GET', `${TESTS}/runs/${run.run_id}/results/${id}`),
    );
    t.match(items.slice(0, 4), [
      { role: 'user', content: 'Where is my order A-17?' },
      { type: 'tool_call', tool_name: 'Look_up_an_order' },
      { type: 'tool_result', status: 'completed', output: 'shipped' },
      { role: 'assistant', content: 'It says shipped.' },
    ]);
  },
);

t.test('a model that fails is an error of the run, not a failure of the agent', async (t) => {
  model.answer(() => 500);
  const agentId = await bakery();
  await scenarioId(thinking, agentId);
  const run = await over(thinking, start(thinking, { agent_id: agentId }));
  t.match(run, {
    status: 'error',
    results: [{ status: 'error', error: /could not answer: provider_failed/ }],
  });
});

t.test('a run is cancelled while it goes on, and deleted once it is over', async (t) => {
  model.answer(() => 'Yes.');
  const agentId = await bakery();
  // A user may write two messages a second in the long run.
  const id = await scenarioId(thinking, agentId, {
    user: { lines: Array.from({ length: 40 }, () => 'And?') },
    max_turns: 50,
  });
  const run = await ok<Run>(start(thinking, { agent_id: agentId }));
  const path = `${TESTS}/runs/${run.run_id}`;
  await until('it is played', async () => (await ok<Run>(thinking.call('GET', path))).status === 'running');
  t.match(await thinking.call('DELETE', path), { status: 409, body: { message: /cancel it first/ } });
  t.equal((await thinking.call('POST', `${path}/cancel`, { key: thinking.otherKey })).status, 404);
  const cancelled = await ok<Run>(thinking.call('POST', `${path}/cancel`));
  t.match(cancelled, { status: 'cancelled', counts: { cancelled: 1 }, results: [{ status: 'cancelled' }] });
  t.same(await ok(thinking.call('POST', `${path}/cancel`)), cancelled, 'again changes nothing');
  t.match(await ok(thinking.call('GET', `${path}/results/${id}`)), { status: 'cancelled', items: [] });
  t.equal((await thinking.call('DELETE', path, { key: thinking.otherKey })).status, 404);
  t.equal((await thinking.call('DELETE', path)).status, 204);
  t.equal((await thinking.call('GET', path)).status, 404);
});

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** The command as a CI job starts it. */
const command = (...args: readonly string[]): Promise<Ran> =>
  new Promise((resolve) => {
    const script = fileURLToPath(new URL('ops/agent-test/command.mjs', CHECKOUT));
    const env = { PATH: process.env['PATH'], AGENT_TEST_KEY: thinking.key };
    execFile(process.execPath, [script, ...args], { env }, (error, out, err) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, out, err }),
    );
  });

t.test('npm run agent-test: exits by the verdict, and writes what a CI server reads', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'agent-test-'));
  t.teardown(() => rm(folder, { recursive: true, force: true }));
  const agentId = await bakery();
  const id = await scenarioId(thinking, agentId, { ...MOCKED, name: 'Order <A> & "B"' });
  const suite = { agent_id: agentId, name: 'Before a release', scenario_ids: [id] };
  await ok(thinking.call('POST', `${TESTS}/suites`, { body: suite }));
  const at = ['--url', thinking.gateway.base, '--agent', agentId];
  const file = join(folder, 'results.xml');

  playAll();
  const passed = await command(...at, '--suite', 'Before a release', '--junit', file);
  t.equal(passed.code, 0, passed.err + passed.out);
  t.match(
    passed.out,
    /1 scenario of Bakery, the draft: run_\w+\nok {5}Order <A> & "B" \(2 turns\)\npassed: 1 passed/,
  );
  const xml = await readFile(file, 'utf8');
  t.match(
    xml,
    /<testsuite name="Bakery: Before a release" tests="1" failures="0" errors="0" skipped="0" time="[\d.]+">/,
  );
  t.match(
    xml,
    /<testcase name="Order &lt;A&gt; &amp; &quot;B&quot;" classname="Bakery" time="[\d.]+"><\/testcase>/,
  );

  playAll('failure');
  const failed = await command(...at, '--json', '--junit', file);
  t.equal(failed.code, 1);
  t.match(JSON.parse(failed.out), { status: 'failed', results: [{ checks: [{}, {}, { passed: false }] }] });
  t.match(failed.err, /FAILED Order.*\n +answers: As it was said\./);
  t.match(await readFile(file, 'utf8'), /<failure message="answers">answers: As it was said\.<\/failure>/);

  model.answer(() => 500);
  const broken = await command(...at, '--scenario', id, '--junit', file);
  t.equal(broken.code, 2);
  t.match(broken.out, /ERROR {2}Order.*\n +The language model failed as the user/);
  t.match(await readFile(file, 'utf8'), /<error message="The language model failed as the user"\/>/);

  for (const [args, message] of [
    [[...at, '--version', 'live'], /409 Agent has no published version/],
    [[...at, '--suite', 'Nightly'], /no suite “Nightly”/],
    [[...at, '--key', 'wrong'], /401/],
    [['--url', 'http://127.0.0.1:9', '--agent', agentId], /cannot be reached/],
    [['--url', thinking.gateway.base], /--agent is missing/],
    [['--nonsense'], /nonsense/],
  ] as const) {
    const { code, err } = await command(...args);
    t.equal(code, 2, err);
    t.match(err, message);
  }
});

t.test(
  'the first test of docs/agent-tests.md, word by word',
  { skip: skipReason('bash', 'curl') },
  async (t) => {
    model.answer((messages) => {
      const told = toolSaid(messages);
      if (told !== undefined) return 'It was shipped.';
      return said(messages).includes('A-17') ? { calls: { Look_up_an_order: { order_id: 'A-17' } } } : 'Bye.';
    });
    const agentId = await bakery();
    const page = await readFile(new URL('docs/agent-tests.md', CHECKOUT), 'utf8');
    const [, commands = ''] = /\n## Your first test\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
    t.match(commands, 'http://localhost:8080');
    const script = `set -euo pipefail\n${commands.replaceAll('http://localhost:8080', thinking.gateway.base)}`;
    const env = { PATH: process.env['PATH'], KEY: thinking.key, AGENT: agentId };
    const { out, error } = await new Promise<{ out: string; error: Error | null }>((resolve) => {
      execFile('bash', ['-c', script], { env }, (error, out) => resolve({ out, error }));
    });
    t.equal(error, null);
    const [run, result] = out.split(/(?<=\})(?=\{"run_id)/).map((text) => JSON.parse(text) as Json);
    t.match(run, { status: 'passed', counts: { passed: 1 } }, out);
    t.match(result, { scenario_name: 'Asks where the order is', ended_by: 'user' });
  },
);
