/** Numbers, amounts, dates, times and abbreviations as words, each at the place of the original. */
import t from 'tap';
import { createEspeak } from '../../engines/backends/espeak/index.js';
import { createFlite } from '../../engines/backends/flite/index.js';
import { speakAll } from '../../engines/conformance.js';
import { spokenForms, spokenText } from '../../engines/normalisation/index.js';

const SPOKEN: Readonly<Record<string, readonly (readonly [written: string, said: string])[]>> = {
  en: [
    ['It costs $12.50 on 3/4/2026 at 5:30 pm.', 'It costs twelve dollars and fifty cents on March fourth, twenty twenty six at five thirty P M'],
    ['$1,234.01, $1 and $0.', 'one thousand two hundred thirty four dollars and one cent, one dollar and zero dollars.'],
    ['€20, £3.99, ¥500 or 12 EUR.', 'twenty euros, three pounds and ninety nine pence, five hundred yen or twelve euros.'],
    ['USD 20 and $5 million, or $1.2bn!', 'twenty US dollars and five million dollars, or one point two billion dollars!'],
    ['(25/12/2026) 2026-11-23', '(December twenty fifth, twenty twenty six) November twenty third, twenty twenty six'],
    ['At 17:45, 12:00, 0:05 and 9am.', "At seventeen forty five, twelve o'clock, zero oh five and nine A M."],
    ['The 1990s and 1800s, 1998-99, 10-12.', 'The nineteen nineties and eighteen hundreds, nineteen ninety eight to ninety nine, ten to twelve.'],
    ['E.g. pp. 3-4, No. 5, i.e. 5 km vs. 16GB etc.', 'For example pages three to four, Number 5, that is 5 kilometers versus 16 gigabytes et cetera.'],
    ['Version 2.10.3 of Jan. 5', 'Version two point ten point three of January 5'],
    ['bob@example.com, www.example.org/a', 'bob at example dot com, w w w dot example dot org slash a'],
    ['No. Call 555-1234, room 101, 3.5% of 1,000.', 'No. Call 555-1234, room 101, 3.5% of 1,000.'],
    ['99/99/2026 25:61 $12.5.3 1-2-3', '99/99/2026 25:61 $12.5.3 1-2-3'],
  ],
  de: [
    ['Das kostet 12,50 € am 3.4.2026 um 17:45 Uhr.', 'Das kostet zwölf Euro fünfzig Cent am dritten April zweitausendsechsundzwanzig um siebzehn Uhr fünfundvierzig.'],
    ['Um 9:00 Uhr, z.B. 20 EUR, ca. 5 km.', 'Um neun Uhr, zum Beispiel zwanzig Euro, circa 5 Kilometer.'],
  ],
  es: [['Son 12,50 € el 3/4/2026 a las 17:45.', 'Son doce euros con cincuenta céntimos el tres de abril de dos mil veintiséis a las diecisiete y cuarenta y cinco.']],
  fr: [['Mme Petit paie 1.234,50€ le 1/5/2026 à 17h45.', 'Madame Petit paie mille deux cent trente-quatre euros et cinquante centimes le premier mai deux mille vingt-six à dix-sept heures quarante-cinq.']],
}; // oxfmt-ignore

for (const [language, rows] of Object.entries(SPOKEN)) {
  t.test(`${language}: what is written is said in words, and what engines read well stays`, async (t) => {
    for (const [written, said] of rows) {
      t.equal(spokenText(written, language), said);
      const words = written.split(' ');
      t.equal(spokenForms(words, language).length, words.length, 'a form for each word');
    }
  });
}

const engines = [await createFlite(), await createEspeak()];
const SENTENCE = 'It costs $12.50 on 3/4/2026 at 5:30 pm.';

t.test('the times of words are those of the text as it was sent', async (t) => {
  for (const engine of engines) {
    const voice = engine.voices[0]!.name;
    const request = { text: SENTENCE, voice, language: 'en', speed: 1, timing: true };
    const { words, samples } = await speakAll(engine, request);
    t.strictSame(words.map(({ text }) => text), SENTENCE.split(' '), engine.name); // oxfmt-ignore
    const seconds = samples.length / engine.capabilities.sampleRate;
    const long = words.filter(({ start, end }) => end - start > 0.8).map(({ text }) => text);
    t.strictSame(long, ['$12.50', '3/4/2026'], 'what is said in several words takes its time');
    t.ok(
      words.every(
        ({ start, end }, at) => start < end && end <= seconds && start >= (words[at - 1]?.end ?? 0) - 0.01,
      ),
    );
    const left = await speakAll(engine, { ...request, normalize: false });
    t.not(left.samples.length, samples.length, 'normalize: false leaves the text');
  }
});

t.test('words that every object of JavaScript knows are words as any other', async (t) => {
  const text = 'The constructor takes 5 constructor calls, constructor 5 and __proto__ 3.';
  for (const language of Object.keys(SPOKEN)) t.equal(spokenText(text, language), text, language);
  t.equal(spokenText('$5 constructor', 'en'), 'five dollars constructor');
  t.equal(spokenText('It costs $5.', 'constructor'), 'It costs $5.');
  for (const engine of engines) {
    const request = { text, voice: engine.voices[0]!.name, language: 'en', speed: 1, timing: true };
    const { words } = await speakAll(engine, request);
    t.strictSame(words.map((word) => word.text), text.split(' '), engine.name); // oxfmt-ignore
  }
});

t.test('languages without a grammar, and hostile texts, come through', async (t) => {
  t.equal(spokenText('5:30に', 'ja'), '5:30に');
  const hostile = [
    `$${'9'.repeat(400)}`,
    '€'.repeat(999),
    '1,'.repeat(9999),
    '1-'.repeat(9999),
    '@'.repeat(9999),
    'a.'.repeat(9999),
  ];
  for (const text of hostile) t.equal(spokenText(text, 'en'), text); // oxfmt-ignore
});
