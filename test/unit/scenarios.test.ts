/** Scenarios of agents' tests: what a change leaves, what null means, and which fields a check may have. */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { Check, CHECK_FIELDS, CHECK_TYPES, reviseScenario } from '../../contracts/schemas/agent-tests.js';

const { turns, seconds } = LIMITS.agentTest;

const WHOLE = {
  mode: 'voice',
  user: { goal: 'Find the order.' },
  caller: { voice: 'v' },
  overrides: { language: 'de' },
  dynamic_variables: { name: 'Ada' },
  tool_mocks: [{ tool: 'look', output: '42' }],
  unmocked_tools: 'call',
  max_turns: 3,
  max_seconds: 30,
  checks: [{ type: 'answers_all' }],
} as const;

t.test('a new scenario has the defaults of what it leaves out', async (t) => {
  t.strictSame(reviseScenario(undefined, { agent_id: 'agent_1', name: 'n', user: { lines: ['Hi'] } }), {
    mode: 'text',
    overrides: {},
    dynamic_variables: {},
    tool_mocks: [],
    unmocked_tools: 'fail',
    max_turns: turns.default,
    max_seconds: seconds.default,
    checks: [],
    user: { lines: ['Hi'] },
  });
});

t.test('a change keeps what it leaves out, replaces lists, and null is the default', async (t) => {
  const current = reviseScenario(undefined, { ...WHOLE, tool_mocks: [...WHOLE.tool_mocks], checks: [...WHOLE.checks] });
  t.strictSame(reviseScenario(current, {}), current);
  t.strictSame(reviseScenario(current, { name: 'other', tool_mocks: [], max_turns: 4 }), {
    ...current,
    tool_mocks: [],
    max_turns: 4,
  });
  const reset = reviseScenario(current, { overrides: null, dynamic_variables: null, caller: null });
  t.strictSame(reset, { ...current, overrides: {}, dynamic_variables: {}, caller: undefined });
}); // oxfmt-ignore

t.test('forms are told the fields of each check', async (t) => {
  const fields = (Check as unknown as { 'x-fields': Record<string, readonly string[]> })['x-fields'];
  t.strictSame(Object.keys(fields), CHECK_TYPES);
  t.strictSame(fields['tool_called'], ['tool', 'arguments', 'times']);
  t.strictSame(fields['answers_all'], []);
  const known = Object.keys(Check.properties);
  for (const { needs, may } of Object.values(CHECK_FIELDS))
    for (const field of [...needs, ...may]) t.ok(known.includes(field), field);
});
