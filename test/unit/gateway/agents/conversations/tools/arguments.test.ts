/** Arguments of tools, which a model has written. */
import t from '../../../../../fixtures/tap.js';
import type { ArgumentChange } from '../../../../../../contracts/schemas/tool-arguments.js';
import { newTool, type ToolDefinition } from '../../../../../../contracts/schemas/tools.js';
import {
  checkArguments,
  parametersOf,
} from '../../../../../../gateway/agents/conversations/tools/arguments.js';
import { exactly } from '../../../../../fixtures/exactly.js';

const taking = (...args: readonly ArgumentChange[]): ToolDefinition =>
  newTool({ name: 'Tool', arguments: [...args] }).definition;
const tool = (names: readonly string[]): ToolDefinition =>
  taking(...names.map((name) => ({ name, description: `the ${name}` })));

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

const TYPED = taking(
  { name: 'text' },
  { name: 'size', type: 'number', required: false },
  { name: 'count', type: 'integer', required: false },
  { name: 'gift', type: 'boolean', required: false },
  { name: 'colour', enum: ['Red', 'dark blue'], required: false },
  { name: 'floor', type: 'integer', enum: [1, 2], required: false },
);

t.test('the model is told types and choices, and what may be left out', (t) => {
  exactly(t, parametersOf(TYPED), {
    properties: {
      text: { type: 'string', description: '' },
      size: { type: 'number' },
      count: { type: 'integer' },
      gift: { type: 'boolean' },
      colour: { type: 'string', enum: ['Red', 'dark blue'] },
      floor: { type: 'integer', enum: [1, 2] },
    },
    required: ['text'],
  });
  t.notMatch(
    JSON.stringify((parametersOf(TYPED) as { properties: { text: object } }).properties.text),
    'enum',
  );
  t.end();
});

t.test('values are taken in their type, however the model wrote them', (t) => {
  const cases: [given: object, values: object][] = [
    [
      { size: 1.5, count: 3, gift: true, colour: 'Red', floor: 2 },
      { size: 1.5, count: 3, gift: true, colour: 'Red', floor: 2 },
    ],
    [
      { size: ' -1.5e3 ', count: '3', gift: 'False', colour: 'RED', floor: '2' },
      { size: -1500, count: 3, gift: false, colour: 'Red', floor: 2 },
    ],
    [
      { count: 3.0, colour: ' Dark Blue' },
      { count: 3, colour: 'dark blue' },
    ],
    [{ size: null, count: '', gift: '', colour: '', floor: null }, {}],
    [{}, {}],
  ];
  for (const [given, values] of cases) {
    const args = JSON.stringify({ text: 'a', ...given });
    t.strictSame(checkArguments(args, TYPED), { values: { text: 'a', ...values } }, args);
  }
  for (const text of ['', 'a', 5, true, { a: 1 }, ['a']])
    t.strictSame(
      checkArguments(JSON.stringify({ text }), TYPED),
      { values: { text } },
      'a text takes anything',
    );
  t.end();
});

t.test('values of another type are refused, each with what it must be', (t) => {
  const cases: [given: object, problem: string][] = [
    [{ size: 'much' }, 'size must be a number'],
    [{ size: '1,5' }, 'size must be a number'],
    [{ size: [1] }, 'size must be a number'],
    [{ size: true }, 'size must be a number'],
    [{ count: 3.5 }, 'count must be a whole number'],
    [{ count: 2 ** 53 }, 'count must be a whole number'],
    [{ gift: 'yes' }, 'gift must be true or false'],
    [{ gift: 1 }, 'gift must be true or false'],
    [{ colour: 'green' }, 'colour must be one of Red, dark blue'],
    [{ colour: { a: 1 } }, 'colour must be one of Red, dark blue'],
    [{ floor: 3 }, 'floor must be one of 1, 2'],
    [{ size: 'a', floor: 'b' }, 'size must be a number; floor must be a whole number'],
  ];
  for (const [given, problem] of cases)
    t.strictSame(checkArguments(JSON.stringify({ text: 'a', ...given }), TYPED), { problem });
  t.strictSame(checkArguments('{"size":1}', TYPED), { problem: 'Missing: text' });
  const choice = taking({ name: 'colour', enum: ['Red'] });
  t.strictSame(checkArguments('{"colour":""}', choice), { problem: 'Missing: colour' });
  t.end();
});
