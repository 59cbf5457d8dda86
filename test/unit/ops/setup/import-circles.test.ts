/** Files that import one another in a circle are found. Whether the checkout has any is a row of `npm run check`. */
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

interface ImportCircles {
  circlesOf(graph: ReadonlyMap<string, readonly string[]>): string[][];
  checkCircles(files: ReadonlyMap<string, string>): string[];
}

const module = new URL('ops/setup/import-circles.mjs', CHECKOUT).href;
const { circlesOf, checkCircles } = (await import(module)) as ImportCircles;

const graph = (edges: Readonly<Record<string, readonly string[]>>) => new Map(Object.entries(edges));

t.test('a graph without a way back has no circle', async (t) => {
  t.strictSame(circlesOf(graph({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] })), []);
});

t.test('a circle is reported once, by its shortest path', async (t) => {
  t.strictSame(circlesOf(graph({ a: ['b'], b: ['a'] })), [['a', 'b']]);
  t.strictSame(circlesOf(graph({ x: ['a'], a: ['b', 'c'], b: ['c'], c: ['a'] })), [['a', 'c']]);
  t.strictSame(circlesOf(graph({ a: ['a'] })), [['a']]);
});

t.test('separate circles are reported separately', async (t) => {
  const two = { a: ['b'], b: ['a', 'c'], c: ['d'], d: ['e'], e: ['c'] };
  t.strictSame(circlesOf(graph(two)), [
    ['a', 'b'],
    ['c', 'd', 'e'],
  ]);
});

t.test('imports of every kind lead from file to file', async (t) => {
  const circle = (back: string) =>
    checkCircles(
      new Map([
        ['media/a.ts', `import { b } from './b.js';`],
        ['media/b.ts', back],
      ]),
    );
  const told = ['files in a circle: media/a.ts → media/b.ts → media/a.ts'];
  t.strictSame(circle(`export * from './a.js';`), told);
  t.strictSame(circle(`import type { A } from './a.js';`), told, 'types count as well');
  t.strictSame(circle(`const a = await import('../media/a.js');`), told);
  t.strictSame(circle(`import { join } from 'node:path'; import a from 'a';`), []);
});
