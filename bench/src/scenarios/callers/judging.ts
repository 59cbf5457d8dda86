/** Whether what the record says was understood is what was said. Spelling does not count: "two six seven" is "267". */
import type { Texts } from '../../speakers/speaker.js';

const ONES = 'zero one two three four five six seven eight nine'.split(' ');
const TEENS = 'ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ');
const OTHERS: Readonly<Record<string, string>> = { oh: '0', o: '0', ok: 'okay' };
/** As the gateway's record marks voice in which it found no words. */
const UNCLEAR = '(unclear)';

/** A word as digits, if it is a number. */
function spelled(word: string): string {
  const number = [...ONES, ...TEENS].indexOf(word);
  if (number >= 0) return String(number);
  const ten = TENS.indexOf(word);
  return ten < 0 ? (OTHERS[word] ?? word) : String((ten + 2) * 10);
}

const withoutMarks = (text: string): string => text.toLowerCase().replaceAll(UNCLEAR, ' ');

/** Lower case, without punctuation, with figures in place of numbers. */
export const plainWords = (text: string): string[] =>
  (withoutMarks(text).match(/[\p{L}\p{N}']+/gu) ?? []).map((word) => spelled(word.replaceAll("'", '')));

/** All digits, one after the other: "twenty five" is 25, and any other word is left out. */
export const digitsOf = (text: string): string =>
  plainWords(text)
    .join(' ')
    .replace(/\b([2-9])0 ([1-9])\b(?! ?\d)/gu, '$1$2')
    .replace(/\D/gu, '');

/** Letters that were spelled, without "capital", and whatever parts them. */
const lettersOf = (text: string): string => withoutMarks(text).replace(/\P{L}/gu, '');

/** "anna dot miller at example dot com" and "anna.miller@example.com" alike. */
const addressOf = (text: string): string =>
  withoutMarks(text)
    .replace(/\bat\b/gu, '@')
    .replace(/\b(?:dot|point)\b/gu, '.')
    .replace(/[^\p{L}\p{N}@.]/gu, '')
    .replace(/^\.+|\.+$/gu, '');

type Judged = Extract<keyof Texts, 'digits' | 'emails' | 'names' | 'words'>;

const COMPARED: Readonly<Record<Judged, (text: string) => string>> = {
  digits: digitsOf,
  emails: addressOf,
  names: lettersOf,
  words: (text) => plainWords(text).join(' '),
};

export const isRight = (kind: Judged, said: string, understood: string): boolean =>
  COMPARED[kind](said) === COMPARED[kind](understood);

/** The fewest changes from the first so many characters of one to the first so many of the other. */
function changesBetween(said: string, heard: string): number[][] {
  const changes = Array.from({ length: said.length + 1 }, (_, row) =>
    Array.from({ length: heard.length + 1 }, (__, at) => row + at),
  );
  for (let row = 1; row <= said.length; row += 1)
    for (let at = 1; at <= heard.length; at += 1)
      changes[row]![at] = Math.min(
        changes[row - 1]![at - 1]! + (said[row - 1] === heard[at - 1] ? 0 : 1),
        changes[row - 1]![at]! + 1,
        changes[row]![at - 1]! + 1,
      );
  return changes;
}

/** For each digit that was said whether something was heard in its place, right or wrong. */
function placesTaken(said: string, heard: string): boolean[] {
  const changes = changesBetween(said, heard);
  const taken = Array.from(said, () => false);
  let [row, at] = [said.length, heard.length];
  while (row > 0) {
    const here = changes[row]![at]!;
    const replaced =
      at > 0 ? changes[row - 1]![at - 1]! + (said[row - 1] === heard[at - 1] ? 0 : 1) : Infinity;
    const isTaken = here === replaced;
    const isLost = !isTaken && here === changes[row - 1]![at]! + 1;
    if (isTaken) taken[row - 1] = true;
    if (isTaken || isLost) row -= 1;
    if (!isLost) at -= 1;
  }
  return taken;
}

/**
 * How many of the groups, parted by commas, left nothing in the record: neither a digit nor a mark of unclear words, which
 * stands for one group, or for all if there is nothing else.
 */
export function vanishedGroups(said: string, understood: string): number {
  const heard = digitsOf(understood);
  const marks = understood.split(UNCLEAR).length - 1;
  if (heard === '' && marks > 0) return 0;
  const groups = said.split(',').map(digitsOf);
  const taken = placesTaken(groups.join(''), heard);
  let at = 0;
  const lost = groups.filter(({ length }) => !taken.slice(at, (at += length)).includes(true)).length;
  return Math.max(0, lost - marks);
}
