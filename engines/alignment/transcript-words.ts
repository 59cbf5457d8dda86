/**
 * The words of a transcript: runs between white space, and each character of scripts without spaces
 * between words. Words of unknown time are placed between their neighbours by their length.
 */
import type { TimedWord } from '../../contracts/ports/speech/tts.js';

const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;
/** One such character with the marks that follow it, or a run of anything else. */
const PARTS = new RegExp(`${UNSPACED.source}[\\p{M}\\p{P}ー]*|(?:(?!${UNSPACED.source})\\S)+`, 'gu');

export interface WordPlace {
  readonly text: string;
  /** Its start in the text (UTF-16 units). */
  readonly at: number;
}

export const wordPlaces = (text: string): WordPlace[] =>
  [...text.matchAll(PARTS)].map(({ 0: word, index }) => ({ text: word, at: index }));

export const wordsIn = (text: string): string[] => wordPlaces(text).map((word) => word.text);

export interface WordSpan {
  readonly start: number;
  readonly end: number;
}

/** Divides a span among words by their length. */
export function share(words: readonly string[], { start, end }: WordSpan): TimedWord[] {
  const letters = words.reduce((sum, { length }) => sum + length, 0);
  let before = 0;
  return words.map((text) => {
    const at = (count: number): number => start + ((end - start) * count) / letters;
    const word = { text, start: at(before), end: at(before + text.length) };
    before += text.length;
    return word;
  });
}

/**
 * Every word with a time, in order: known ones keep theirs, runs of unknown ones share the time
 * between their neighbours. `known[index]` is the time of `words[index]`; all lie within `whole`.
 */
export function fillTimes(
  words: readonly string[],
  known: readonly (WordSpan | undefined)[],
  whole: WordSpan,
): TimedWord[] {
  const filled: TimedWord[] = [];
  for (let index = 0; index < words.length;) {
    const span = known[index];
    if (span) {
      filled.push({ text: words[index]!, ...span });
      index += 1;
      continue;
    }
    const next = known.findIndex((other, at) => at > index && other !== undefined);
    const until = next < 0 ? words.length : next;
    const gap = { start: filled.at(-1)?.end ?? whole.start, end: known[until]?.start ?? whole.end };
    filled.push(...share(words.slice(index, until), gap));
    index = until;
  }
  return filled;
}
