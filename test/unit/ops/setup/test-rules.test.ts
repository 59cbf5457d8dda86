/** The rules of test files (ops/setup/test-rules.mjs), and the page of those that may fail beside others (test/flaky.md). */
import { existsSync, readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

const load = async <Module>(name: string): Promise<Module> =>
  (await import(new URL(`ops/setup/${name}`, CHECKOUT).href)) as Module;
const { misplaced, testFaults } = await load<{
  misplaced(name: string, exists: (folder: string) => boolean): string[];
  testFaults(name: string, text: string): string[];
}>('test-rules.mjs');
const { flakyRows } = await load<{
  flakyRows(page: string): { file: string; cause: string; since: string }[];
}>('flaky-tests.mjs');

const REFUSED = [
  "t.match(found, { param: 'tools' });",
  "t.match(found, ['tools'] as const, 'all');",
  'await t.rejects(work, new RangeError());',
  't.throws(work, { code: 1 });',
  "import t from 'tap';",
  "import t, { type Test } from 'tap';",
];
const ALLOWED = [
  't.match(found, /tools/);',
  "t.match(found, 'tools');",
  't.throws(work, RangeError);',
  "exactly(t, found, { param: 'tools' });",
  "'some tools'.match(/tools/);",
  "import type { Test } from 'tap';",
];

t.test('a pattern that holds more than a text is matched exactly, and t is that of the file', async (t) => {
  for (const line of REFUSED) t.match(testFaults('a.test.ts', `\n${line}`).join(), /^a\.test\.ts:2: /, line);
  for (const line of ALLOWED) t.strictSame(testFaults('a.test.ts', line), [], line);
});

t.test('a unit test lies where its source does, a contract test in the folder of a surface', async (t) => {
  const exists = (folder: string) => folder === 'actors/agent';
  for (const name of [
    'test/unit/actors/agent/a.test.ts',
    'test/contract/edge/a.test.ts',
    'test/fixtures/a.ts',
  ])
    t.strictSame(misplaced(name, exists), [], name);
  for (const name of ['test/unit/a.test.ts', 'test/contract/a.test.ts', 'test/unit/actors/nobody/a.test.ts'])
    t.equal(misplaced(name, exists).length, 1, name);
});

t.test('a flaky test is listed with its cause and day, and at most five are', async (t) => {
  const row = '| `test/unit/a.test.ts` | waits for a second | 2026-01-02 |';
  t.strictSame(flakyRows(`| file | cause | since |\n| --- | --- | --- |\n${row}\n`), [
    { file: 'test/unit/a.test.ts', cause: 'waits for a second', since: '2026-01-02' },
  ]);
  const rows = flakyRows(readFileSync(new URL('test/flaky.md', CHECKOUT), 'utf8'));
  t.ok(rows.length <= 5, 'at most five');
  for (const { file, cause, since } of rows) {
    t.match(file, /\.test\.(ts|mjs)$/);
    t.ok(existsSync(new URL(file, CHECKOUT)), file);
    t.ok(cause, `${file}: a cause`);
    t.match(since, /^\d{4}-\d\d-\d\d$/, `${file}: a day`);
  }
});
