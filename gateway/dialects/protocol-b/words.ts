/**
 * The words of a transcript as protocol B shows them (docs/contract/protocol-b.md 4; rule 12): words and
 * the spacing between them, each with its time.
 *
 * Invariants: the joined texts are the transcript's text; every time is a number, and times never go back. An
 * engine's words need not cover its text: text that they omit shares the time between them.
 */
import type { Transcript } from '../../../contracts/ports/speech/speech.js';
import { seconds } from '../../server/seconds.js';
import { allRunsOf, type WordRun } from './word-runs.js';

export interface WordEntry {
  readonly text: string;
  readonly type: 'word' | 'spacing';
  /** Seconds from the start of the audio, in whole milliseconds. */
  readonly start: number;
  readonly end: number;
  readonly speaker_id: null;
  readonly logprob: 0;
}

type Span = Pick<WordRun, 'start' | 'end'>;

const entry = (text: string, { start, end }: Span): WordEntry => ({
  text,
  type: text.trim() === '' ? 'spacing' : 'word',
  start: seconds(start),
  end: seconds(end),
  speaker_id: null,
  logprob: 0,
});

/** Entries for text that no word of the engine covers: white space and words share its time by their length. */
function uncovered(text: string, { start, end }: Span): WordEntry[] {
  const at = (index: number): number => start + ((end - start) * index) / text.length;
  return [...text.matchAll(/\s+|\S+/gu)].map(({ 0: part, index }) =>
    entry(part, { start: at(index), end: at(index + part.length) }),
  );
}

/** The transcript's words and the spacing between them, in order; without `words`, times are distributed by length. */
export const wordEntries = ({
  text,
  words = [],
  duration,
}: Pick<Transcript, 'text' | 'words' | 'duration'>): WordEntry[] =>
  allRunsOf(text, words, duration).flatMap((run) =>
    run.isWord ? [entry(run.text, run)] : uncovered(run.text, run),
  );
