/** Scenarios of agents' tests: what a change leaves, what null means, and which fields a check may have. */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import {
  Check,
  CHECK_FIELDS,
  CHECK_TYPES,
  reviseScenario,
  VOICE_CHECKS,
} from '../../../../contracts/schemas/agent-tests.js';
import { checker } from '../../../../contracts/schemas/check.js';

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

t.test('what is shown of a scenario and sent back with a change is no part of it', async (t) => {
  const current = reviseScenario(undefined, { agent_id: 'agent_1', name: 'n', user: { lines: ['Hi'] } });
  const shown = { agent_id: 'agent_2', scenario_id: 'scn_2', created_at: 'then', updated_at: 'now' };
  t.strictSame(reviseScenario(current, { ...shown, max_turns: 4 }), { ...current, max_turns: 4 });
});

t.test('forms are told the fields of each check', async (t) => {
  const fields = (Check as unknown as { 'x-fields': Record<string, readonly string[]> })['x-fields'];
  t.strictSame(Object.keys(fields), CHECK_TYPES);
  const check = checker(Check);
  t.strictSame(
    [...CHECK_TYPES, 'unknown'].filter((type) => check({ type }).ok),
    CHECK_TYPES,
  );
  t.strictSame(fields['tool_called'], ['tool', 'arguments', 'times']);
  t.strictSame(fields['answers_all'], []);
  const known = Object.keys(Check.properties);
  for (const { needs, may } of Object.values(CHECK_FIELDS))
    for (const field of [...needs, ...may]) t.ok(known.includes(field), field);
});

/** The types of checks in a part of docs/agent-tests.md, each with its fields as they are written there. */
function documentedChecks(part: string): readonly (readonly [type: string, fields: readonly string[]])[] {
  const named = (cell: string): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name!);
  const rows = part.split('\n').map((line) => line.split('|').slice(1).map(named));
  return rows.flatMap(([types = [], fields = []]) =>
    types
      .filter((type) => (CHECK_TYPES as readonly string[]).includes(type))
      .map((type) => [type, fields.filter((field) => field in Check.properties)] as const),
  );
}

t.test('docs/agent-tests.md has the checks, their fields, and those that are by voice', async (t) => {
  const page = readFileSync(new URL('docs/agent-tests.md', CHECKOUT), 'utf8');
  const [inText, byVoice] = page.slice(page.indexOf('\n## Checks')).split('Tests by voice have more checks');
  const documented = [...documentedChecks(inText!), ...documentedChecks(byVoice!)];
  const own = Object.entries(CHECK_FIELDS).map(([type, { needs, may }]) => [type, [...needs, ...may]]);
  t.strictSame(Object.fromEntries(documented), Object.fromEntries(own));
  t.strictSame(documentedChecks(byVoice!).map(([type]) => type), [...VOICE_CHECKS]);
  const optional = Object.entries(CHECK_FIELDS).flatMap(([type, { may }]) => may.map((field) => `${type}.${field}`));
  t.strictSame(optional, ['tool_called.arguments', 'tool_called.times', 'tool_not_called.arguments', 'turns.at_least', 'turns.at_most']);
}); // oxfmt-ignore
