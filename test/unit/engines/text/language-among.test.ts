/** The language of a transcript among a few, where its recogniser does not tell. */
import t from '../../../fixtures/tap.js';
import { languageAmong } from '../../../../engines/text/language-among.js';

t.test('by words and scripts, and only one of those that it may be', async (t) => {
  const among = ['en', 'de', 'ja'];
  t.equal(languageAmong('Ich möchte bitte einen Termin.', among), 'de');
  t.equal(languageAmong('I would like to come on Monday.', among), 'en');
  t.equal(languageAmong('予約を変更したいです。', among), 'ja');
  t.equal(languageAmong('Quisiera una cita para mañana.', among), undefined);
  t.equal(languageAmong('4711', among), undefined);
});
