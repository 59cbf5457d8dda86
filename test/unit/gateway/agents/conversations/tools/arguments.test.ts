/** Arguments of tools, which a model has written. */
import t from '../../../../../fixtures/tap.js';
import type { ToolDefinition } from '../../../../../../contracts/schemas/tools.js';
import {
  checkArguments,
  parametersOf,
} from '../../../../../../gateway/agents/conversations/tools/arguments.js';
import { exactly } from '../../../../../fixtures/exactly.js';

const tool = (names: readonly string[]) =>
  ({ arguments: names.map((name) => ({ name, description: `the ${name}` })) }) as unknown as ToolDefinition;

t.test('tool arguments are exactly those that are declared, and of bounded length', async (t) => {
  t.same(checkArguments('{"city":"Rome","extra":1}', tool(['city'])), { values: { city: 'Rome' } });
  t.same(checkArguments('', tool([])), { values: {} });
  exactly(t, checkArguments('{"city":null}', tool(['city', 'day'])), { problem: 'Missing: city, day' });
  for (const bad of ['[]', '"a"', '{', 'null'])
    exactly(t, checkArguments(bad, tool([])), { problem: /JSON object/ });
  exactly(t, checkArguments(`{"city":"${'x'.repeat(70_000)}"}`, tool(['city'])), { problem: /too long/ });
  exactly(t, checkArguments(`{"city":"${'\u4e2d'.repeat(30_000)}"}`, tool(['city'])), {
    problem: /too long/,
  });
  exactly(t, parametersOf(tool(['city'])), {
    properties: { city: { type: 'string', description: 'the city' } },
    required: ['city'],
    additionalProperties: false,
  });
});
