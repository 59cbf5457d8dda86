/** The words and names that the text stage knows (docs/contract/spoken-text.md): style tags, elements, entities, signs of addresses. */
import t from '../../../fixtures/tap.js';
import { addressWords, spokenAddress } from '../../../../engines/text/spoken-address.js';
import { scriptsIn } from '../../../../engines/text/language.js';
import { speakable } from '../../../../engines/text/speakable.js';
import { isTag, SpeakerTags, withoutSsml } from '../../../../engines/text/style-tags.js';
import { characterOf } from '../../../../engines/text/text-entities.js';

const spoken = (text: string): string => speakable(text).text;

const PHRASES =
  'happy,sad,amused,awkward,laugh,sighs,pause,break,in a hurry tone,soft tone,low voice,low volume,volume up,volume down,crying loudly,crowd laughing,background laughter,audience laughing,audience laughter,long break,long-break,short pause,long pause,clear throat,clearing throat,clears throat,lip smacking,lip-smacking,professional broadcast tone,emphasis'.split(
    ',',
  );
const DIRECTIONS =
  'laughs harder,starts laughing,wheezing,exhales sharply,muttering,stuttering,applause,gunshot,panicking,deadpan,reassuring,nervously,happily,sarcastically'.split(
    ',',
  );
const DEGREES = 'very,slightly,a little,a bit,really,so,softly,loudly,quietly,extremely,in a'.split(',');
const DELIVERIES = 'tone,voice,softly,loudly,quietly'.split(',');

t.test('style tags are known in both kinds of brackets, directions in square ones', async (t) => {
  for (const words of PHRASES) t.ok(isTag(words, true) && isTag(words, false), words);
  for (const words of DIRECTIONS) t.ok(isTag(words, true) && !isTag(words, false), words);
  for (const words of DIRECTIONS) t.equal(spoken(`a [${words}] b (${words})`), `a b (${words})`);
});

t.test('a style tag may say how much and how, once each, in any case', async (t) => {
  for (const degree of DEGREES) t.ok(isTag(`${degree} sad`, false), degree);
  for (const delivery of DELIVERIES) t.ok(isTag(`sad ${delivery}`, false), delivery);
  for (const words of ['Very Sad Voice', ' sad ', 'in a happy tone']) t.ok(isTag(words, false), words);
  for (const words of ['very', 'sad very', 'tone sad', 'not very sad', 'sad voice over', 'very very sad', 'verysad', 'in a very hurry tone', 'crying tone loudly'])
    t.notOk(isTag(words, true), words);
}); // oxfmt-ignore

t.test('a piece that begins without a speaker’s tag gets the last one', async (t) => {
  const tags = new SpeakerTags();
  const carried = [
    'Hi',
    '<|speaker:1|>a',
    'b',
    'c <|speaker:0|>d<|speaker:12|>e',
    'f',
    '<|speaker:12345|>g',
    '<|speaker:2|>h',
    'i',
  ];
  t.strictSame(
    carried.map((text) => tags.carry(text)),
    [
      'Hi',
      '<|speaker:1|>a',
      '<|speaker:1|>b',
      '<|speaker:1|>c <|speaker:0|>d<|speaker:12|>e',
      '<|speaker:12|>f',
      '<|speaker:12|><|speaker:12345|>g',
      '<|speaker:2|>h',
      '<|speaker:2|>i',
    ],
  );
});

t.test('attributes of SSML say nothing about the script of a text', async (t) => {
  const tag = '<phoneme alphabet="ipa" ph="θita">';
  t.equal(withoutSsml(`a ${tag}b</Phoneme> <break/><lang xml:lang="el">c`), 'a b c');
  t.strictSame([...scriptsIn(`${tag}b</phoneme>`)], []);
  t.strictSame([...scriptsIn('<b title="θita">b</b>')], ['Greek'], 'those of other elements are text');
  for (const text of ['<breakfast>', '<break a<', `<break ${'θ'.repeat(81)}>`, '< break>'])
    t.equal(withoutSsml(text), text);
});

/** Some of each kind: of pages, of forms, of tables, of SSML, of models. */
const ELEMENTS =
  'a abbr br caption dd details dfn div dl footer h1 h6 html input kbd label li main meta section small sup svg table tr ul wbr think answer speak voice prosody say-as paragraph express-as bos eos mask sep start_of_turn end_of_turn'.split(
    ' ',
  );

t.test('tags of known elements are taken out, those of other names are text', async (t) => {
  for (const name of ELEMENTS)
    for (const tag of [`<${name}>`, `<${name.toUpperCase()}/>`, `<${name} a="b">`])
      t.equal(spoken(`x ${tag} y`), 'x y', tag);
  for (const text of ['<String>', '<bold>', '<hh1>', '<1>', '<a b>', '<a\nb c>', '<svc:unknown>'])
    t.equal(spoken(`x${text}y`), `x${text}y`, text);
  t.equal(spoken('x<mstts:express-as style="sad">y</mstts:express-as>'), 'x y', 'whatever their name space');
});

