/**
 * Echo: the agent's own words that come back through the user's microphone, recognised by what it is saying. A recogniser
 * mishears some of them, and most of a soft echo: either most words are the agent's, in its order, or all together sound like what it says.
 *
 * Users repeat a word or two on purpose ("Tuesday?"), agree ("yes, Tuesday at nine") and object: words that are few, or
 * that include some the agent has not said, are the user's.
 */
import { overlapOf, wordsOf } from './interruption.js';
import { fitOf, fittedInto, type FittedWord } from './sound-alike.js';

/** `repetition`: only a word or two of the agent's; `own`: the user's words. */
export type EchoVerdict = 'echo' | 'repetition' | 'own';

/** Least share of the agent's words in an echo. */
const MOSTLY = 0.7;
/** Most words that people repeat on purpose. */
const FEW = 2;
/** This many words in a row that the agent has not said are the user's. */
const OWN = 2;

/** Longest common subsequence of each prefix of `words` with each prefix of `said`. */
function commonLengths(words: readonly string[], said: readonly string[]): number[][] {
  const lengths = [Array<number>(said.length + 1).fill(0)];
  for (const word of words) {
    const above = lengths.at(-1)!;
    const row = [0];
    said.forEach((other, at) =>
      row.push(word === other ? above[at]! + 1 : Math.max(above[at + 1]!, row[at]!)),
    );
    lengths.push(row);
  }
  return lengths;
}

/** Runs of words that are not in `said`. */
function newRuns(words: readonly string[], said: readonly string[]): string[][] {
  const lengths = commonLengths(words, said);
  const runs: string[][] = [[]];
  let column = said.length;
  for (let row = words.length; row > 0; row -= 1) {
    while (column > 0 && lengths[row]![column] === lengths[row]![column - 1]) column -= 1;
    const isNew = lengths[row]![column] === lengths[row - 1]![column];
    if (isNew) runs.at(-1)!.unshift(words[row - 1]!);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

/** Agreement or a command. */
const isReply = (run: readonly string[]): boolean => overlapOf(run.join(' ')) !== 'speech';
const isOwn = (run: readonly string[]): boolean => run.length >= OWN || isReply(run);

/**
 * Least fit of an echo that was misheard: `long` from so many letters on, and more of a shorter one, which may fit by chance. The first
 * and the last words, two or more of so many letters, must fit as well: what the user adds to an echo does not.
 */
const MISHEARD = {
  long: { fit: 0.6, letters: 40 },
  short: 0.3,
  edge: { letters: 5, first: 0.2, last: 0.5 },
} as const;
/** A word of which less than this is alike is another word; this many in a row are the user's. */
const OTHER = { alike: 0.4, words: 3 } as const;

/** Runs of words that are not like the agent's. */
function otherRuns(words: readonly FittedWord[]): string[][] {
  const runs: string[][] = [[]];
  for (const { word, alike } of words) {
    if (alike < OTHER.alike) runs.at(-1)!.push(word);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 0);
}

function fits(words: readonly FittedWord[], least: number): boolean {
  const { length, fit } = fitOf(words);
  return length < MISHEARD.edge.letters || fit >= least;
}

/** Whether all words together sound like what the agent says. */
function isMisheard(words: readonly string[], said: readonly string[]): boolean {
  const fitted = fittedInto(words, said) ?? [];
  const { length, fit } = fitOf(fitted);
  const { long, short, edge } = MISHEARD;
  if (fit < long.fit + short * Math.max(0, 1 - length / long.letters)) return false;
  if (otherRuns(fitted).some((run) => run.length >= OTHER.words || isReply(run))) return false;
  const cuts = fitted.slice(FEW).map((_, at) => at + FEW);
  return cuts.every(
    (at) => fits(fitted.slice(0, at), edge.first) && fits(fitted.slice(fitted.length - at), edge.last),
  );
}

/** `said`: the agent's words at that time. */
export function likenessOf(text: string, said: string): EchoVerdict {
  const [words, others] = [wordsOf(text), wordsOf(said)];
  if (overlapOf(text) !== 'speech') return 'own';
  const runs = newRuns(words, others);
  const shared = words.length - runs.reduce((sum, run) => sum + run.length, 0);
  if (words.length <= FEW) return shared === words.length ? 'repetition' : 'own';
  if (shared >= MOSTLY * words.length && !runs.some(isOwn)) return 'echo';
  return isMisheard(words, others) ? 'echo' : 'own';
}
