/**
 * A text cut into runs by the words that an engine heard or spoke in it: a word, or what stands between two.
 * Words come in order; one that is not in the text takes part in the run between its neighbours.
 *
 * Invariants: the runs are the beginning of the text, in order, none empty; no time goes back.
 */
import type { TimedWord } from '../../../contracts/ports/tts.js';

/** Characters of the text that share a span of time, in seconds. */
export interface Run {
  readonly text: string;
  readonly isWord: boolean;
  readonly start: number;
  readonly end: number;
}

/** A word is looked for no further on than this, so that one that is not in the text swallows none of it. */
const SEARCH_CHARACTERS = 64;

const MARKS_AROUND = /^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu;

export const withoutMarks = (word: string): string => word.replace(MARKS_AROUND, '');

interface Place {
  readonly from: number;
  readonly to: number;
}

type Find = (word: string, text: string, from: number) => Place | undefined;

const findExactly: Find = (word, text, from) => {
  if (word === '') return undefined;
  const near = text.slice(from, from + SEARCH_CHARACTERS + word.length).indexOf(word);
  return near < 0 ? undefined : { from: from + near, to: from + near + word.length };
};

/** Without its punctuation where a tag that is not spoken stood in between. */
export const findSpoken: Find = (word, text, from) =>
  findExactly(word, text, from) ?? findExactly(withoutMarks(word), text, from);

export interface Looking {
  /** Where the audio ends, and with it every word. */
  readonly until?: number;
  readonly find?: Find;
}

/** The text up to the end of the last word. */
export function runsOf(
  text: string,
  words: readonly TimedWord[],
  { until = Infinity, find = findExactly }: Looking = {},
): Run[] {
  const runs: Run[] = [];
  let done = 0;
  let now = 0;
  for (const word of words) {
    const place = find(word.text, text, done);
    if (!place) continue;
    const start = Math.max(now, Math.min(word.start, until));
    const end = Math.max(start, Math.min(word.end, until));
    if (place.from > done) {
      runs.push({ text: text.slice(done, place.from), isWord: false, start: now, end: start });
    }
    runs.push({ text: text.slice(place.from, place.to), isWord: true, start, end });
    done = place.to;
    now = end;
  }
  return runs;
}

/** All of the text: what stands behind the last word has the rest of the audio, `duration` in seconds. */
export function allRunsOf(
  text: string,
  words: readonly TimedWord[],
  duration: number,
  looking: Looking = {},
): Run[] {
  const runs = runsOf(text, words, looking);
  const done = runs.reduce((length, run) => length + run.text.length, 0);
  if (done === text.length) return runs;
  const start = runs.at(-1)?.end ?? 0;
  return [...runs, { text: text.slice(done), isWord: false, start, end: Math.max(start, duration) }];
}
