/** Phrases from words, SubRip and WebVTT (docs/contract/protocol-a.md 2.3). */
import t from '../../fixtures/tap.js';
import { type Phrase, phrasesOf, toSrt, toVtt } from '../../../codecs/subtitles.js';

/** Words of the text, `pace` seconds each, one after the other. */
const wordsOf = (text: string, pace = 0.3) =>
  text.split(/\s+/).map((word, index) => ({ text: word, start: index * pace, end: (index + 1) * pace }));

const said = (text: string, pace?: number) => phrasesOf({ text, words: wordsOf(text, pace), segments: [] });
const texts = (phrases: readonly Phrase[]) => phrases.map(({ text }) => text);

t.test('a sentence ends a phrase, with its quotes and brackets', async (t) => {
  t.strictSame(texts(said('One two. "Three four!" (Five?) Six')), [
    'One two.',
    '"Three four!"',
    '(Five?)',
    'Six',
  ]);
});

t.test('a pause ends a phrase, a short one does not', async (t) => {
  const words = [
    { text: 'a', start: 0, end: 0.2 },
    { text: 'b', start: 0.9, end: 1.1 },
    { text: 'c', start: 2, end: 2.2 },
  ];
  t.strictSame(phrasesOf({ text: 'a b c', words, segments: [] }), [
    { text: 'a b', start: 0, end: 1.1 },
    { text: 'c', start: 2, end: 2.2 },
  ]);
});

t.test('no phrase is too long to read', async (t) => {
  const text = Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ');
  for (const pace of [0.05, 0.3, 2]) {
    const phrases = said(text, pace);
    t.equal(texts(phrases).join(' '), text, 'nothing is lost');
    for (const { text, start, end } of phrases) {
      t.ok(text.length <= 84);
      t.ok(end - start <= 7.001);
    }
  }
});

t.test('a comma ends a phrase that is long enough', async (t) => {
  const first = 'here is a clause with a good number of words,';
  t.strictSame(texts(said(`${first} and what follows it goes on for a while`, 0.1))[0], first);
  t.equal(texts(said('short, but one phrase', 0.1)).length, 1);
});

t.test("the transcript's own writing is kept, without spaces where it has none", async (t) => {
  const words = ['今日', 'は', 'いい', '天気', 'です'].map((text, index) => ({
    text,
    start: index,
    end: index + 0.9,
  }));
  t.strictSame(texts(phrasesOf({ text: '今日はいい天気です。', words, segments: [] })), [
    '今日はいい天気です。',
  ]);
  const bare = [
    { text: 'hello', start: 0, end: 1 },
    { text: 'world', start: 1, end: 2 },
  ];
  t.strictSame(texts(phrasesOf({ text: 'Oh, hello,  world!', words: bare, segments: [] })), [
    'hello, world!',
  ]);
  const extra = [bare[0]!, { text: 'never', start: 1, end: 1 }, bare[1]!];
  const derailed = phrasesOf({ text: `hello world ${'x '.repeat(50)}never`, words: extra, segments: [] });
  t.match(
    texts(derailed).join(' '),
    /^hello never world x/,
    'a word that is not there does not derail the rest',
  );
  t.strictSame(texts(phrasesOf({ text: 'something else', words: bare, segments: [] })), ['hello world']);
});

t.test('marks that open a word belong to it, if the engine leaves marks out of its words', async (t) => {
  const bare = (text: string) => {
    const words = wordsOf(text.replace(/[^\p{L}\p{N}' ]+/gu, ''));
    return texts(phrasesOf({ text, words, segments: [] }));
  };
  t.strictSame(bare('¿Qué tal? ¡Bien! Gracias.'), ['¿Qué tal?', '¡Bien!', 'Gracias.']);
  t.strictSame(bare('“One,” she said. “Two.” (Three?) Four'), [
    '“One,” she said.',
    '“Two.”',
    '(Three?)',
    'Four',
  ]);
  t.strictSame(bare('It is $5. "Yes." "No, $7!"'), ['It is $5.', '"Yes."', '"No, $7!"']);
  t.strictSame(bare(`${'😀'.repeat(8)}¿Hi?`), ['¿Hi?'], 'no half of a character');
});

t.test('without words the segments are the phrases', async (t) => {
  const segments = [
    { text: 'One.', start: 0, end: 1 },
    { text: ' ', start: 1, end: 2 },
    { text: 'Two.', start: 2, end: 3 },
  ];
  t.strictSame(texts(phrasesOf({ text: 'One. Two.', segments })), ['One.', 'Two.']);
  t.strictSame(phrasesOf({ text: '', words: [], segments: [] }), []);
});

t.test('times ascend whatever the engine says', async (t) => {
  const segments = [
    { text: 'a', start: 1, end: 3 },
    { text: 'b', start: 2, end: 2 },
    { text: 'c', start: 2.5, end: 4 },
  ];
  let last = 0;
  for (const { start, end } of phrasesOf({ text: 'a b c', segments })) {
    t.ok(start >= last && end > start);
    last = end;
  }
});

const LONG: readonly Phrase[] = [
  { text: 'one\n\ntwo', start: 0, end: 1.5 },
  { text: 'a < b && c --> d', start: 3661.0016, end: 3662.9996 },
];

t.test('SubRip', async (t) => {
  t.equal(
    toSrt(LONG),
    '1\n00:00:00,000 --> 00:00:01,500\none two\n\n2\n01:01:01,002 --> 01:01:03,000\na < b && c --> d\n\n',
  );
  t.equal(toSrt([]), '');
});

t.test('WebVTT, escaped', async (t) => {
  t.equal(
    toVtt(LONG),
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\none two\n\n' +
      '01:01:01.002 --> 01:01:03.000\na &lt; b &amp;&amp; c --&gt; d\n\n',
  );
  t.equal(toVtt([]), 'WEBVTT\n\n');
});
