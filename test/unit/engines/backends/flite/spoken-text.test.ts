/** What Flite is given of a text. */
import t from '../../../../fixtures/tap.js';
import { spokenText, spokenWords } from '../../../../../engines/backends/flite/spoken-text.js';

const SPOKEN: readonly (readonly [string, string])[] = [
  ['Tom & Ann <b>bold</b>', 'Tom and Ann b bold /b'],
  ['café naïve straße', 'cafe naive strasse'],
  ['don’t “quote” me — please…', "don't quote me, please..."],
  ['€5 and 20°', 'five euros and 20 degrees'],
  ['日本語 👍 только', ''],
  ['... !?', ''],
];

t.test('Flite is given plain words', async (t) => {
  for (const [text, wanted] of SPOKEN) t.equal(spokenText(spokenWords(text)), wanted);
  t.ok(
    /^[\x20-\x7e]*$/.test(spokenText(spokenWords('\u0000\u0007x\u001b ½ ™ ☃ y'))),
    'printable ASCII alone',
  );
});
