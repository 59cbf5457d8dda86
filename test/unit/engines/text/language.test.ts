/** Scripts of a text, the languages that it may be in, and what a voice cannot read of it. */
import t from '../../../fixtures/tap.js';
import {
  languageOf,
  languagesIn,
  likelyLanguages,
  scriptsIn,
  scriptsInLong,
  unreadBy,
} from '../../../../engines/text/language.js';

/** Texts with their scripts, in the order in which these are found. */
const SCRIPTS: readonly (readonly [text: string, ...scripts: string[]])[] = [
  [''],
  ['Hello, Zoë! 1 2 3 … 👍 €5 ½'],
  ['<phoneme ph="тест">test</phoneme>'],
  ['Привет, мир', 'Cyrillic'],
  ['hello мир καλός', 'Cyrillic', 'Greek'],
  ['καλός мир', 'Greek', 'Cyrillic'],
  ['今日は', 'Han', 'Hiragana'],
  ['ー', 'Hiragana'],
  ['漢字', 'Han'],
  ['ㄅ', 'Bopomofo'],
  ['٣', 'Arabic'],
  ['ꓐ мир', 'unknown'],
  ['мир ꓐ καλός', 'Cyrillic', 'unknown'],
];

t.test('the scripts of a text are those of its letters and digits, but for Latin', async (t) => {
  for (const [text, ...scripts] of SCRIPTS) {
    t.strictSame([...scriptsIn(text)], scripts, text);
    t.strictSame([...(await scriptsInLong(text))], scripts, `${text}, as a long one`);
  }
});

t.test('a long text is searched by slices, and none of its characters is cut', async (t) => {
  const slice = 64 * 1024;
  const found = async (text: string) => [...(await scriptsInLong(text))];
  t.strictSame(await found(`${'a'.repeat(3 * slice)}мир`), ['Cyrillic']);
  t.strictSame(
    await found(`${'a'.repeat(slice - 1)}\u{20000}${'a'.repeat(9)}`),
    ['Han'],
    'across two slices',
  );
  t.strictSame(await found(`мир${'a'.repeat(slice)}καλός`), ['Cyrillic', 'Greek']);
  let turns = 0;
  const counting = setImmediate(() => (turns += 1));
  await scriptsInLong('a'.repeat(slice));
  t.equal(turns, 0, 'a text of one slice is searched at once');
  await scriptsInLong('a'.repeat(slice + 1));
  clearImmediate(counting);
  t.ok(turns > 0, 'the event loop turns between two');
});

t.test('a text may be in the languages that are written in all of its scripts', async (t) => {
  const first = (text: string) => languagesIn(scriptsIn(text))[0];
  const rows: readonly (readonly [text: string, language: string | undefined])[] = [
    ['Hello', 'en'],
    ['Привет', 'ru'],
    ['今日は', 'ja'],
    ['漢字', 'zh'],
    ['한국어', 'ko'],
    ['한국어 漢字', 'ko'],
    ['мир καλός', undefined],
    ['ꓐ', undefined],
  ];
  for (const [text, language] of rows) {
    t.equal(first(text), language, text);
    t.equal(languageOf(text), language ?? 'en', text);
  }
  t.ok(languagesIn(new Set()).includes('sr'), 'Serbian is written in Latin letters as well');
  t.notOk(languagesIn(new Set()).includes('ru'));
  t.strictSame(languagesIn(scriptsIn('漢字')), ['zh', 'yue', 'ja', 'ko']);
});

t.test('words tell the language of Latin letters, others tell no more than their script', async (t) => {
  const likely = (text: string) => likelyLanguages(text, scriptsIn(text));
  const german = likely('Wir haben noch etwa eine halbe Minute in diesem Gespräch.');
  t.strictSame(german.languages.slice(0, 2), ['de', 'en']);
  t.equal(german.languages.length, languagesIn(new Set()).length, 'each once');
  t.equal(german.sure, true);
  t.equal(german.neutral, false);
  const english = { languages: languagesIn(new Set()), sure: false };
  t.strictSame(likely('What is it?'), { ...english, neutral: false });
  t.strictSame(likely('4711 Acme'), { ...english, neutral: true });
  t.strictSame(likely('Guten Tag').sure, false);
  t.strictSame(likely('Привет'), {
    languages: languagesIn(scriptsIn('Привет')),
    sure: false,
    neutral: false,
  });
});

t.test('a voice reads the scripts of its languages, and Latin letters', async (t) => {
  const text = scriptsIn('мир καλός');
  t.strictSame(unreadBy({ languages: ['en'] }, {}, text), ['Cyrillic', 'Greek']);
  t.strictSame(unreadBy({ languages: ['en', 'ru'] }, { anyScript: false }, text), ['Greek']);
  t.strictSame(unreadBy({ languages: ['el', 'ru'] }, {}, text), []);
  t.strictSame(unreadBy({ languages: ['en'] }, { anyScript: true }, text), []);
  t.strictSame(unreadBy({ languages: [] }, {}, scriptsIn('Hello')), []);
});