t.test('the end of a block ends a sentence that has no mark', async (t) => {
  for (const name of 'p div li h1 h6 tr td th dt dd blockquote title caption section article'.split(' '))
    t.equal(spoken(`<${name}>x</${name} >y`), 'x. y', name);
  t.equal(spoken('<p>x!</p>y'), 'x! y');
  t.equal(spoken('x</b>y</span>z'), 'x y z', 'that of other elements does not');
  t.equal(spoken('x<p>y'), 'x y', 'nor does the beginning of a block');
});

const ENTITIES =
  'amp & lt < gt > quot " apos \' copy © reg ® trade ™ hellip … mdash — ndash – lsquo ‘ rsquo ’ ldquo “ rdquo ” laquo « raquo » euro € pound £ yen ¥ cent ¢ deg ° times × divide ÷ minus − plusmn ± frac12 ½ frac14 ¼ middot · iexcl ¡ iquest ¿ auml ä ouml ö uuml ü Auml Ä Ouml Ö Uuml Ü szlig ß eacute é egrave è agrave à aacute á iacute í oacute ó uacute ú ntilde ñ ccedil ç ecirc ê ocirc ô'.split(
    ' ',
  );

t.test('entities are their characters', async (t) => {
  for (let at = 0; at < ENTITIES.length; at += 2)
    t.equal(characterOf(`&${ENTITIES[at]};`), ENTITIES[at + 1], `&${ENTITIES[at]};`);
  for (const name of ['nbsp', 'ensp', 'emsp', 'thinsp']) t.equal(characterOf(`&${name};`), ' ', name);
  for (const name of ['shy', 'bull']) t.equal(characterOf(`&${name};`), '', name);
  for (const name of ['nosuch', 'constructor', 'x27', '39']) t.equal(characterOf(`&${name};`), undefined, name);
  t.strictSame(
    ['&#39;', '&#x27;', '&#X41;', '&#128104;', '&#x1F44D;', '&#0;', '&#xD800;', '&#x110000;', '&#1114111;'].map(characterOf),
    ["'", "'", 'A', ' ', ' ', ' ', ' ', '', ' '],
    'emoji, controls and halves of pairs are blanks',
  );
  t.equal(spoken('R&D; &#12345678; &ab &Ouml;l &nosuch;'), 'R&D; &#12345678; &ab Öl &nosuch;');
}); // oxfmt-ignore

/** How `a.b@c/d-e_f` and the comparisons are read. */
const SIGNS: Readonly<Record<string, string>> = {
  en: 'a dot b at c slash d dash e underscore f, less than, greater than',
  de: 'a Punkt b at c Schrägstrich d Minus e Unterstrich f, kleiner als, größer als',
  es: 'a punto b arroba c barra d guion e guion bajo f, menor que, mayor que',
  fr: 'a point b arobase c barre oblique d tiret e tiret bas f, inférieur à, supérieur à',
  it: 'a punto b chiocciola c barra d trattino e trattino basso f, minore di, maggiore di',
  pt: 'a ponto b arroba c barra d hífen e sublinhado f, menor que, maior que',
  ja: 'a ドット b アットマーク c スラッシュ d ハイフン e アンダーバー f, 小なり, 大なり',
  zh: 'a 点 b 艾特 c 斜杠 d 横杠 e 下划线 f, 小于, 大于',
  ko: 'a 닷 b 골뱅이 c 슬래시 d 하이픈 e 밑줄 f, 작다, 크다',
};

t.test('signs of addresses and comparisons have their words in each language', async (t) => {
  for (const [language, words] of Object.entries(SIGNS)) {
    const { less, greater } = addressWords(language);
    t.equal(`${spokenAddress('a.b@c/d-e_f', language)}, ${less}, ${greater}`, words, language);
  }
  t.equal(addressWords('nl'), addressWords('en'), 'those of English, where a language has none');
});

t.test('of an address are read host and short path', async (t) => {
  const told: readonly (readonly [address: string, spoken: string])[] = [
    ['http://a.example', 'a dot example'],
    ['HTTPS://WWW.a.example/', 'a dot example'],
    ['www.a.example//', 'a dot example'],
    ['https://a.example/b?c=d', 'a dot example slash b'],
    ['https://a.example/b#c\nd', 'a dot example slash b'],
    ['https://a.example?b/c', 'a dot example'],
    ['https://a.example:8080/b', 'a dot example slash b'],
    ['https://a.example:8080', 'a dot example'],
    ['https://user:password@a.example/b', 'a dot example slash b'],
    ['https://user@www.a.example', 'a dot example'],
    ['user@www.example', 'user at www dot example'],
    [`a.example/${'b'.repeat(39)}`, `a dot example slash ${'b'.repeat(39)}`],
    [`a.example/${'b'.repeat(40)}`, 'a dot example'],
    ...['%20', '&', '=', ';', ',', '~', ':1'].map((sign) => [`a.example/b${sign}c`, 'a dot example'] as const),
    [`${'a'.repeat(50)}.example`, `${'a'.repeat(50)} dot example`],
    ['a,b.example', 'a,b dot example'],
    ['a,b.example/c', 'a,b dot example slash c'],
    ['https://', ''],
    ['a.', 'a dot'],
    ['a.example/https://www.b', 'a dot example'],
    ['a--b.example', 'a dash dash b dot example'],
  ];
  for (const [address, spoken] of told) t.equal(spokenAddress(address, 'en'), spoken, address);
}); // oxfmt-ignore
