/**
 * Texts that follow each other, as the segments of a transcript do, as one text: with a blank between them, except
 * between characters of Chinese and Japanese, which are written without.
 */

/** Letters and marks of these scripts, the full-width ones among them. */
const UNSPACED =
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Bopomofo}ー\u3000-\u303f\uff01-\uff65]/u;
/** Marks that these scripts share with others. */
const SHARED_MARK = /^[…—·“”‘’]/u;

const firstOf = (text: string): string => [...text.slice(0, 2)][0] ?? '';
const lastOf = (text: string): string => [...text.slice(-2)].at(-1) ?? '';

const isWrittenOn = (end: string, start: string): boolean =>
  (UNSPACED.test(end) && (UNSPACED.test(start) || SHARED_MARK.test(start))) ||
  (SHARED_MARK.test(end) && UNSPACED.test(start));

/** What stands between two texts: a blank or nothing. */
export const gapBetween = (before: string, after: string): '' | ' ' =>
  before === '' || after === '' || isWrittenOn(lastOf(before), firstOf(after)) ? '' : ' ';

/** The texts, without empty ones, as one. */
export function joinedTexts(texts: readonly string[]): string {
  const present = texts.filter((text) => text !== '');
  return present.map((text, index) => gapBetween(present[index - 1] ?? '', text) + text).join('');
}
