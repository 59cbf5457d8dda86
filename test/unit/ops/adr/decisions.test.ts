/** Decisions (ops/adr): numbers without holes, one form, a bound on words, and a row each in the table of README. */
import { readdirSync, readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

const WORDS = 300;
const LABELS = ['Question', 'Choice', 'Reasons', 'Cost'];
const FOLDER = new URL('ops/adr/', CHECKOUT);

const read = (name: string): string => readFileSync(new URL(name, FOLDER), 'utf8');
const names = readdirSync(FOLDER)
  .filter((name) => name.endsWith('.md') && name !== 'README.md')
  .toSorted();
const readme = read('README.md');

t.test('numbers are without holes', async (t) => {
  const numbers = names.map((name) => name.slice(0, 4));
  t.strictSame(
    numbers,
    names.map((_, index) => String(index + 1).padStart(4, '0')),
  );
});

for (const name of names) {
  t.test(name, async (t) => {
    const text = read(name);
    const [, number, title = ''] = /^# (\d{4}): (.+)$/m.exec(text.split('\n', 1)[0] ?? '') ?? [];
    t.equal(number, name.slice(0, 4), 'the title has the number of the file');
    const labels = [...text.matchAll(/^\*\*(\w+)\.\*\*(?=\s)/gm)].map(([, label = '']) => label);
    t.strictSame(
      labels.filter((label) => label !== 'Others'),
      LABELS,
      'the labels, in this order',
    );
    const words = text.split(/\s+/).filter(Boolean).length;
    t.ok(words <= WORDS, `${words} words of ${WORDS}`);
    t.ok(readme.includes(`\n| [${number}](${name}) | ${title} |\n`), 'README lists it by its title');
  });
}
