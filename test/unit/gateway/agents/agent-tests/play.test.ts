/** Whole scenarios played with a model that the test plays: the simulated user, mocks, the judge. */
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { TestOutcome } from '../../../../../contracts/ports/agents/agent-tests.js';
import type { ChatEvent, ChatModel, ChatRequest } from '../../../../../contracts/ports/chat.js';
import type { PlannedTool } from '../../../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import type { Check, ScenarioDefinition } from '../../../../../contracts/schemas/agent-tests.js';
import { play } from '../../../../../gateway/agents/agent-tests/play.js';
import {
  type Answer,
  calls,
  chat,
  fast,
  lastOf,
  partsOf,
  queued,
  says,
  type Scene,
  thinkingBy,
} from '../../../../fixtures/agent-tests/queue.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { webhookTool } from '../../../../fixtures/conversation/hosted.js';

// The clock's timers keep nothing alive.
const keepAlive = setInterval(() => undefined, 2 ** 30);
t.teardown(() => clearInterval(keepAlive));

const played = (scene: Scene, signal = new AbortController().signal): Promise<TestOutcome> =>
  play(queued(scene), partsOf(scene), signal);

const transcript = ({ items }: TestOutcome): string[] =>
  items.map((item) => (item.type === 'message' ? `${item.role}: ${item.content}` : item.type));

t.test('in a scenario the agent opens, answers line by line, and the user hangs up', async (t) => {
  const outcome = await played({
    config: { prompt: { ...DEFAULT_CONFIG.prompt, first_message_mode: 'fixed', first_message: 'Hi there!' } },
    definition: {
      user: { lines: ['one', 'two'] },
      checks: [
        { type: 'ended_by', by: 'user' },
        { type: 'turns', at_least: 2, at_most: 2 },
      ],
    },
    agent: (request) => says(`You said ${lastOf(request)}.`),
  });
  t.same(transcript(outcome), [
    ...['assistant: Hi there!', 'user: one', 'assistant: You said one.'],
    ...['user: two', 'assistant: You said two.'],
  ]);
  exactly(t, outcome, { status: 'passed', error: null, endedBy: 'user' });
  exactly(t, outcome.usage, { agentRequests: 2, userRequests: 0, judgeRequests: 0, turns: 2, toolCalls: 0 });
});

t.test('a check that does not hold fails the scenario and says why', async (t) => {
  const { status, checks } = await played({ definition: { checks: [{ type: 'contains', text: 'No' }] } });
  t.equal(status, 'failed');
  t.same(checks, [{ name: 'says “No”', type: 'contains', passed: false, evidence: 'No answer has it' }]);
});

/** Calls a tool to look an order up, and repeats its result. */
const looking: Answer = (request) =>
  request.messages.at(-1)?.role === 'tool'
    ? says(`It says ${lastOf(request)}`)
    : calls('look', { id: lastOf(request) });

const mocked = (definition: Partial<ScenarioDefinition>, tool = webhookTool('look')): Promise<TestOutcome> =>
  played({ agent: looking, tools: [tool], definition: { user: { lines: ['A', 'B'] }, ...definition } });

t.test('the first mock that fits answers in the place of the tool', async (t) => {
  const outcome = await mocked({
    tool_mocks: [
      { tool: 'look', arguments: { id: 'A' }, output: 'shipped' },
      { tool: 'look', output: 'unknown', fails: true },
    ],
  });
  const answers = transcript(outcome).filter((line) => line.startsWith('assistant'));
  t.same(answers, ['assistant: It says shipped', 'assistant: It says {"error":"unknown"}']);
  t.equal(outcome.usage?.toolCalls, 2);
});

t.test('a tool call that no mock fits fails, and nothing is reached', async (t) => {
  const outcome = await mocked({ tool_mocks: [{ tool: 'look', arguments: { id: 'C' }, output: 'x' }] });
  const results = outcome.items.filter((item) => item.type === 'tool_result');
  exactly(t, results, [
    { status: 'failed', error: /No mock/ },
    { status: 'failed', error: /No mock/ },
  ]);
});

t.test('a test that allows it calls the real tool, but never one of a client', async (t) => {
  let reached = 0;
  const fetch = () => {
    reached += 1;
    return Promise.resolve({ status: 200, headers: {}, body: Buffer.from('real'), truncated: false });
  };
  const real = { outbound: { fetch } as never };
  const scene = { agent: looking, definition: { unmocked_tools: 'call' as const }, parts: real };
  const outcome = await played({ ...scene, tools: [webhookTool('look')] });
  t.match(transcript(outcome).at(-1), 'It says real');
  t.equal(reached, 1);
  const client = webhookTool('look');
  const tools = [{ ...client, definition: { ...client.definition, tool_type: 'client' as const } }];
  t.match(transcript(await played({ ...scene, tools })).at(-1), 'No mock');
});

t.test("an MCP server's tools in a test are those that the mocks name", async (t) => {
  const crm = webhookTool('crm');
  const server = { ...crm, definition: { ...crm.definition, tool_type: 'mcp' as const, allowed_tools: [] } };
  const offered: string[][] = [];
  const outcome = await mocked(
    { tool_mocks: [{ tool: 'look', server: 'crm', output: 'found' }] },
    server as PlannedTool,
  );
  t.match(transcript(outcome).at(-1), 'It says found');
  await played({
    tools: [server as PlannedTool],
    agent: ({ tools }) => {
      offered.push(tools.map(({ name }) => name));
      return says('Yes.');
    },
  });
  t.same(offered, [[]], 'none where there is no mock');
});

