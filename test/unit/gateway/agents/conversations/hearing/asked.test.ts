/** What a question asks for, in each language that has words for it; statements before it do not count. */
import t from '../../../../../fixtures/tap.js';
import type { Asked } from '../../../../../../engines/text/written/index.js';
import { askedIn, questionIn } from '../../../../../../gateway/agents/conversations/hearing/asked.js';

const ROWS: readonly (readonly [language: string, said: string, asked: readonly Asked[]])[] = [
  ['en', 'What is your e-mail address, please?', ['email']],
  ['en', 'Could you spell your last name, please?', ['name', 'spelling', 'choice']],
  ['en', 'Who am I speaking with?', ['name']],
  ['en', 'What is the number of your order?', ['number']],
  ['en', 'Shall I book it?', ['choice']],
  ['en', 'When were you born?', ['date']],
  ['en', 'We have your name. We have your number. Thank you for that. The weather is fine.', []],
  ['de', 'Wie ist Ihre E-Mail-Adresse?', ['email']],
  ['de', 'Können Sie Ihren Nachnamen buchstabieren?', ['name', 'spelling', 'choice']],
  ['de', 'Wie lautet Ihre Kundennummer?', ['number']],
  ['es', '¿Cuál es su correo electrónico?', ['email']],
  ['es', '¿Me deletrea su apellido?', ['name', 'spelling']],
  ['fr', 'Quelle est votre adresse mail ?', ['email']],
  ['fr', 'Pouvez-vous épeler votre nom ?', ['name', 'spelling', 'choice']],
  ['en', 'How many people will you be?', ['count']],
  ['de', 'Für wie viele Personen?', ['count']],
  ['es', '¿Para cuántas personas?', ['count']],
  ['fr', 'Pour combien de personnes ?', ['count']],
  ['ja', 'お名前をお願いします。', []],
  ['en', '', []],
];

t.test('a question asks for what its words say', async (t) => {
  for (const [language, said, asked] of ROWS)
    t.same([...askedIn(said, language)].sort(), [...asked].sort(), `${language}: ${said}`);
});

t.test('a question for a number says how many figures it has', async (t) => {
  const NUMBERS: readonly (readonly [language: string, said: string, digits: number | undefined])[] = [
    ['en', 'What are the last four digits of your card number?', 4],
    ['en', 'Please say your six-digit number.', 6],
    ['en', 'What is your PIN?', 4],
    ['en', 'What is your zip code?', 5],
    ['en', 'What is the number of your order?', undefined],
    ['de', 'Wie lautet Ihre Postleitzahl?', 5],
    ['de', 'Nennen Sie bitte die letzten drei Ziffern.', 3],
    ['de', 'Wie ist Ihre vierstellige Kundennummer?', 4],
    ['es', '¿Cuáles son los últimos cuatro dígitos?', 4],
    ['es', '¿Cuál es su número de teléfono?', 9],
    ['fr', 'Quels sont les quatre derniers chiffres ?', 4],
    ['fr', 'Quel est votre numéro de téléphone ?', 10],
    ['ja', '電話番号をお願いします。', undefined],
  ];
  for (const [language, said, digits] of NUMBERS)
    t.equal(questionIn(said, language).digits, digits, `${language}: ${said}`);
  t.strictSame(questionIn('Shall I book it?', 'en'), { isQuestion: true, wants: ['choice'] });
  t.strictSame(questionIn('The weather is fine.', 'en'), { isQuestion: false, wants: [] });
});
