/** The checks of a scenario, by rule. Their patterns: test/unit/contracts/text/safe-pattern.test.ts. */
import t from '../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import type { SessionItem } from '../../../../../contracts/ports/sessions/sessions.js';
import type { Check } from '../../../../../contracts/schemas/agent-tests.js';
import { ruled, titleOf } from '../../../../../gateway/agents/agent-tests/checks.js';
import { languagesOf } from '../../../../fixtures/agent-tests/queue.js';

const { agentTest: limits } = LIMITS;

// The clock's timers keep nothing alive.
const keepAlive = setInterval(() => undefined, 2 ** 30);
t.teardown(() => clearInterval(keepAlive));

const at = new Date(0);
const said = (role: 'user' | 'assistant', content: string, more: object = {}): SessionItem => ({
  ...{ type: 'message', role, content, turnId: 1, createdAt: at },
  ...more,
});
const toolCall = (toolName: string, input: object): SessionItem => ({
  ...{ type: 'tool_call', callId: 'c', toolName, toolSource: 'webhook', input: JSON.stringify(input) },
  ...{ turnId: 1, createdAt: at },
});

const ITEMS = [
  said('user', 'Where is it?'),
  toolCall('Look_up_an_order', { order_id: 'A-17', count: 2 }),
  said('assistant', 'One moment, please.', { filler: true }),
  said('assistant', 'It was shipped today.'),
];

const holds = async (check: Check, items: readonly SessionItem[] = ITEMS) =>
  (await ruled(check as never, { items, endedBy: 'agent' }, languagesOf)).passed;

t.test('each rule holds for a conversation that fits it and fails for one that does not', async (t) => {
  const tool = 'Look up an order';
  const rows: readonly (readonly [Check, boolean])[] = [
    [{ type: 'contains', text: 'SHIPPED' }, true],
    [{ type: 'contains', text: 'Where is' }, false],
    [{ type: 'contains', text: 'One moment' }, false],
    [{ type: 'not_contains', text: 'delivered' }, true],
    [{ type: 'not_contains', text: 'shipped' }, false],
    [{ type: 'matches', pattern: 'ship\\w+ today' }, true],
    [{ type: 'matches', pattern: '^today' }, false],
    [{ type: 'not_matches', pattern: '\\d' }, true],
    [{ type: 'tool_called', tool }, true],
    [{ type: 'tool_called', tool: 'Look_up_an_order', arguments: { order_id: 'A-17', count: '2' } }, true],
    [{ type: 'tool_called', tool, arguments: { order_id: 'A-18' } }, false],
    [{ type: 'tool_called', tool, times: 1 }, true],
    [{ type: 'tool_called', tool, times: 2 }, false],
    [{ type: 'tool_not_called', tool: 'Refund' }, true],
    [{ type: 'tool_not_called', tool }, false],
    [{ type: 'tool_not_called', tool, arguments: { order_id: 'B' } }, true],
    [{ type: 'ended_by', by: 'agent' }, true],
    [{ type: 'ended_by', by: 'user' }, false],
    [{ type: 'language', language: 'en' }, true],
    [{ type: 'language', language: 'ja' }, false],
    [{ type: 'turns', at_least: 1, at_most: 1 }, true],
    [{ type: 'turns', at_least: 2 }, false],
    [{ type: 'turns', at_most: 0 }, false],
  ];
  for (const [check, expected] of rows) t.equal(await holds(check), expected, titleOf(check));
  const german = [said('assistant', 'Guten Tag, ich habe das für Sie gefunden und es ist heute da.')];
  t.ok(await holds({ type: 'language', language: 'de' }, german));
  t.notOk(await holds({ type: 'language', language: 'fr' }, german));
});

t.test('a pattern is matched with the first part of an answer only', async (t) => {
  const long = `${'a'.repeat(limits.patternText)}b`;
  t.notOk(await holds({ type: 'matches', pattern: 'b' }, [said('assistant', long)]));
  t.ok(await holds({ type: 'matches', pattern: 'b' }, [said('assistant', long.slice(1))]));
});
