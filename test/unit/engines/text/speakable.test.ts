/** What is spoken of a text: a table, the places in the source, and the same for text that arrives in slices. */
import t from '../../../fixtures/tap.js';
import { hasSound } from '../../../../engines/backends/sound.js';
import { isHeard, speakable } from '../../../../engines/text/speakable.js';
import { SourceWords } from '../../../../engines/text/source-words.js';
import { Cutter } from '../../../../engines/text/text-source.js';
import { seeded } from '../../../fixtures/random.js';

/** Source, and what is spoken of it in English. */
const SPOKEN: readonly (readonly [source: string, spoken: string])[] = [
  ['Esto es muy **importante**.', 'Esto es muy importante.'],
  ['It is *very* good, _really_ good, and __so__ cheap.', 'It is very good, really good, and so cheap.'],
  ['***Both*** and im**port**ant.', 'Both and important.'],
  ['(**Note:** *this*)', '(Note: this)'],
  ['~~Old~~ new', 'Old new'],
  ['# Title\nText', 'Title\nText'],
  ['### Step 3\n\nGo.', 'Step 3\n\nGo.'],
  ['- Apples\n- Pears\n* Plums\n1. Nuts', 'Apples\nPears\nPlums\n1. Nuts'],
  ['- [x] Done\n- [ ] Open', 'Done\nOpen'],
  ['> He said so.\n>> And she.', 'He said so.\nAnd she.'],
  ['Above\n\n---\n\nBelow', 'Above\n\nBelow'],
  ['| Name | Age |\n|------|-----|\n| Ann | 30 |', 'Name, Age.\nAnn, 30.'],
  ['```js\nrun()\n```', 'run()'],
  ['Use `npm test` now.', 'Use npm test now.'],
  ['See [the docs](https://example.com/a_b?x=1) now.', 'See the docs now.'],
  ['See [it](https://en.wikipedia.org/wiki/C_(language) "C").', 'See it.'],
  ['A [word][ref] and ![a cat](cat.png).', 'A word and a cat.'],
  ['Go to https://example.com.', 'Go to example dot com.'],
  ['Go to https://www.example.com/help?x=1#top now', 'Go to example dot com slash help now'],
  ['www.my-site.org is it', 'my dash site dot org is it'],
  ['Mail jane_doe@example.com!', 'Mail jane underscore doe at example dot com!'],
  ['It is on example.com, too.', 'It is on example dot com, too.'],
  ['<p>One</p><p>Two</p>', 'One. Two.'],
  ['<b>Bold</b> and <a href="https://x.y">link</a>', 'Bold and link'],
  ['Line<br/>break', 'Line break'],
  ['<speak>Hello <break time="1s"/> you</speak>', 'Hello you'],
  ['One <!-- hidden --> two', 'One two'],
  ['Fish &amp; chips &lt; 5 &euro; &#39;now&#x27;', "Fish & chips < 5 € 'now'"],
  ['Hello 😀 world 👍🏽!', 'Hello world!'],
  ['👨‍👩‍👧 Family', 'Family'],
  ['Flags 🇩🇪🇫🇷 and 1️⃣', 'Flags and 1'],
  ['A → B ✔', 'A B'],
  ['zero\u200bwidth and soft\u00adhyphen', 'zerowidth and softhyphen'],
  ['bell\u0007ring', 'bell ring'],
  ['half \ud83d pair', 'half pair'],
  ['It is so [1][2], they say [^3].', 'It is so, they say.'],
  [
    'Wikipedia says word[1] and 2020[12], iPhone[3], vitamin C[2][3].',
    'Wikipedia says word and 2020, iPhone, vitamin C.',
  ],
  ['A fact [1](https://example.com/a), and one.[2](https://example.com/b) So.', 'A fact, and one. So.'],
  ['array[0] and array[1], a[1], x[12], m[1][2]', 'array 0 and array 1, a 1, x 12, m 1 2'],
  ['word[0], user_ids[3], row2[1], userNames[4]', 'word 0, user_ids 3, row2 1, userNames 4'],
  ['words[1] = 5; users[2].name; calls[3](x)', 'words 1 = 5; users 2.name; calls 3(x)'],
  ['list[i], list[n-1], list[-1], list[1:3]', 'list i, list n-1, list -1, list 1:3'],
  ['See [3] and press [1] or [2].', 'See 3 and press 1 or 2.'],
  ['Siehe [3]. Pulse [1].', 'Siehe 3. Pulse 1.'],
  ['[T]he friend[s] of [1] Smith', 'The friends of 1 Smith'],
  ['Cited【4:0†source】.', 'Cited.'],
  ['Done.<|endoftext|>', 'Done.'],
  ['Done.</s>', 'Done.'],
  ['<|im_start|>assistant\nHi', 'assistant\nHi'],
  ['[INST] Hi [/INST]', 'Hi'],
  ['\\*not emphasis\\*', '*not emphasis*'],
  ['[laughs] Well (sighs) yes', 'Well yes'],
];

