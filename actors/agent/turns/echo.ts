/**
 * Echo: the agent's own words that come back through the user's microphone, recognised by what it is saying. A recogniser
 * mishears some of them, so only most of the words must be the agent's, in its order.
 *
 * Users repeat a word or two on purpose ("Tuesday?"), agree ("yes, Tuesday at nine") and object: words that are few, or
 * that include some the agent has not said, are the user's.
 */
import { overlapOf, wordsOf } from './interruption.js';

/** `repetition`: only a word or two of the agent's; `own`: the user's words. */
export type Likeness = 'echo' | 'repetition' | 'own';

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

const isOwn = (run: readonly string[]): boolean => run.length >= OWN || overlapOf(run.join(' ')) !== 'speech';

/** `said`: the agent's words at that time. */
export function likenessOf(text: string, said: string): Likeness {
  const words = wordsOf(text);
  if (overlapOf(text) !== 'speech') return 'own';
  const runs = newRuns(words, wordsOf(said));
  const shared = words.length - runs.reduce((sum, run) => sum + run.length, 0);
  if (words.length <= FEW) return shared === words.length ? 'repetition' : 'own';
  return shared >= MOSTLY * words.length && !runs.some(isOwn) ? 'echo' : 'own';
}
