/** The language of texts in Latin letters: recognised by common words, and English unless something speaks against it. */
import t from '../../../fixtures/tap.js';
import { isNeutral, languageByWords } from '../../../../engines/text/language-words.js';
import { excuseIn, warningIn } from '../../../../gateway/agents/conversations/lines.js';
import { PHONE_SENTENCES } from '../../../fixtures/engines/phone-sentences.js';
import { exactly } from '../../../fixtures/exactly.js';

const SENTENCES: Readonly<Record<string, readonly string[]>> = {
  de: [
    'Guten Tag, wie geht es Ihnen?',
    'Einen Moment bitte.',
    'Danke schön.',
    'Der Zug fährt um acht Uhr ab.',
  ],
  es: ['Hola, ¿cómo está?', 'Gracias por su llamada.', 'Estamos abiertos de nueve a seis.', '¿Qué hora es?'],
  fr: ['Bonjour, comment allez-vous ?', 'C’est la vie.', 'Nous sommes ouverts.', 'Je ne comprends pas.'],
  it: ['Buongiorno, come sta?', 'Il suo ordine è stato spedito questa mattina.'],
  pl: ['Dziękuję za telefon.', 'Proszę chwilę poczekać.'],
  nl: ['Bedankt voor uw telefoontje.', 'Een ogenblik alstublieft.'],
  pt: ['Bom dia, como está?', 'Obrigado pela sua chamada.'],
  tr: ['Merhaba, nasılsınız? Teşekkür ederim.'],
};

t.test('the language of a sentence is recognised', async (t) => {
  for (const [language, sentences] of Object.entries(SENTENCES))
    for (const text of sentences) exactly(t, languageByWords(text), { language }, text);
  for (const [language, sentences] of Object.entries(PHONE_SENTENCES))
    for (const text of sentences.filter((said) => /\p{sc=Latn}/u.test(said)))
      t.equal(languageByWords(text)?.language ?? 'en', language, text);
  for (const language of ['de', 'es', 'fr'] as const) {
    exactly(t, languageByWords(excuseIn(language)) ?? { language }, { language });
    exactly(t, languageByWords(warningIn(language)), { language });
  }
});

t.test('names, brands and single foreign words leave a text English', async (t) => {
  for (const text of [
    ...[excuseIn('en'), warningIn('en'), '', '4711', 'Yes.', 'Sure, no problem!', 'OK, let’s go.'],
    ...['Zoë Müller lives in São Paulo.', 'Play La Vie en rose.', 'My name is Jean.', 'Invoice 4711 is due.'],
    ...['Add two croissants to the cart.', 'What time is it in Berlin?', 'Welcome to Acme Corp.'],
    ...[
      'Lorem ipsum dolor sit amet',
      'We are open from nine until six.',
      'The agent’s order can’t be changed.',
    ],
  ])
    t.equal(languageByWords(text), undefined, text);
});

t.test('a language is certain only with much evidence', async (t) => {
  exactly(t, languageByWords('Wir haben noch etwa eine halbe Minute in diesem Gespräch.'), { sure: true });
  exactly(t, languageByWords('Guten Tag'), { language: 'de', sure: false });
  const danishOrNorwegian = 'Jeg har ikke fået det, og kan du så ikke hjælpe mig med det i dag?';
  exactly(t, languageByWords(danishOrNorwegian), { sure: false });
  t.match(
    languageByWords('He said: Wir haben noch eine Minute, and he said it more than once to her.'),
    undefined,
  );
});

t.test('only the beginning of a long text is looked at', async (t) => {
  t.equal(languageByWords(`${'x'.repeat(2000)} ${'ich bin hier und du auch '.repeat(10)}`), undefined);
});

t.test('an elided word counts, whichever apostrophe it has', async (t) => {
  for (const text of ['L’ordine d’oggi c’è', "L'ordine d'oggi c'è"])
    exactly(t, languageByWords(text), { language: 'fr', sure: false }, text);
  exactly(
    t,
    languageByWords('qu’xyz qu’abc qu’def'),
    { language: 'fr', sure: true },
    'by the part before it',
  );
});

t.test('a text is neutral as long as its beginning has no common word', async (t) => {
  t.ok(isNeutral('Zoë Müller, Berlin 4711'));
  t.notOk(isNeutral('Zoë und Max'));
  t.notOk(isNeutral(`${'x '.repeat(998)}und`));
  t.ok(isNeutral(`${'x '.repeat(1000)}und`));
});

t.test('words are weighed against English and against the next language', async (t) => {
  const weighed: Readonly<Record<string, readonly [language: string, sure: boolean] | undefined>> = {
    nicht: ['de', false],
    'nicht the': undefined,
    'nicht nicht the': ['de', false],
    de: undefined,
    'de la que': ['es', false],
    'wir sind': ['de', false],
    'wir sind noch': ['de', true],
    'und oder nicht the': ['de', false],
    'og det som jeg': ['da', false],
    'el los las und oder': ['es', false],
    'und oder nicht el los': ['de', true],
  };
  for (const [text, wanted] of Object.entries(weighed)) {
    const told = languageByWords(text);
    t.strictSame(told && [told.language, told.sure], wanted, text);
  }
});