/** What stays as it is. */
const KEPT = [
  ...['3 * 4 * 5', '3*4*5', '2**8', 'snake_case', '2 + 2 = 4', 'C#', '#1', 'I <3 you', 'a * b', '~20', '$5', 'R&D'],
  ...['AT&T', '-5 degrees', '50% off', 'It is 10.30 a.m.', 'a/b', 'e.g. this', "don't", '“Quoted” — so.', 'x<y and y>z'],
  ...['「こんにちは」、世界。', '你好，世界！', '１００％', '3 - 2', 'List<String>', '(an aside)', 'Node.js', 'a|b', '©2024'],
  ...['f*ck', '2*(3+4)', 'می‌خواهم', '¿Qué?', 'No. 5', 'Q&A;', 'x_1'],
]; // oxfmt-ignore

t.test('what is not spoken is taken out, and what is text stays', async (t) => {
  for (const [source, spoken] of SPOKEN) t.equal(speakable(source).text, spoken, JSON.stringify(source));
  for (const text of KEPT) t.equal(speakable(text).text, text);
});

t.test('whether a text is heard is found as by taking out what is not spoken', async (t) => {
  const texts = [...SPOKEN.map(([source]) => source), ...KEPT];
  for (const text of [...texts, ...texts.map((each) => each.slice(0, 3)), `${' '.repeat(1023)}𝐀`])
    t.equal(isHeard(text), hasSound(text) && hasSound(speakable(text).text), JSON.stringify(text));
});

t.test('comparisons and addresses are read in the language of the voice', async (t) => {
  t.equal(speakable('2 < 3 and 4 > 1').text, '2 less than 3 and 4 greater than 1');
  const inLanguage = (language: string) => speakable('a@b.de', { language }).text;
  t.same(['de', 'es', 'fr', 'nl'].map(inLanguage), ['a at b Punkt de', 'a arroba b punto de', 'a arobase b point de', 'a at b dot de']); // oxfmt-ignore
});

t.test('marks of lines count at the beginning of a line only', async (t) => {
  t.equal(speakable('- 2', { beginsLine: false }).text, '- 2');
  t.equal(speakable('# 2\n# 3', { beginsLine: false }).text, '# 2\n3');
});

t.test('engines that know style tags are given them, and nothing else that is not spoken', async (t) => {
  const text = '<|speaker:0|>**Hi** [laughs] <break time="1s"/> <b>you</b> (sighs)<|endoftext|>';
  t.equal(
    speakable(text, { styleTags: true }).text,
    '<|speaker:0|>Hi [laughs] <break time="1s"/> you (sighs)',
  );
});

t.test('each spoken character has its place in the source, in order', async (t) => {
  for (const source of [...SPOKEN.map(([each]) => each), ...KEPT]) {
    const { text, from, to } = speakable(source);
    t.same([from.length, to.length], [text.length, text.length]);
    t.ok(from.every((at, index) => at < to[index]! && at >= (from[index - 1] ?? 0)));
    // The ranges and what was left out between them are the source.
    let joined = '';
    let at = 0;
    from.forEach((start, index) => {
      if (start < at) return;
      joined += source.slice(at, start) + source.slice(start, to[index]);
      at = to[index]!;
    });
    t.equal(joined + source.slice(at), source);
    const kept = from.flatMap((start, index) =>
      to[index]! - start === 1 ? [[source[start], text[index]]] : [],
    );
    t.ok(
      kept.every(([sent = '', said = '']) => sent === said || /[*\s|]/u.test(sent) || /\s/u.test(said)),
      source,
    );
  }
});

