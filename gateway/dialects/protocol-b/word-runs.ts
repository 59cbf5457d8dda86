/**
 * Splits a text into runs by the words that an engine recognised or spoke: a run is a word or the text between two.
 * Words come in order; one that is not in the text is skipped, so its time falls to the run between its neighbours.
 *
 * Invariants: the runs are the beginning of the text, in order, none empty; times never go back.
 */
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';

/** Characters of the text that share a span of time, in seconds. */
export interface WordRun {
  readonly text: string;
  readonly isWord: boolean;
  readonly start: number;
  readonly end: number;
}

/** Furthest distance at which a word is searched for, so that a word that is not in the text matches no later one. */
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

/** Finds a word, or the word without its punctuation, which a tag that is not spoken may separate from it. */
export const findSpoken: Find = (word, text, from) =>
  findExactly(word, text, from) ?? findExactly(withoutMarks(word), text, from);

export interface RunSearch {
  /** End of the audio in seconds; no word ends later. */
  readonly until?: number;
  readonly find?: Find;
}

/** Runs of the text up to the end of the last word. */
export function runsOf(
  text: string,
  words: readonly TimedWord[],
  { until = Infinity, find = findExactly }: RunSearch = {},
): WordRun[] {
  const runs: WordRun[] = [];
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

/** Runs of the whole text; text after the last word gets the rest of the audio. `duration`: seconds. */
export function allRunsOf(
  text: string,
  words: readonly TimedWord[],
  duration: number,
  looking: RunSearch = {},
): WordRun[] {
  const runs = runsOf(text, words, looking);
  const done = runs.reduce((length, run) => length + run.text.length, 0);
  if (done === text.length) return runs;
  const start = runs.at(-1)?.end ?? 0;
  return [...runs, { text: text.slice(done), isWord: false, start, end: Math.max(start, duration) }];
}
