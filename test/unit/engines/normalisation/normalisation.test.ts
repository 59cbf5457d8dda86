/** Numbers, amounts, dates, times and abbreviations as words, each at the place of the original. */
import t from '../../../fixtures/tap.js';
import { createEspeak } from '../../../../engines/backends/espeak/index.js';
import { createFlite } from '../../../../engines/backends/flite/index.js';
import { speakAll } from '../../../fixtures/engine-conformance.js';
import { spokenForms, spokenText } from '../../../../engines/normalisation/index.js';

const SPOKEN: Readonly<Record<string, readonly (readonly [written: string, said: string])[]>> = {
  en: [
    ['It costs $12.50 on 3/4/2026 at 5:30 pm.', 'It costs twelve dollars and fifty cents on March fourth, twenty twenty six at five thirty P M.'],
    ['$1,234.01, $1 and $0.', 'one thousand two hundred thirty four dollars and one cent, one dollar and zero dollars.'],
    ['€20, £3.99, ¥500 or 12 EUR.', 'twenty euros, three pounds and ninety nine pence, five hundred yen or twelve euros.'],
    ['USD 20 and $5 million, or $1.2bn!', 'twenty US dollars and five million dollars, or one point two billion dollars!'],
    ['(25/12/2026) 2026-11-23', '(December twenty fifth, twenty twenty six) November twenty third, twenty twenty six'],
    ['At 17:45, 12:00, 0:05 and 9am.', "At seventeen forty five, twelve o'clock, zero oh five and nine A M."],
    ['The 1990s and 1800s, 1998-99, 10-12.', 'The nineteen nineties and eighteen hundreds, nineteen ninety eight to ninety nine, ten to twelve.'],
    ['E.g. pp. 3-4, No. 5, i.e. 5 km vs. 16GB etc.', 'For example pages three to four, Number 5, that is 5 kilometers versus 16 gigabytes et cetera.'],
    ['At 5:30 PM. Not at 6:00 p.m. sharp.', 'At five thirty P M. Not at six P M sharp.'],
    ['You have -$5.00, or −€3.', 'You have minus five dollars, or minus three euros.'],
    ['It is $5-$10, $10–20 or 10-20€.', 'It is five dollars to ten dollars, ten dollars to twenty dollars or ten to twenty euros.'],
    ['Open 9am-5pm, 12:30-13:45, 9-5pm.', 'Open nine A M to five P M, twelve thirty to thirteen forty five, nine to five P M.'],
    ['555-123, 555-123-4567, GPT-4o, 1-800 and F-16GB.', '555-123, 555-123-4567, GPT-4o, 1-800 and F-16GB.'],
    ['Version 2.10.3 of Jan. 5', 'Version two point ten point three of January 5'],
    ['bob@example.com, www.example.org/a', 'bob at example dot com, w w w dot example dot org slash a'],
    ['No. Call 555-1234, room 101, 3.5% of 1,000.', 'No. Call 555-1234, room 101, 3.5% of 1,000.'],
    ['99/99/2026 25:61 $12.5.3 1-2-3', '99/99/2026 25:61 $12.5.3 1-2-3'],
  ],
  de: [
    ['Das kostet 12,50 € am 3.4.2026 um 17:45 Uhr.', 'Das kostet zwölf Euro fünfzig Cent am dritten April zweitausendsechsundzwanzig um siebzehn Uhr fünfundvierzig.'],
    ['Für 1 €, 1,01 € und 101 € bis 2,1 €.', 'Für ein Euro, ein Euro ein Cent und einhundertein Euro bis zwei komma eins Euro.'],
    ['Saldo -12,50 €, von 5-10€.', 'Saldo minus zwölf Euro fünfzig Cent, von fünf bis zehn Euro.'],
    ['Am 3. Oktober, der 4. Mai, Samstag, 5. Juni.', 'Am dritten Oktober, der vierte Mai, Samstag, fünfter Juni.'],
    ['Im 2. Stock, die 3. Tür, vom 24.12. bis 31.12.', 'Im zweiten Stock, die dritte Tür, vom vierundzwanzigsten Dezember bis einunddreißigsten Dezember.'],
    ['Es ist Kapitel 3. Dann 24.12. und am 3.', 'Es ist Kapitel 3. Dann 24.12. und am 3.'],
    ['Der 3.4.2026 um 14.30 Uhr, 10:00–12:00 Uhr.', 'Der dritte April zweitausendsechsundzwanzig um vierzehn Uhr dreißig, zehn Uhr bis zwölf Uhr.'],
    ['Z. B. Tee (d. h. heiß), u. a.', 'Zum Beispiel Tee (das heißt heiß), unter anderem.'],
    ['Um 9:00 Uhr, z.B. 20 EUR, ca. 5 km.', 'Um neun Uhr, zum Beispiel zwanzig Euro, circa 5 Kilometer.'],
  ],
  es: [
    ['1 €, 21 €, 101 €, 1,01 € y 1.000.000 €.', 'un euro, veintiún euros, ciento un euros, un euro con un céntimo y un millón de euros.'],
    ['Son $1,299.99, $12.50, -5 € y 12 345 €.', 'Son mil doscientos noventa y nueve dólares con noventa y nueve centavos, doce dólares con cincuenta centavos, menos cinco euros y 12 345 euros.'],
    ['A las 21:00, a las 21:30 h, a las 14:00 horas.', 'A las veintiuna en punto, a las veintiuna y treinta horas, a las catorce horas.'],
    ['En EE. UU., p. ej. hoy.', 'En Estados Unidos, por ejemplo hoy.'],
    ['Son 12,50 € el 3/4/2026 a las 17:45.', 'Son doce euros con cincuenta céntimos el tres de abril de dos mil veintiséis a las diecisiete y cuarenta y cinco.'],
  ],
  fr: [
    ['Soit 1\u202f299,99\u00a0€, 1 299,50€, 1 000 000 € ou -5 €.', 'Soit 1\u202f299\u00a0euros et quatre-vingt-dix-neuf centimes, 1 299 euros et cinquante centimes, 1 000 000 euros ou moins cinq euros.'],
    ['À 21h, 21h21, 0h15, 14 h 30 et 1:01.', 'À vingt et une heures, vingt et une heures vingt et une, zéro heure quinze, 14 heures 30 et une heure une.'],
    ['En 50 av. J.-C., av. Foch.', 'En 50 avant Jésus-Christ, avenue Foch.'],
    ['Mme Petit paie 1.234,50€ le 1/5/2026 à 17h45.', 'Madame Petit paie mille deux cent trente-quatre euros et cinquante centimes le premier mai deux mille vingt-six à dix-sept heures quarante-cinq.'],
  ],
}; // oxfmt-ignore

for (const [language, rows] of Object.entries(SPOKEN)) {
  t.test(`${language}: what is written is said in words, and what engines read well stays`, async (t) => {
    for (const [written, said] of rows) {
      t.equal(spokenText(written, language), said);
      const words = written.split(/\s/u);
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
    '1-'.repeat(9999) + '1',
    '@'.repeat(9999),
    'a.'.repeat(9999),
  ];
  for (const text of hostile) t.equal(spokenText(text, 'en'), text); // oxfmt-ignore
});