t.test('system tools work in tests: an agent that hangs up ends the scenario', async (t) => {
  const config = {
    tools: {
      ...DEFAULT_CONFIG.tools,
      enabled: true,
      system_tools: { hang_up_call: true, send_digits: false },
    },
  };
  const agent: Answer = () => [{ kind: 'text', text: 'Good bye.' }, ...calls('hang_up_call', {})];
  const outcome = await played({ config, agent, definition: { user: { lines: ['Bye', 'Still there?'] } } });
  exactly(t, outcome, { status: 'passed', endedBy: 'agent', usage: { turns: 1 } });
});

t.test('a scenario ends after its most turns, and fails after its most seconds', async (t) => {
  const turns = await played({ definition: { user: { lines: ['1', '2', '3'] }, max_turns: 2 } });
  exactly(t, turns, { status: 'passed', endedBy: 'turn_limit', usage: { turns: 2 } });
  const never = { ...chat(() => []), chat: (_: ChatRequest, signal: AbortSignal) => endless(signal) };
  const slow = await played({ definition: { max_seconds: 0.05 }, parts: { models: thinkingBy(never) } });
  exactly(t, slow, { status: 'failed', endedBy: 'time_limit', checks: [{ type: 'limit', passed: false }] });
});

async function* endless(signal: AbortSignal): AsyncGenerator<ChatEvent> {
  await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
  yield { kind: 'text', text: '' };
}

t.test('the model plays a persona until the persona hangs up', async (t) => {
  const asked: ChatRequest[] = [];
  const lines = ['I want tea.', 'Green. Thank you, bye. [hang up]'];
  const outcome = await played({
    definition: { user: { persona: 'Ada, in a hurry', goal: 'Order green tea' } },
    agent: (request) => says(`${lastOf(request)} Which?`),
    model: (request) => {
      asked.push(request);
      return says(lines[asked.length - 1] ?? '');
    },
  });
  t.same(transcript(outcome), [
    ...['user: I want tea.', 'assistant: I want tea. Which?'],
    ...['user: Green. Thank you, bye.', 'assistant: Green. Thank you, bye. Which?'],
  ]);
  exactly(t, outcome, { status: 'passed', endedBy: 'user', usage: { userRequests: 2 } });
  t.match(asked[0]?.messages[0]?.content, /Ada, in a hurry[\s\S]*Order green tea/);
  t.same(
    asked[1]?.messages.slice(1).map(({ role }) => role),
    ['user', 'assistant', 'user'],
    'it hears the agent as the other side',
  );
});

t.test('the model judges all judged checks in one request', async (t) => {
  const model: Answer = () =>
    says(
      '{"criteria": [{"name": "criterion_2", "result": "failure", "rationale": "It was rude."},' +
        '{"name": "criterion_1", "result": "success", "rationale": "It greeted."}]}',
    );
  const checks: Check[] = [
    { type: 'judged', criterion: 'It greets.' },
    { type: 'contains', text: 'Yes' },
    { type: 'judged', name: 'manners', criterion: 'It is polite.' },
  ];
  const outcome = await played({ definition: { checks }, model });
  exactly(t, outcome, { status: 'failed', usage: { judgeRequests: 1 } });
  exactly(t, outcome.checks, [
    { name: 'It greets.', passed: true, evidence: 'It greeted.' },
    { type: 'contains', passed: true },
    { name: 'manners', passed: false, evidence: 'It was rude.' },
  ]);
});

t.test('a check that cannot be decided makes the scenario an error, not a failure', async (t) => {
  const broken: Answer = () => {
    throw new ServiceError('provider_failed');
  };
  exactly(t, await played({ agent: broken }), {
    status: 'error',
    error: 'The agent could not answer: provider_failed',
  });
  const goal = { user: { goal: 'tea' } };
  exactly(t, await played({ definition: goal, model: broken }), {
    status: 'error',
    error: /language model failed/,
  });
  exactly(t, await played({ definition: goal }), { status: 'error', error: /No language model/ });
  const checks: Check[] = [{ type: 'judged', criterion: 'It greets.' }];
  const nonsense = await played({ definition: { checks }, model: () => says('hm') });
  exactly(t, nonsense, { status: 'error', error: /did not answer as asked/ });
  t.equal(nonsense.items.length, 2, 'the transcript is there all the same');
});

t.test('a simulated user that thinks for long is not re-engaged', async (t) => {
  const clock = fast(50);
  const slow: ChatModel = {
    name: 'test',
    async *chat() {
      await new Promise<void>((resolve) => void clock.after(12_000, resolve));
      yield { kind: 'text', text: '[hang up]' };
    },
  };
  const conversation = { ...DEFAULT_CONFIG.conversation, reengage_enabled: true };
  const outcome = await played({
    config: { conversation },
    definition: { user: { goal: 'tea' }, max_seconds: 600_000 },
    parts: { model: slow, clock },
  });
  exactly(t, outcome, { status: 'passed', usage: { agentRequests: 0 } });
});
