/** Every block of shell commands on a page for users is run by a test, or has a reason why not (test/fixtures/ops/shell-lines.ts). */
import { existsSync, readFileSync } from 'node:fs';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { blocksIn, ROWS, rowsOf, SENDING, shellBlocks } from '../../fixtures/ops/shell-lines.js';

const BLOCKS = shellBlocks();
const at = (file: string) => new URL(file, CHECKOUT);

t.test('each block has the row of its page, in order', async (t) => {
  const pages = new Set([...BLOCKS, ...ROWS.map(([page]) => ({ page }))].map(({ page }) => page));
  for (const page of pages) {
    const begins = ROWS.filter(([of]) => of === page).map(([, begin]) => begin);
    const blocks = BLOCKS.filter((block) => block.page === page).map(({ code }) => code);
    t.equal(blocks.length, begins.length, page);
    for (const [index, code] of blocks.entries())
      t.ok(code.startsWith(begins[index] ?? '\0'), `${page}: ${code.split('\n')[0]}`);
  }
});

t.test('the tests that rows name exist, and those that run a page name it', async (t) => {
  for (const [page, begins, how] of ROWS) {
    const told = 'test' in how ? how.test : how.why;
    for (const [file] of told.matchAll(/(?:test|bench)\/[\w./-]+\.ts/g)) t.ok(existsSync(at(file)), file);
    if (!('test' in how) || how.test === SENDING) continue;
    t.match(readFileSync(at(how.test), 'utf8'), page, `${page}: ${begins}`);
  }
  t.ok(existsSync(at(SENDING)));
  t.ok(ROWS.filter(([, , how]) => 'test' in how).length > 10);
});

t.test('blocks of a page', async (t) => {
  const page = '```sh\none\n```\n\n1. A step:\n\n   ```sh\n   two\n     three\n   ```\n\n```js\nfour\n```\n';
  t.strictSame(
    blocksIn('a.md', page).map(({ code }) => code),
    ['one\n', 'two\n  three\n'],
  );
  t.strictSame(rowsOf({ page: 'README.md', code: 'export KEY=$(cat data/api-key)' }).length, 1);
});
