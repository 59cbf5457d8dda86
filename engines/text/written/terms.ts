/**
 * Words that are expected, where something was heard that is written or sounds nearly the same: "Katherin Schmid" is "Kathryn Schmitt",
 * if that is whom the agent expects. Nothing is added and nothing left out: heard words give way to a term only where a strict share of
 * their letters is alike.
 */
import { exchange } from '../../../contracts/text/sound-classes.js';
import { isNeutral } from '../language-words.js';
import { plain, rewritten, type Word } from './words.js';

/** Fewest letters of a term: shorter words are near to too many others. */
const LEAST = 5;
/** Most letters that are compared. */
const MOST = 60;
/** Most changes, as a share of the term's letters. */
const MOST_CHANGED = 0.2;
/** The same where a name was asked for, and nothing else was said. */
const MOST_CHANGED_IN_ANSWER = 0.34;
/** Price of a letter that is only in one of both. */
const ALONE = 1;

export interface Term {
  /** As it is written. */
  readonly text: string;
  readonly letters: readonly string[];
  readonly words: number;
  /** Of mail: only one of these is near to it. */
  readonly isAddress: boolean;
}

/** Spellings of the same sound, so that these cost nothing. */
const SAME: readonly (readonly [RegExp, string])[] = [
  [/[^\p{L}\p{N}]/gu, ''],
  [/ph/gu, 'f'],
  [/ck/gu, 'k'],
  [/y/gu, 'i'],
  [/(\p{L})\1/gu, '$1'],
];

const lettersOf = (text: string): readonly string[] => {
  const bare = text.toLowerCase().normalize('NFD');
  return [...SAME.reduce((sounds, [spelling, sound]) => sounds.replace(spelling, sound), bare)];
};

/** Terms that can be told from other words: names of things and people, no figures. */
export function termsOf(texts: Iterable<string>): readonly Term[] {
  const terms: Term[] = [];
  for (const each of texts) {
    const text = each.trim();
    const letters = lettersOf(text);
    if (letters.length < LEAST || letters.length > MOST || /\p{N}/u.test(text)) continue;
    terms.push({ text, letters, words: text.split(/\s+/u).length, isAddress: text.includes('@') });
  }
  return terms;
}

/** Price of the changes from one to the other; Infinity where it is more than `most`. */
function priceBetween(heard: readonly string[], said: readonly string[], most: number): number {
  let above = said.map((_, at) => (at + 1) * ALONE);
  above.unshift(0);
  for (const letter of heard) {
    const row = [above[0]! + ALONE];
    for (let at = 1; at <= said.length; at += 1)
      row.push(
        Math.min(above[at - 1]! + exchange(letter, said[at - 1]!), above[at]! + ALONE, row[at - 1]! + ALONE),
      );
    if (Math.min(...row) > most) return Infinity;
    above = row;
  }
  const price = above.at(-1) ?? 0;
  return price > most ? Infinity : price;
}

/** The price of taking these words for the term; Infinity if they are too far from it. */
function priceOf(part: readonly Word[], heard: readonly string[], term: Term, share: number): number {
  const most = share * term.letters.length;
  if (Math.abs(heard.length - term.letters.length) > most) return Infinity;
  if (exchange(heard[0]!, term.letters[0]!) > 0.5) return Infinity;
  const price = priceBetween(heard, term.letters, most);
  // As it was heard: capitals do not make another word of it.
  const isSame = part.length === 1 && plain(part[0]!) === term.text.toLowerCase();
  return isSame ? Infinity : price;
}

/** Whether the words are ordinary ones, which nobody mishears so often that a term is likelier. */
const isOrdinary = (part: readonly Word[]): boolean =>
  part.length === 1 && !isNeutral(part.map(plain).join(' '));

const isAddress = (part: readonly Word[]): boolean => part.some(({ core }) => core.includes('@'));

interface Found {
  readonly term: Term;
  readonly count: number;
  readonly price: number;
}

function foundAt(
  words: readonly Word[],
  at: number,
  terms: readonly Term[],
  share: number,
): Found | undefined {
  const longest = Math.max(...terms.map((term) => term.words)) + 1;
  let best: Found | undefined;
  for (let count = 1; count <= longest && at + count <= words.length; count += 1) {
    const part = words.slice(at, at + count);
    if (part.slice(0, -1).some(({ after }) => /[.?!]/u.test(after))) break;
    if (part.some(({ core }) => /\p{N}/u.test(core))) break;
    const heard = lettersOf(part.map(({ core }) => core).join(''));
    if (heard.length === 0 || (!isAddress(part) && isOrdinary(part))) continue;
    for (const term of terms) {
      if (Math.abs(term.words - count) > 1 || isAddress(part) !== term.isAddress) continue;
      const price = priceOf(part, heard, term, share) / term.letters.length;
      if (price < (best?.price ?? Infinity)) best = { term, count, price };
    }
  }
  return best;
}

/** A part of a text that a term takes the place of. */
export interface Replaced {
  readonly at: number;
  readonly count: number;
  readonly text: string;
}

/** Where terms take the place of what was heard; `isAnswer`: a name was asked for, so that the whole of a short text may be one. */
export function replacedBy(
  words: readonly Word[],
  terms: readonly Term[],
  isAnswer = false,
): readonly Replaced[] {
  const all: Replaced[] = [];
  if (terms.length === 0) return all;
  const share = isAnswer ? MOST_CHANGED_IN_ANSWER : MOST_CHANGED;
  for (let at = 0; at < words.length;) {
    const found = foundAt(words, at, terms, share);
    if (found) all.push({ at, count: found.count, text: found.term.text });
    at += found?.count ?? 1;
  }
  return all;
}

export function withTerms(words: readonly Word[], terms: readonly Term[], isAnswer = false): readonly Word[] {
  const places = new Map(replacedBy(words, terms, isAnswer).map((each) => [each.at, each]));
  return places.size === 0 ? words : rewritten(words, (at) => places.get(at));
}
