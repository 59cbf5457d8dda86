/** Words as the embedded dialogue compares them. */

const STOP = new Set(
  (
    'a about after all also an and any are as at be been but by can could did do does for from get give had has have ' +
    'he her him his how i if in into is it its just like me more my need no not of on or our please she should so ' +
    'some tell than that the their them then there these they this to up us want was we were what when where which ' +
    'who why will with would you your'
  ).split(' '),
);

/** Endings that do not change what a word is about. */
const stem = (word: string): string =>
  word.replace(/(ing|ed|es|s)$/u, (ending) => (word.length - ending.length > 2 ? '' : ending));

/** The meaningful words of a text, once each. */
export function topicsOf(text: string): ReadonlySet<string> {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u);
  return new Set(words.filter((word) => word !== '' && !STOP.has(word)).map(stem));
}

/** Number of topics that both have. */
export function overlap(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  let shared = 0;
  for (const topic of one) if (other.has(topic)) shared += 1;
  return shared;
}

export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map((sentence) => sentence.replace(/^[#>*\-\s]+/u, '').trim())
    .filter((sentence) => sentence !== '');
