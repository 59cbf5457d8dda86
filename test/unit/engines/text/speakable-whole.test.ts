/** Parts of a text in which no piece may end (docs/contract/spoken-text.md), whole and while the text still arrives. */
import t from '../../../fixtures/tap.js';
import { maskWhole, OPEN_ADDRESS, OPEN_PART, pastPart } from '../../../../engines/text/speakable-whole.js';

/** With `_` for each character of a part, and `|` for its last one. */
const shown = (text: string): string => maskWhole(text).replaceAll('\uffff', '_').replaceAll('\ufffe', '|');

t.test('links, addresses, tags and citations are masked, at the same length', (t) => {
  const masked: readonly [text: string, shown: string][] = [
    ['Hi. You', 'Hi. You'],
    ['a <b c="d. e"> f', 'a ___________| f'],
    ['at example.com now', 'at __________| now'],
    ['to me@example.com now', 'to _____________| now'],
    ['to https://a.example/b.c now', 'to ____________________| now'],
    ['[w](https://a.example/b. c)', '[w](__________________|. c)'],
    ['x【4:0†a.b】y', 'x________|y'],
    ['a &amp; b', 'a ____| b'],
    ['<!-- a. b -->c', '____________|c'],
    ['a <|b.c|> d', 'a ______| d'],
    ['a <<SYS>> b [INST] c', 'a ______| b _____| c'],
    ['a [^1] b', 'a ___| b'],
    ['a [1] b', 'a __| b'],
    ['a x[1] b', 'a x__| b'],
    ['a list[i] b', 'a list__| b'],
    ['see [12] b', 'see ___| b'],
    ['[a][b. c] d', '[a______| d'],
    ['a [laughs] b (sighs) c', 'a _______| b ______| c'],
    [String.raw`a \* b`, 'a _| b'],
    ['a (b) <String> &nosuch; c', 'a (b) <String> &nosuch; c'],
  ];
  for (const [text, wanted] of masked) t.equal(shown(text), wanted, text);
  t.end();
});

t.test('an index within a part is moved behind it, any other stays', (t) => {
  const text = 'a <b>c <i>';
  const moved = Array.from({ length: text.length + 1 }, (_, index) => pastPart(maskWhole(text), index));
  t.strictSame(moved, [0, 1, 2, 5, 5, 5, 6, 7, 10, 10, 10]);
  t.end();
});

const found = (pattern: RegExp, text: string): string | undefined => pattern.exec(text)?.[0];

t.test('the beginning of a part at the end of a text is found, and nothing else', (t) => {
  const open: readonly [text: string, part: string | undefined][] = [
    ['see [w](https://a.ex', '](https://a.ex'],
    ['[w](a(b)c', '](a(b)c'],
    ['[w](a(b', '](a(b'],
    ['[w](a(bc)d', '](a(bc)d'],
    ['[w](a(bc', '](a(bc'],
    ['[w](a  "title', '](a  "title'],
    ['note [^note', '[^note'],
    [`【${'🙂'.repeat(60)}`, `【${'🙂'.repeat(60)}`],
    ['[w](a "title', '](a "title'],
    ['[w](a "title"', '](a "title"'],
    ['[w]', ']'],
    ['go https://a.b', 'https://a.b'],
    ['go http:', 'http:'],
    ['www.a', 'www.a'],
    ['<b class="x', '<b class="x'],
    ['</p', '</p'],
    ['<!-- a. b', '<!-- a. b'],
    ['<|im_', '<|im_'],
    ['as said【4:0', '【4:0'],
    ['note [^1', '[^1'],
    ['word[12', '[12'],
    ['a &am', '&am'],
    ['a &#3', '&#3'],
    ['a &', '&'],
    ...['a < b', 'a & b', 'a] b', 'x <', 'plain', '[word', '[w](a) ', '<b>', '【4】', 'https', ''].map(
      (text): [string, undefined] => [text, undefined],
    ),
  ];
  for (const [text, part] of open) t.equal(found(OPEN_PART, text), part, text);
  t.end();
});

t.test('an address at the end of a text may go on', (t) => {
  const open: readonly [text: string, address: string | undefined][] = [
    ['at example.com', 'example.com'],
    ['to me@', 'me@'],
    ['+me.x@y', '+me.x@y'],
    ['Hi.', 'Hi.'],
    ['word', undefined],
    ['Hi. ', undefined],
  ];
  for (const [text, address] of open) t.equal(found(OPEN_ADDRESS, text), address, text);
  t.equal(found(OPEN_ADDRESS, maskWhole('at a.org')), maskWhole('a.org'), 'a masked one, too');
  t.equal(found(OPEN_ADDRESS, maskWhole('a.org now')), undefined);
  t.end();
});
