/**
 * What a caller said as people write it: addresses of mail, spelled names, numbers, and words that are expected. Pure. No character is
 * invented: each was heard, as itself or as the word for it.
 */
import { withAddresses } from './addresses.js';
import { answerTerms, withAnswers } from './answers.js';
import { isWrittenLanguage } from './languages.js';
import { withNumbers } from './numbers.js';
import { withSpelling } from './spelling.js';
import { type Term, withTerms } from './terms.js';
import { textOf, wordsOf } from './words.js';

export { type Term, termsOf } from './terms.js';

/** What somebody may have been asked for; `choice` is yes or no, `count` how many. */
export const ASKED = ['email', 'name', 'spelling', 'number', 'choice', 'count', 'date'] as const;
export type Asked = (typeof ASKED)[number];

export interface Expected {
  /** ISO 639-1 */
  readonly language: string;
  readonly asked: ReadonlySet<Asked>;
  readonly terms: readonly Term[];
}

const ADDRESS = /[^\s@]@[^\s@]+\.\p{L}/u;

/** Whether a text holds an address of mail, or a spelling, where one was asked for; true if none was. */
export function fits(text: string, { language, asked }: Pick<Expected, 'language' | 'asked'>): boolean {
  if (!isWrittenLanguage(language)) return true;
  const words = wordsOf(text);
  if (asked.has('email')) return ADDRESS.test(textOf(withAddresses(words, language, true)));
  if (!asked.has('spelling') || asked.has('number')) return true;
  const spelled = withSpelling(words, language, { isAskedFor: true, isName: asked.has('name') });
  return spelled.length !== words.length || spelled.some(({ core }, at) => core !== words[at]?.core);
}

/** Most words of an answer that is a name and nothing else. */
const MOST_NAME_WORDS = 5;

/** The text itself in languages that have no rules. */
export function writtenText(text: string, { language, asked, terms }: Expected): string {
  if (!isWrittenLanguage(language)) return text;
  const words = wordsOf(text);
  const isName = asked.has('name');
  const answered = asked.has('choice') ? withAnswers(words, language) : words;
  const numbered = withNumbers(answered, language, asked.has('number'));
  const addressed = withAddresses(numbered, language, asked.has('email'));
  const spelled = withSpelling(addressed, language, { isAskedFor: isName || asked.has('spelling'), isName });
  const expected = asked.has('date') ? [...terms, ...answerTerms(language)] : terms;
  const found = withTerms(spelled, expected, isName && spelled.length <= MOST_NAME_WORDS);
  const isSame = found.length === words.length && found.every((word, at) => word.core === words[at]?.core);
  return isSame ? text : textOf(found);
}
