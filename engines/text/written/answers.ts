/** Answers that a question allows and a recogniser takes for other words: yes and no, days and months. */
import { byLanguage, type WrittenLanguage } from './languages.js';
import { type Term, termsOf } from './terms.js';
import { plain, type Word } from './words.js';

/** Words that sound like yes or no, and what they are as the whole answer to a question that wants one of these. */
const ALIKE: Readonly<Record<WrittenLanguage, Readonly<Record<string, string>>>> = {
  en: { know: 'No', noe: 'No', yas: 'Yes', yess: 'Yes', yeas: 'Yes' },
  de: { neun: 'Nein', nain: 'Nein', jah: 'Ja' },
  es: { si: 'Sí', see: 'Sí' },
  fr: { wi: 'Oui', nom: 'Non', ouie: 'Oui' },
};

/** Of a text of one word. */
export function withAnswers(words: readonly Word[], language: WrittenLanguage): readonly Word[] {
  const [word, ...others] = words;
  const answer = word && others.length === 0 ? ALIKE[language][plain(word)] : undefined;
  return word && answer !== undefined ? [{ ...word, core: answer }] : words;
}

/** A year in which the first of January is a Monday, so that its days and months have all names. */
const YEAR = 2024;
const MONTHS = 12;
const DAYS = 7;

/** Names of days and months in the language, as it writes them. */
export const answerTerms = byLanguage((language): readonly Term[] => {
  const named = (options: Intl.DateTimeFormatOptions) => {
    const { format } = new Intl.DateTimeFormat(language, { ...options, timeZone: 'UTC' });
    return (month: number, day: number): string => format(Date.UTC(YEAR, month, day));
  };
  const [month, weekday] = [named({ month: 'long' }), named({ weekday: 'long' })];
  return termsOf([
    ...Array.from({ length: MONTHS }, (_, at) => month(at, 1)),
    ...Array.from({ length: DAYS }, (_, at) => weekday(0, at + 1)),
  ]);
});
