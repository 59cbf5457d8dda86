/** Mutation testing: which code is mutated, which tests run for it, and the report (ops/mutation). */
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

interface Mutant {
  readonly status: string;
  readonly mutatorName: string;
  readonly location: { readonly start: Place; readonly end?: Place };
  readonly original?: string;
  readonly replacement: string;
}
interface Place {
  readonly line: number;
  readonly column: number;
}
interface NumberMutant extends Pick<Mutant, 'location' | 'replacement'> {
  readonly from: number;
  readonly to: number;
}

const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`ops/mutation/${name}`, CHECKOUT).href)) as T;

const { numbersOf } = await load<{ numbersOf(file: string, text: string): NumberMutant[] }>('numbers.mjs');
const { testsIn } = await load<{
  testsIn(
    graph: ReadonlyMap<string, readonly string[]>,
    names?: readonly string[],
  ): (source: string) => string[];
}>('targets.mjs');
const { describe, score } = await load<{
  describe(file: string, text: string, mutant: Mutant): string;
  score(mutants: readonly Pick<Mutant, 'status'>[]): string;
}>('report.mjs');

t.test('each number of a source gets one more, those of its types do not', async (t) => {
  const text = `const a: 1 | 2 = 1;\nexport const b = [a, -2.5, 0x10, 1_000] as readonly [1, 2];`;
  const mutants = numbersOf('a.ts', text).map(({ from, to, replacement, location }) => [
    text.slice(from, to),
    replacement,
    location.start,
  ]);
  t.strictSame(mutants, [
    ['1', '2', { line: 1, column: 18 }],
    ['2.5', '3.5', { line: 2, column: 23 }],
    ['0x10', '17', { line: 2, column: 28 }],
    ['1_000', '1001', { line: 2, column: 34 }],
  ]);
});

const test = (name: string): string => `dist/test/unit/${name}.test.js`;

t.test('the tests of a source are those of its name, then those nearest', async (t) => {
  const subject = 'dist/contracts/page.js';
  const graph = new Map<string, readonly string[]>([
    [subject, []],
    ['dist/one.js', [subject]],
    ['dist/two.js', ['dist/one.js']],
    [test('other'), []],
    [test('by-way-of-two'), ['dist/two.js']],
    [test('by-way-of-one'), ['dist/one.js']],
    [test('loads-more'), [subject, 'dist/two.js']],
    [test('loads-less'), [subject]],
  ]);
  const near = [test('loads-less'), test('loads-more'), test('by-way-of-one')];
  t.strictSame(testsIn(graph)('contracts/page.ts'), near);
  graph.set(test('contracts/page'), ['dist/one.js']).set(test('also'), ['dist/one.js']);
  t.strictSame(
    testsIn(graph)('contracts/page.ts'),
    [test('contracts/page'), ...near, test('also')],
    'the one of its name first',
  );
  const named = testsIn(graph, ['by-way-of-two', 'loads-more', 'other', 'nobody']);
  t.strictSame(
    named('contracts/page.ts'),
    [test('loads-more'), test('by-way-of-two')],
    'or those that are named',
  );
});

t.test(
  'a part of a machine is tested by those that lie in its folder, though they are farther',
  async (t) => {
    const subject = 'dist/actors/agent/user.js';
    const graph = new Map<string, readonly string[]>([
      [subject, []],
      ['dist/actors/agent/agent.js', [subject]],
      ['dist/test/fixtures/actors/scene.js', ['dist/actors/agent/agent.js']],
      [test('actors/agent/agent-silence'), ['dist/test/fixtures/actors/scene.js']],
      [test('actors/agents'), ['dist/test/fixtures/actors/scene.js']],
      [test('by-way-of-one'), ['dist/actors/agent/agent.js']],
      [test('actors/answers'), [subject]],
    ]);
    const names = [test('actors/answers'), test('actors/agent/agent-silence'), test('by-way-of-one')];
    t.strictSame(testsIn(graph)('actors/agent/user.ts'), names, 'whoever imports it comes first');
  },
);

t.test('a mutant is reported with its place and both texts', async (t) => {
  const text = 'const a = 1;\nconst b = "x" +\n  "y";\n';
  const at = (line: number, column: number): Place => ({ line, column });
  const string = { status: 'Survived', mutatorName: 'StringLiteral', replacement: '""' };
  t.equal(
    describe('a.ts', text, { ...string, location: { start: at(2, 11), end: at(2, 14) } }),
    '[Survived] a.ts:2:11 StringLiteral: "x" → ""',
  );
  t.equal(
    describe('a.ts', text, { ...string, location: { start: at(2, 11), end: at(3, 6) } }),
    '[Survived] a.ts:2:11 StringLiteral: "x" + → ""',
  );
  const number = { status: 'Survived', mutatorName: 'NumericLiteral', original: '1', replacement: '2' };
  t.equal(
    describe('a.ts', text, { ...number, location: { start: at(1, 11) } }),
    '[Survived] a.ts:1:11 NumericLiteral: 1 → 2',
  );
});

t.test('the score counts what tests could notice', async (t) => {
  const statuses = ['Killed', 'Timeout', 'Survived', 'NoCoverage', 'RuntimeError', 'Ignored', 'Killed'];
  t.equal(score(statuses.map((status) => ({ status }))), '3 killed, 2 survived (60 %)');
  t.equal(score([{ status: 'RuntimeError' }]), '0 killed, 0 survived (100 %)');
});
