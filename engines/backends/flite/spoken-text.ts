/**
 * Text as Flite can say it: each word of the source in plain ASCII, symbols as words, markup removed.
 * Other scripts, emoji and control characters have no sound in Flite's English and are left out.
 */
import { spokenForms } from '../../normalisation/index.js';

export interface SpokenWord {
  /** As written in the source. */
  readonly text: string;
  /** The word as it is written for Flite. */
  readonly spoken: string;
}

const LETTERS: Readonly<Record<string, string>> = {
  ß: 'ss', æ: 'ae', Æ: 'Ae', œ: 'oe', Œ: 'Oe', ø: 'o', Ø: 'O', đ: 'd', Đ: 'D', ł: 'l', Ł: 'L', þ: 'th', ð: 'th', ı: 'i',
}; // oxfmt-ignore
const SYMBOLS: Readonly<Record<string, string>> = {
  '’': "'", '‘': "'", 'ʼ': "'", '–': ', ', '—': ', ', '⁄': '/',
  '&': ' and ', '@': ' at ', '+': ' plus ', '=': ' equals ', '×': ' times ', '÷': ' divided by ',
  '€': ' euros ', '£': ' pounds ', '¥': ' yen ', '¢': ' cents ', '°': ' degrees ', '©': ' copyright ', '™': ' trademark ',
}; // oxfmt-ignore

const TRANSLATED = new RegExp(`[${Object.keys({ ...LETTERS, ...SYMBOLS }).join('')}]`, 'gu');
const MARKS = /\p{M}/gu;
const UNSPEAKABLE = /[^\x20-\x7e]|[<>{}[\]()|\\^~_*#"`]/gu;
/** Words longer than this are too long for its letter-to-sound rules. */
const LONG_WORD = /[^\s]{40}(?=[^\s])/gu;

const translate = (text: string): string =>
  text.replace(TRANSLATED, (character) => LETTERS[character] ?? SYMBOLS[character] ?? ' ');

function spokenForm(word: string): string {
  // Before and after the decomposition: it creates fraction slashes, and would split signs such as ™.
  const letters = translate(translate(word).normalize('NFKD').replace(MARKS, ''));
  const plain = letters.replace(UNSPEAKABLE, ' ').replace(/\s+/gu, ' ').trim();
  return /[a-z0-9$%]/iu.test(plain) ? plain.replace(LONG_WORD, '$& ') : plain.replace(/[^,.;:!?]/gu, '');
}

/**
 * The words of a text, split at white space; those of punctuation only are kept for their pause. `normalize`: whether
 * numbers and abbreviations are written out.
 */
export function spokenWords(text: string, normalize = true): SpokenWord[] {
  const words = text.split(/\s+/u);
  const said = normalize ? spokenForms(words, 'en') : words;
  return words
    .map((word, at) => ({ text: word, spoken: spokenForm(said[at] ?? word) }))
    .filter(({ spoken }) => spoken !== '');
}

export const isSounding = ({ spoken }: SpokenWord): boolean => /[a-z0-9$%]/iu.test(spoken);

/** The text for Flite; empty if nothing in it has a sound. */
export const spokenText = (words: readonly SpokenWord[]): string =>
  words.some(isSounding)
    ? words
        .map(({ spoken }) => spoken)
        .join(' ')
        .replace(/ (?=[,.;:!?])/gu, '')
    : '';
