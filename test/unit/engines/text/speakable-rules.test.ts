/** Each rule of what is not spoken, at its edges (docs/contract/spoken-text.md): what it takes out, and what is close to it and text. */
import t from '../../../fixtures/tap.js';
import { speakable, type SpeakableOptions } from '../../../../engines/text/speakable.js';

type Row = readonly [text: string, spoken: string];

/** Texts that stay as they are. */
const kept = (...texts: readonly string[]): Row[] => texts.map((text) => [text, text]);

const RULES: Readonly<Record<string, readonly Row[]>> = {
  'a fence is a line of three signs or more, and the name of a language': [
    ['```js\nx\n```', 'x'],
    ['        ```\nx', 'x'],
    ['\t````\nx', 'x'],
    ['~~~ py\nx\n~~~~', 'x'],
    ['x\n``` \ny', 'x\ny'],
    [`\`\`\`${'a'.repeat(60)}\nx`, 'x'],
    [`\`\`\`${'a'.repeat(61)}`, 'a'.repeat(61)],
    ['```a`b', 'ab'],
    ['say ```js', 'say js'],
    ['say ~~~js', 'say js'],
    ...kept('~20 of them'),
  ],
  'the rule of a table is a line of bars and hyphens': [
    ['A | B\n--|--\n1 | 2', 'A, B\n1, 2'],
    ['A | B\n  | :--: | --- |  \n1 | 2', 'A, B\n1, 2'],
    ['A | B\n:-- | --: \n1 | 2', 'A, B\n1, 2'],
    ['A | B\n|--|\t:-\n1 | 2', 'A, B\n1, 2'],
    ...kept('a --|-- b', '-|-', 'a\n--|-- b'),
  ],
  'a rule is a line of three signs or more': [
    ['a\n---\nb', 'a\nb'],
    ['a\n  * * *\nb', 'a\nb'],
    ['a\n\t___\nb', 'a\nb'],
    ['a\n-\t-\t-\nb', 'a\nb'],
    ['a\n=====\nb', 'a\nb'],
    ['a\n---- -\nb', 'a\nb'],
    ...kept('a\n--\nb', 'a\n==\nb', 'a\n==== x', 'a --- b', 'a === b'),
  ],
  'a heading has up to six signs and a blank': [
    ['# T', 'T'],
    ['   ###### T', 'T'],
    ['#\tT', 'T'],
    ['##  T', 'T'],
    ...kept('#T', '####### T', '    # T', 'a # b'),
  ],
  'an item of a list has a sign and a blank': [
    ['- a', 'a'],
    ['    + a', 'a'],
    ['\t*\ta', 'a'],
    ['•  a', 'a'],
    ['‣ a\n◦ b', 'a\nb'],
    ['- [ ] a', 'a'],
    ['- [x]  a', 'a'],
    ['-  [x] a', 'a'],
    ['* [X] a', 'a'],
    ['- [y] a', 'y a'],
    ['- [x]a', 'xa'],
    ...kept('-a', '+a', 'a - b', 'a + b', 'a • b'),
  ],
  'a quotation has signs at the beginning of its lines': [
    ['> a\n>b', 'a\nb'],
    ['  > > a', 'a'],
    ['>>\ta', 'a'],
    ['\t>\t> a', 'a'],
    ...kept('a >b c>d'),
  ],
  'cells of a table are clauses, and rows sentences': [
    ['| a | b |\n| c | d |', 'a, b.\nc, d.'],
    ['|a|b|\n|c|', 'a|b.\nc|'],
    ['  |  a  |  b  |  \nc', 'a, b.\nc'],
    ['a | b\r\nc |', 'a, b\r\nc.'],
    ['a |\tb', 'a, b'],
    ['a! | b? |\nc', 'a! b?\nc'],
    ['a | | b', 'a, b'],
    ['|  | a |  | b |  |\nc', 'a, b.\nc'],
    ['a |  |  |\nc', 'a.\nc'],
    ...kept('a|b', 'a |b', 'a| b', 'a || b'),
  ],
  'control tokens of models are not spoken': [
    ['a<|im_end|>b', 'a b'],
    ['a<|a/b:c d.e-f_1|>b', 'a b'],
    ['a <<SYS>> b <</SYS>> c', 'a b c'],
    ['a [INST] b [/INST] c', 'a b c'],
    ...kept('a<||>b', 'a<|é|>b', `a<|${'b'.repeat(61)}|>`, 'a<<sys>>b'),
  ],
  'comments are not spoken': [
    ['a<!---->b', 'a b'],
    ['a<!-- b\nc -->d<!--e-->f', 'a d f'],
    [`a<!--${'b'.repeat(300)}-->c`, 'a c'],
    ...kept(`a<!--${'b'.repeat(301)}-->c`, 'a<!-b->c'),
  ],
  'a tag has a name and attributes with values': [
    ['a<br/>b', 'a b'],
    ['a<br />b', 'a b'],
    ['a</b >b', 'a b'],
    ['a<a href="b c"\ntitle=\'d\'>e</a>f', 'a e f'],
    ['a<h1>b</h1>c', 'a b. c'],
    ['<p>a</p >b', 'a. b'],
    ['a<tbody>b<svg>c<thinking>d<eos>e<start_of_turn>f', 'a b c d e f'],
    ['a<mstts:express-as style="b">c', 'a c'],
    ...kept('a<say-x:as b="c">d'),
    [`a<b c="${'d'.repeat(590)}">e`, 'a e'],
    ...kept(`a<b c="${'d'.repeat(610)}">e`, 'a<b c>d', 'a<b,c>d', 'a <b', 'a<é>b', 'a< b>c', `a<b${'c'.repeat(21)}>d`),
  ],
  'comparisons stand between blanks and words': [
    ['2 < 3', '2 less than 3'],
    ['(a) > (b)', '(a) greater than (b)'],
    ['ä < -1', 'ä less than -1'],
    ['x > ß', 'x greater than ß'],
    ...kept('a  < b', 'a <  b', 'a <b', 'a< b', '… < b', 'a > …', 'a  > b', 'a >b', '… > b', 'a < …'),
  ],
  'entities are read as their characters': [
    ['&#39;a&#8364; &#x27;&#X20AC; &amp;&#223;&lt;', "'a€ '€ &ß<"],
    ...kept('&a;', '&abcdefghi;', '&#;', '&#x;', '&#xg;', '&#x1234567;'),
  ],
  'pictures and links are read by their words': [
    ['![a cat](a.png) b', 'a cat b'],
    ['a [b](c) d', 'a b d'],
    ['a [b](c(d)e) f', 'a b f'],
    ['a [b](c "d e") f', 'a b f'],
    ['a [b](c \t "d") f', 'a b f'],
    ['a [b](c    "d") f', 'a b(c "d") f'.replace('c "', 'c    "')],
    ['a [b]() c', 'a b c'],
    ['a [b][c d] e', 'a b e'],
    ['a [b][] c', 'a b c'],
    ['a! [b] (c)', 'a! b (c)'],
    ['a ![b] c', 'a !b c'],
    ['a ![b](c', 'a b(c'],
    ['[a](b c)', 'a(b c)'],
    ['[a](b\nc)', 'a(b\nc)'],
    [`a ![${'b'.repeat(200)}](c)`, `a ${'b'.repeat(200)}`],
    [`a ![${'b'.repeat(201)}](c)`, `a !${'b'.repeat(201)}`],
    [`[a][${'b'.repeat(80)}]`, 'a'],
    [`[a][${'b'.repeat(81)}]`, `a${'b'.repeat(81)}`],
    [`[a](b "${'c'.repeat(200)}")`, 'a'],
    [`[a](b(${'c'.repeat(200)}))`, 'a'],
  ],
  'footnote marks and citations are not spoken': [
    ['a[^1] b[^note]: c', 'a b c'],
    ['a [1] b [2, 3] c [4-6] d [7–8] e [1,2,3] f', 'a b c d e f'],
    ['a [123] b [1, 22] c [12-345] d', 'a b c d'],
    ['a [1](https://a.example) b', 'a b'],
    ['a [1](b) c', 'a c'],
    ['a [1](b c) d', 'a (b c) d'],
    ['a【4:0†source】b', 'a b'],
    ['a【†】b', 'a b'],
    ['a [^b c] d', 'a ^b c d'],
    ['a [1234] b', 'a 1234 b'],
    ['a [1;2] b', 'a 1;2 b'],
    [`a [^${'b'.repeat(40)}] c`, 'a c'],
    [`a [^${'b'.repeat(41)}] c`, `a ^${'b'.repeat(41)} c`],
    [`[${Array(9).fill('1').join(', ')}] a`, 'a'],
    [`[${Array(10).fill('1').join(', ')}] a`, `${Array(10).fill('1').join(', ')} a`],
    ...kept('a【b】c', 'a【b\n†】c', `a【${'b'.repeat(61)}†c】`),
  ],
  'indexes of code are the number, apart from the name': [
    ['x[1], a_b[22], row2[3], rows12[4], userNames[5], argv[6], vec[1]', 'x 1, a_b 22, row2 3, rows12 4, userNames 5, argv 6, vec 1'],
    ['items[1] nums[2] buf[3] arr[4] args[5]', 'items 1 nums 2 buf 3 arr 4 args 5'],
    ['m[1][2][3][4]', 'm 1 2 3 4'],
    ['m[i+1][2]', 'm i+1 2'],
    ['users[0] f(x)[0] m[x][0]', 'users 0 f(x) 0 m x 0'],
    ['words[1].name words[2](x) words[3]++', 'words 1.name words 2(x) words 3++'],
    ['words[1] = a words[2]+=1 words[3] == "b"', 'words 1 = a words 2+=1 words 3 == "b"'],
    ['words[1] < b words[2]>=[c] words[3] <= (d)', 'words 1 < b words 2>=c words 3 <= (d)'],
    ['list[i], list[n - 1], list[-12], list[1:3], list[:-1], list[2:]', 'list i, list n - 1, list -12, list 1:3, list :-1, list 2:'],
    ['x1[i], list[n-12], m[1][k]', 'x1 i, list n-12, m 1 k'],
    ['ä[i], f(x)[j], m[0][k]', 'ä i, f(x) j, m 0 k'],
    ['iPhone[1], vitamin C[2], word[3] and é[4]', 'iPhone, vitamin C, word and é'],
    ['words[1]. Then [2] = x', 'words. Then = x'],
    ['list[a], list[n-], list[--1]', 'lista, listn-, list--1'],
  ],
  'a number that is the object of its word is spoken': [
    ['Press [1].', 'Press 1.'],
    ['See [3], press [1] or [2], in [4].', 'See 3, press 1 or 2, in 4.'],
    ['dial [1] type [2] enter [3] choose [4] select [5] option [6] key [7]', 'dial 1 type 2 enter 3 choose 4 select 5 option 6 key 7'],
    ['number [1] step [2] item [3] level [4] section [5] from [6] of [7] to [8] and [9]', 'number 1 step 2 item 3 level 4 section 5 from 6 of 7 to 8 and 9'],
    ['Drücken [1] oder [2] und [3], wählen [4], siehe [5]', 'Drücken 1 oder 2 und 3, wählen 4, siehe 5'],
    ['Appuyez sur [1] ou [2] et [3], tapez [4], voir [5]', 'Appuyez sur 1 ou 2 et 3, tapez 4, voir 5'],
    ['Pulse [1] o [2] y [3], marque [4], véase [5], en [6]', 'Pulse 1 o 2 y 3, marque 4, véase 5, en 6'],
    ['foresee [3], is_in [4], SEE [5]', 'foresee, is_in, SEE'],
    ['See [3](https://a.example).', 'See.'],
  ],
  'other brackets are left out, and their words stay': [
    ['[T]he [friends]', 'The friends'],
    ['[happy] a (happy) b (a happy man)', 'a b (a happy man)'],
    ['[applause] a (applause)', 'a (applause)'],
    ['[a]: b', 'a: b'],
  ],
  'addresses are read': [
    ['See https://a.example/b. Or www.a.example! (http://c.example)', 'See a dot example slash b. Or a dot example! (c dot example)'],
    ['Hxxps://a, HTTP://A.example, WWW.b.example', 'Hxxps://a, A dot example, b dot example'],
    ['<https://a.example> "https://b.example" |https://c.example', '<a dot example> "b dot example" |c dot example'],
    ['見る https://a.example、はい', '見る a dot example、はい'],
    ['https://a.example見る', 'a dot example見る'],
    ['mail me.too+x@a.example.org, a_b-c@d.org!', 'mail me dot too+x at a dot example dot org, a underscore b dash c at d dot org!'],
    ['me@a.de, you@b.fr!', 'me at a dot de, you at b dot fr!'],
    ['a.org b.co.uk my-site.io x1.ai', 'a dot org b dot co dot uk my dash site dot io x1 dot ai'],
    ['a.com, b.net. c.edu d.gov e.dev f.app g.de h.fr i.es j.jp k.cn l.eu', 'a dot com, b dot net. c dot edu d dot gov e dot dev f dot app g dot de h dot fr i dot es j dot jp k dot cn l dot eu'],
    ['xhttps://a b', 'xhttps://a b'],
    ...kept('Node.js', 'a.orgx', 'A.com', 'me@localhost', '@a.org', 'a@b@c', 'https://', 'x/a.org', 'a.org@b', 'a.org-b', '-a.org', 'b_www.a'),
  ],
  'signs that are escaped are text': [
    [String.raw`\*a\* \_b \# \[c\] \(d\) \~ \> \| \\ \``, '*a* _b # [c] (d) ~ > | \\ `'],
    ...kept(String.raw`\a \1`),
  ],
  'signs of emphasis stand at one side of a word': [
    ['*a* **b** ***c*** a**b**c', 'a b c abc'],
    ['_a_ __b__ (_c_)', 'a b (c)'],
    ['~~a~~ `b` ``c``', 'a b c'],
    ['***c***', 'c'],
    ['*1* 2*3', '1 2*3'],
    ['a* b', 'a b'],
    ['a___b', 'a b'],
    ['*\u{1d400}* \u{1d400}_\u{1d400}', '\u{1d400} \u{1d400}_\u{1d400}'],
    ...kept('a * b', 'a ** b', '** b', 'a **', '__ b', '3*4', 'a__b', '(3)*(4)', '(x)**(y)', '2**8', 'a*b', 'a_b', 'a _ b', 'a~b', '3 *\n4'),
    ['a*', 'a'],
    ['3*x **4', '3*x 4'],
  ],
  'emoji, arrows and signs of pictures are not spoken': [
    ['a 👍 b', 'a b'],
    ['a👍🏽b', 'a b'],
    ['a 👨‍👩‍👧‍👦 b 🇩🇪🇫🇷 c 🏴󠁧󠁢󠁥󠁮󠁧󠁿', 'a b c'],
    ['a → b ⌘ c ─ d ☎️ e ⬛ f ✔ g', 'a b c d e f g'],
    ['1️⃣ a', '1 a'],
    ['a 🏽 b', 'a b'],
    ...kept('© ® ™ ‼ ⁉', '½ № §'),
  ],
  'marks without a width join what is beside them, controls part it': [
    ['a\u200bb\u00adc\ufeffd\u2060e\u200ef\u202ag\u2066h', 'abcdefgh'],
    ['a\ufe0f\u200b\u200bb', 'ab'],
    ['a\u0000b\u0007\u0008c\u000bd\u000ce\u001ff\u007fg\u0080h', 'a b c d e f g h'],
    ['a\ud83db \udc4d c\ufffdd\ue000e\uffffF', 'a b c d e F'],
    ['a\tb\nc\r\nd', 'a\tb\nc\r\nd'],
    ...kept('می\u200cخواهم', 'क्\u200dष'),
  ],
}; // oxfmt-ignore

