/** Placeholders in the texts of an agent, and the variables of a session. */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { render, type Variable } from '../../../../contracts/agents/placeholders.js';

const variables = new Map<string, Variable>([
  ['name', 'Ada'],
  ['count', 7],
  ['ok', false],
  ['nested', '{{name}}'],
  ['dollar', '$&$1$$'],
  ['empty', ''],
]);

t.test('placeholders become their values, once', async (t) => {
  const cases: [string, string][] = [
    ['', ''],
    ['no placeholder', 'no placeholder'],
    ['{{name}}', 'Ada'],
    ['{{ name }}', 'Ada'],
    ['{{name}}{{count}}{{ok}}', 'Ada7false'],
    ['{{nested}}', '{{name}}'],
    ['{{dollar}}', '$&$1$$'],
    ['[{{empty}}]', '[]'],
    ['{{unknown}} {{Name}} {{}} {{ }}', '{{unknown}} {{Name}} {{}} {{ }}'],
    ['{name} {{name} {name}}', '{name} {{name} {name}}'],
    ['{{{name}}}', '{Ada}'],
    ['{{{{name}}}}', '{{Ada}}'],
    ['{{name\n}}', '{{name\n}}'],
    ['{{__proto__}} {{constructor}}', '{{__proto__}} {{constructor}}'],
  ];
  for (const [template, rendered] of cases) t.equal(render(template, variables), rendered, template);
});

t.test('a rendered text is bounded, and rendering hostile ones is quick (decision 19)', async (t) => {
  const most = LIMITS.session.renderedLength;
  const long = new Map<string, Variable>([['a', 'x'.repeat(1000)]]);
  t.equal(render('{{a}}'.repeat(100), long)?.length, most);
  t.equal(render(`{{a}}`.repeat(100) + 'y', long), undefined);
  t.equal(render('{{a}}'.repeat(20_000), long), undefined);
  for (const hostile of [
    '{'.repeat(100_000),
    '{{ '.repeat(30_000),
    `{{${'a'.repeat(99_000)}`,
    '{{a '.repeat(25_000),
  ])
    t.equal(render(hostile, long), hostile);
});
