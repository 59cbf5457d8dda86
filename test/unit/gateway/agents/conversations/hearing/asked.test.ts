/** What a question asks for, in each language that has words for it; statements before it do not count. */
import t from '../../../../../fixtures/tap.js';
import type { Asked } from '../../../../../../engines/text/written/index.js';
import { askedIn } from '../../../../../../gateway/agents/conversations/hearing/asked.js';

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
  ['ja', 'お名前をお願いします。', []],
  ['en', '', []],
];

t.test('a question asks for what its words say', async (t) => {
  for (const [language, said, asked] of ROWS)
    t.same([...askedIn(said, language)].sort(), [...asked].sort(), `${language}: ${said}`);
});
