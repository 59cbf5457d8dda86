/** Words of an engine as they stand in the text that was sent (engines/text/source-words.ts). */
import t from '../../../fixtures/tap.js';
import { SourceWords } from '../../../../engines/text/source-words.js';
import { speakable } from '../../../../engines/text/speakable.js';

/** What is told after each word of the engine, each a second long, and at the end. */
function toldAfter(source: string, words: readonly string[]) {
  const known = new SourceWords(source, speakable(source));
  const told = words.map((text, second) => known.add({ text, start: second, end: second + 1 }));
  return [...told, known.rest()].map((each) =>
    each.map(({ text, start, end }) => `${text} ${start}-${end}`).join(', '),
  );
}

t.test('a word is told at once, with the marks around it', async (t) => {
  t.strictSame(toldAfter('See **this** now', ['See', 'this', 'now']), ['See 0-1', 'this 1-2', 'now 2-3', '']);
  t.strictSame(toldAfter('Name | Age', ['Name,', 'Age']), ['Name |  0-1', 'Age 1-2', '']);
});

t.test('an address is told once, when the last word of it is known', async (t) => {
  t.strictSame(toldAfter('a.org now', ['a', 'dot', 'org', 'now']), ['', '', 'a.org 0-3', 'now 3-4', '']);
  t.strictSame(toldAfter('www.a.org/b', ['a', 'dot', 'org', 'slash', 'b']).slice(3), [
    '',
    'www.a.org/b 0-5',
    '',
  ]);
  t.strictSame(toldAfter('a.org', ['a', 'dot']), ['', '', 'a.org 0-2'], 'a voice that stops within');
});

t.test('an address whose other words are passed over is told with the next word', async (t) => {
  t.strictSame(toldAfter('a.org now', ['a', 'now']), ['', 'a.org 0-1, now 1-2', '']);
  const joined = 'https://a.org見る';
  t.strictSame(toldAfter(joined, ['a', '見る']), ['', 'https://a.org 0-1, 見る 1-2', '']);
});

t.test('a word that is not in the text is told as it is, and changes no place', async (t) => {
  t.strictSame(toldAfter('a b a', ['', 'x', 'a', 'a', 'b']), [
    ' 0-1',
    'x 1-2',
    'a 2-3',
    'a 3-4',
    'b 4-5',
    '',
  ]);
  t.strictSame(toldAfter('a.org', ['', 'a', 'dot', 'org']), [' 0-1', '', '', 'a.org 1-4', '']);
  t.strictSame(toldAfter('b a b', ['a', 'b', 'b']), ['a 0-1', 'b 1-2', 'b 2-3', '']);
});
