/** Which language a source is in (storage/agents/knowledge-language.ts), and what is looked up of a question. */
import t from '../../../fixtures/tap.js';
import { configurationOf, languageOfText } from '../../../../storage/agents/knowledge-language.js';
import { askedOf } from '../../../../storage/agents/knowledge-question.js';
import { spacedOf } from '../../../../storage/agents/knowledge-terms.js';

t.test('the language of a text, by its script or its commonest words', async (t) => {
  const cases: [text: string, language: string][] = [
    ['We are open from Monday to Friday, and you can ring us at any time.', 'en'],
    ['Wir sind von Montag bis Freitag für Sie da, und auch am Telefon.', 'de'],
    ['Estamos abiertos de lunes a viernes y puede llamar por teléfono.', 'es'],
    ['Nous sommes ouverts du lundi au vendredi et vous pouvez appeler.', 'fr'],
    ['Siamo aperti dal lunedì al venerdì e si può chiamare per telefono.', 'it'],
    ['Estamos abertos de segunda a sexta e você não precisa marcar uma hora.', 'pt'],
    ['月曜日から金曜日まで営業しています。WiFi は無料です。', 'ja'],
    ['周一至周五营业，电话随时可打。', 'zh'],
    ['월요일부터 금요일까지 영업합니다.', 'ko'],
    ['Работаем с понедельника по пятницу.', 'und'],
    ['4711', 'und'],
    ['', 'und'],
  ];
  for (const [text, language] of cases) t.equal(languageOfText(text), language, text);
  t.strictSame(['de', 'ja', 'und', null].map(configurationOf), ['german', 'simple', 'simple', 'english']);
});

t.test('unspaced writing is looked up in pairs, and each ideogram by itself', async (t) => {
  t.equal(spacedOf('東京へ ok'), ' 東京 京へ 東 京  ok');
  t.equal(spacedOf('ｶﾞ Café'), ' ガ  café');
});

t.test(
  'words count less the longer ago they were said; parts of long German words are looked up',
  async (t) => {
    t.strictSame(
      askedOf('Und sonntags?\n \nWann öffnen Sie?', ['simple']).map(({ words, weight }) => [words, weight]),
      [
        ['und sonntags?', 1],
        ['wann öffnen sie?', 0.7],
      ],
    );
    const [whole, parts] = askedOf('Yogakurs', ['german']);
    t.same([whole?.words, whole?.weight, parts?.weight], ['yogakurs', 1, 0.5]);
    t.strictSame(parts?.words.split(' '), ['yoga', 'kurs']);
    t.equal(askedOf('Yogakurs', ['english']).length, 1);
    t.strictSame(askedOf(' \0 ', ['german']), []);
  },
);
