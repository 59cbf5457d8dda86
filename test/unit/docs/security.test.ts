/** Each promise of SECURITY.md names tests that are there. */
import { existsSync, readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';

const text = readFileSync(new URL('SECURITY.md', CHECKOUT), 'utf8');
const [, promises = ''] = /^\| promise [^]*?\n\|[- |]+\n([^]*?)\n\n/m.exec(text) ?? [];

t.test('each promise has its tests', (t) => {
  const rows = promises.split('\n').map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  t.ok(rows.length > 10);
  for (const [, promise = '', , tests = ''] of rows) {
    const names = [...tests.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);
    t.ok(names.length > 0, promise);
    for (const name of names) t.ok(existsSync(new URL(`test/${name}.test.ts`, CHECKOUT)), name);
  }
  t.end();
});
