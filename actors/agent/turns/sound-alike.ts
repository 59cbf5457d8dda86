/**
 * How far words sound like a part of other words, letter by letter: a recogniser that mishears a soft or reverberant voice writes
 * other words of nearly the same sounds ("to London leaves at" becomes "to lung, Denise at"), with other spaces between them.
 *
 * The words are aligned with the part of the other text that takes the fewest changes (Sellers 1980). Letters of one class of sounds
 * are exchanged at half the price (contracts/text/sound-classes.ts). Scripts without such classes are compared by their letters alone.
 */
import { exchange } from '../../../contracts/text/sound-classes.js';

/** Prices of the changes. A letter that was not heard is cheaper than one that was never said. */
const PRICE = { added: 1, unheard: 0.7 } as const;

/** A letter of these scripts stands for a syllable or a word, so it says as much as several of an alphabet. */
const SYLLABIC = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}]/u;
const SYLLABIC_LETTERS = 3;

/** Most letters that are compared: the work grows with the product of both. */
const MOST_LETTERS = 1000;

/** One of the words, and how it fits. */
export interface FittedWord {
  readonly word: string;
  /** Letters, as many as an alphabet would need. */
  readonly length: number;
  /** Share of its letters that are alike, from 0 to 1. */
  readonly alike: number;
  /** 1 if it fits exactly, less by the price of each change. */
  readonly fit: number;
}

const lettersOf = (word: string): readonly string[] => [...word.normalize('NFD').replace(/\p{M}/gu, '')];

const lengthOf = (letters: readonly string[]): number =>
  letters.reduce((sum, letter) => sum + (SYLLABIC.test(letter) ? SYLLABIC_LETTERS : 1), 0);

/** Least price of each prefix of `heard` with any part of `said` that ends at each letter. */
function pricesOf(heard: readonly string[], said: readonly string[]): readonly Float64Array[] {
  const rows = [new Float64Array(said.length + 1)];
  for (const letter of heard) {
    const above = rows.at(-1)!;
    const row = new Float64Array(said.length + 1);
    row[0] = above[0]! + PRICE.added;
    for (let at = 1; at <= said.length; at += 1)
      row[at] = Math.min(
        above[at - 1]! + exchange(letter, said[at - 1]!),
        above[at]! + PRICE.added,
        row[at - 1]! + PRICE.unheard,
      );
    rows.push(row);
  }
  return rows;
}

/** Price, and share that is alike, of each letter of `heard` in the cheapest alignment. */
function fitsOf(heard: readonly string[], said: readonly string[]): { price: number; alike: number }[] {
  const rows = pricesOf(heard, said);
  const fits = heard.map(() => ({ price: 0, alike: 0 }));
  let at = rows.at(-1)!.reduce((best, price, each, row) => (price < row[best]! ? each : best), 0);
  for (let row = heard.length; row > 0;) {
    const [fit, price, above] = [fits[row - 1]!, rows[row]![at]!, rows[row - 1]!];
    const change = at > 0 ? exchange(heard[row - 1]!, said[at - 1]!) : Infinity;
    if (price === above[at - 1]! + change) {
      fit.price += change;
      fit.alike = Math.max(0, 1 - change);
      row -= 1;
      at -= 1;
    } else if (price === above[at]! + PRICE.added) {
      fit.price += PRICE.added;
      row -= 1;
    } else {
      fit.price += PRICE.unheard;
      at -= 1;
    }
  }
  return fits;
}

/** How each of `words` fits into `said` where they fit best together; undefined if there is too much to compare. */
export function fittedInto(words: readonly string[], said: readonly string[]): FittedWord[] | undefined {
  const spelled = words.map(lettersOf);
  const [heard, letters] = [spelled.flat(), said.flatMap(lettersOf)];
  if (Math.max(heard.length, letters.length) > MOST_LETTERS) return undefined;
  const fits = fitsOf(heard, letters);
  let from = 0;
  return spelled.map((each, at) => {
    const own = fits.slice(from, (from += each.length));
    const sum = (value: 'price' | 'alike'): number => own.reduce((total, fit) => total + fit[value], 0);
    const most = Math.max(1, each.length);
    return {
      word: words[at]!,
      length: lengthOf(each),
      alike: sum('alike') / most,
      fit: 1 - sum('price') / most,
    };
  });
}

/** How well those words fit together, by their lengths. */
export function fitOf(words: readonly FittedWord[]): { readonly length: number; readonly fit: number } {
  const length = words.reduce((sum, word) => sum + word.length, 0);
  return { length, fit: words.reduce((sum, word) => sum + word.length * word.fit, 0) / Math.max(1, length) };
}
