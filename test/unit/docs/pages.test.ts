/** Pages for users (docs, README, the session SDK's): lines of at most 100 characters, tables, code and pictures apart. */
import { readdirSync, readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';

const WIDTH = 100;
const ROOT = CHECKOUT;
const PAGES = [
  'README.md',
  'client/README.md',
  'examples/README.md',
  ...readdirSync(new URL('docs/', ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

const APART = /^\s*(\||!\[)/;
const withoutCode = (page: string): string =>
  page.replace(/^ *(```|~~~)[^]*?^ *\1/gm, (block) => block.replace(/[^\n]/g, ''));

t.ok(PAGES.length > 30);
for (const name of PAGES) {
  const lines = withoutCode(readFileSync(new URL(name, ROOT), 'utf8')).split('\n');
  const long = lines.flatMap((line, index) =>
    [...line].length > WIDTH && !APART.test(line) ? [`${name}:${index + 1}`] : [],
  );
  t.same(long, [], name);
}