for (const [rule, rows] of Object.entries(RULES))
  t.test(rule, async (t) => {
    for (const [text, spoken] of rows)
      t.equal(speakable(text).text, spoken, JSON.stringify(text).slice(0, 80));
  });

t.test('what is left out parts words from what is before them, and marks from words', async (t) => {
  const apart: readonly Row[] = [
    ['a👍b', 'a b'],
    ['<p>One!</p><p>Two</p>', 'One! Two.'],
    ['One.<br/>Two', 'One. Two'],
    ['Hi,👋you', 'Hi, you'],
    ['3.<b>5</b>', '3.5'],
    ['(<b>a</b>)', '(a)'],
    ['a 👍, b', 'a, b'],
    ['a 👍 👍 b', 'a b'],
    ['👍 a', 'a'],
    ['a 👍', 'a'],
    ['a\n👍\nb', 'a\nb'],
  ];
  for (const [text, spoken] of apart) t.equal(speakable(text).text, spoken, text);
});

const said = (text: string, options: SpeakableOptions): string => speakable(text, options).text;

t.test('in a text that does not begin a line, marks of lines count behind the first line end', async (t) => {
  for (const mark of ['- ', '> ', '# ', '| '])
    t.equal(said(`${mark}a\n${mark}b`, { beginsLine: false }).split('\n')[1], 'b', mark);
  for (const text of ['- a', '> a', '# a', '---', '```'.replaceAll('`', '=')])
    t.equal(said(text, { beginsLine: false }), text);
  t.equal(said('a\r- b', {}), 'a\rb', 'whatever the line end');
});

t.test('engines that know style tags get these as they are written', async (t) => {
  const known = ['[laughs]', '(sighs)', '<break time="1s"/>', '</PROSODY>', '<|speaker:12|>'];
  for (const tag of known) {
    t.equal(said(`a ${tag} b`, { styleTags: true }), `a ${tag} b`, tag);
    t.equal(said(`a ${tag} b`, {}), 'a b', tag);
  }
  for (const tag of ['<b>', '<|speaker:12345|>', '<|x speaker:1|>', '<|im_end|>', '<breve a="b">'])
    t.equal(said(`a ${tag} b`, { styleTags: true }), said(`a ${tag} b`, {}), tag);
});