t.test('words are told as they stand in the source, an address once', async (t) => {
  const source = 'See **this**: https://example.com/a, or [that](x.y).';
  const spoken = speakable(source);
  const words = new SourceWords(source, spoken);
  const told = spoken.text
    .split(' ')
    .flatMap((text, index) => words.add({ text, start: index, end: index + 1 }));
  t.same(
    [...told, ...words.rest()].map(({ text, start, end }) => [text, start, end]),
    [
      ['See', 0, 1],
      ['this**:', 1, 2],
      ['https://example.com/a,', 2, 7],
      ['or', 7, 8],
      ['that](x.y).', 8, 9],
    ],
  );
  t.same(words.add({ text: 'unknown', start: 9, end: 10 }), [{ text: 'unknown', start: 9, end: 10 }]);
});

t.test('a voice that stops within an address has told it', async (t) => {
  const source = 'https://example.com';
  const words = new SourceWords(source, speakable(source));
  t.same(words.add({ text: 'example', start: 0, end: 1 }), []);
  t.same(words.rest(), [{ text: source, start: 0, end: 1 }]);
  t.same(words.rest(), []);
});

t.test('symbols alone are not heard', async (t) => {
  for (const text of ['', '**', '😀 …', '—', '---', '<br>', '[1]', '<|endoftext|>', '# ', '```'])
    t.notOk(isHeard(text), text);
  for (const text of ['a', '**1**', '$', 'https://a.de', '「あ」']) t.ok(isHeard(text), text);
});

const spokenIn = (slices: readonly string[]): string[] => {
  const cutter = new Cutter({ latency: 'balanced', chunkLength: 200 });
  const pieces = slices.flatMap((slice) => {
    cutter.add(slice);
    return [...cutter.take(false)];
  });
  return [...pieces, ...cutter.take(true)].map(
    ({ text, goesOn }) => speakable(text, { beginsLine: !goesOn }).text,
  );
};

t.test('text that arrives in slices is spoken like the whole', async (t) => {
  const random = seeded(7);
  const text = [...SPOKEN.map(([source]) => source), ...KEPT].join('.\n');
  const whole = spokenIn([text]);
  for (let round = 0; round < 20; round += 1) {
    const slices: string[] = [];
    for (let at = 0; at < text.length; at += slices.at(-1)!.length)
      slices.push(text.slice(at, at + 1 + Math.floor(random() * 30)));
    t.same(spokenIn(slices), whole);
  }
});

t.test('an open mark does not hold a sentence back', async (t) => {
  const cutter = new Cutter({ latency: 'balanced', chunkLength: 200 });
  cutter.add('This is **bold. And [this goes on and on, and it does not end. ');
  const first = [...cutter.take(false)].length;
  cutter.add('And on. And ');
  t.same([first, [...cutter.take(false)].length], [1, 2]);
});

t.test('a run of what cannot be cut is not held back', async (t) => {
  for (const unit of ['<b>', '\\*', '[laughs]', '\uffff', '&amp;', '[1]', '](a)', '<|a|>', '\ufffe']) {
    const cutter = new Cutter({ latency: 'normal', chunkLength: 100 });
    let out = 0;
    for (let slice = 0; slice < 5; slice += 1) {
      cutter.add(unit.repeat(1000));
      for (const { text } of cutter.take(false)) out += text.length;
    }
    t.ok(out > unit.length * 5000 - 1000, unit);
  }
});

t.test('halves of pairs are repaired, unless the other half arrives', async (t) => {
  t.same(spokenIn(['a \ud83d', ' b. c \u{20000}', ' d']), spokenIn(['a \ud83d b. c \ud840', '\udc00 d']));
  const cutter = new Cutter({ latency: 'normal', chunkLength: 100 });
  cutter.add('a \ud83d b');
  t.same(
    [...cutter.take(true)].map(({ text }) => text),
    ['a \ufffd b'],
  );
});

t.test('no text takes long', async (t) => {
  for (const unit of [
    '*',
    '[',
    '](',
    '<',
    '`',
    '|',
    '&',
    '_',
    '<!--',
    '[^',
    '![',
    'a@',
    'a.',
    '- ',
    'http://',
    '(a ',
    '😀',
  ])
    t.ok(speakable(unit.repeat(20_000 / unit.length)).text.length <= 60_000, unit);
});
