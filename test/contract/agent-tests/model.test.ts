/**
 * Tests of agents with a language model (docs/contract/platform.md 6.12): it plays the user, the agent and the judge; runs
 * that fail or are cancelled; the command for CI as a user starts it.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { ok, over, type Run, scenarioId, start, TESTS } from '../../fixtures/agent-tests/runs.js';
import { exactly } from '../../fixtures/exactly.js';
import { skipReason } from '../../fixtures/external.js';
import { said, startModel, toolSaid } from '../../fixtures/chat/model.js';
import { type Json, startPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const model = await startModel();
t.teardown(() => model.stop());
const thinking = await startPlatform(t, { LLM_BASE_URL: model.url });

/** An agent with a tool that looks up orders, at an address that must not be reached. */
async function bakery(): Promise<string> {
  const toolId = await thinking.tool({
    ...{ name: 'Look up an order', url: 'https://orders.example.com/{{order_id}}', method: 'GET' },
    arguments: [{ name: 'order_id' }],
  });
  return thinking.agent({
    name: 'Bakery',
    config: {
      prompt: { first_message_mode: 'off' },
      guardrails: { focus: true },
      tools: { enabled: true, tool_ids: [toolId] },
    },
  });
}

/** Has the model play all three: the agent uses its tool and says the result, the user asks and leaves, the judge accepts everything. */
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
    exactly(t, run, { status: 'passed', results: [{ error: null, ended_by: 'user' }] }, JSON.stringify(run));
    t.ok(
      model.asked.some(([first]) => first?.content?.includes('Stay with the task')),
      'the agent’s guardrails hold',
    );
    exactly(t, run.results[0]?.checks, [
      { passed: true, evidence: 'Called with {"order_id":"A-17"}' },
      { passed: true, evidence: '“It says shipped.”' },
      { name: 'answers', passed: true, evidence: 'As it was said.' },
    ]);
    const { items } = await ok<{ items: Json[] }>(
      thinking.call('GET', `${TESTS}/runs/${run.run_id}/results/${id}`),
    );
    exactly(t, items.slice(0, 4), [
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
  exactly(t, run, {
    status: 'error',
    results: [{ status: 'error', error: /could not answer: provider_failed/ }],
  });
});

t.test('a run is cancelled while it runs, and deleted once it has ended', async (t) => {
  model.answer(() => 'Yes.');
  const agentId = await bakery();
  // In the long run a user may send two messages per second.
  const id = await scenarioId(thinking, agentId, {
    user: { lines: Array.from({ length: 40 }, () => 'And?') },
    max_turns: 50,
  });
  const run = await ok<Run>(start(thinking, { agent_id: agentId }));
  const path = `${TESTS}/runs/${run.run_id}`;
  await until('it is played', async () => (await ok<Run>(thinking.call('GET', path))).status === 'running');
  exactly(t, await thinking.call('DELETE', path), { status: 409, body: { message: /cancel it first/ } });
  t.equal((await thinking.call('POST', `${path}/cancel`, { key: thinking.otherKey })).status, 404);
  const cancelled = await ok<Run>(thinking.call('POST', `${path}/cancel`));
  exactly(t, cancelled, {
    status: 'cancelled',
    counts: { cancelled: 1 },
    results: [{ status: 'cancelled' }],
  });
  t.same(await ok(thinking.call('POST', `${path}/cancel`)), cancelled, 'again changes nothing');
  exactly(t, await ok(thinking.call('GET', `${path}/results/${id}`)), { status: 'cancelled', items: [] });
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
  const file = join(folder, 'reports', 'results.xml');

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
  exactly(t, JSON.parse(failed.out), {
    status: 'failed',
    results: [{ checks: [{}, {}, { passed: false }] }],
  });
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
    exactly(t, run, { status: 'passed', counts: { passed: 1 } }, out);
    exactly(t, result, { scenario_name: 'Asks where the order is', ended_by: 'user' });
  },
);
