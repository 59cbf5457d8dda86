/**
 * The alignment: character timestamps, computed from the word times of a spoken piece (docs/contract/protocol-b.md 2). A word's
 * characters share its time; text between words (blanks, punctuation, tags) shares the time between them, and text
 * after the last word shares the rest of the audio.
 *
 * Invariants: characters are whole code points that together are the text; times never go back; the last character
 * of a complete piece ends with its audio. Times given for an incomplete piece are final, so a later result begins
 * with each earlier one.
 */
import type { SpokenPiece } from '../../../contracts/ports/speech/speech.js';
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { allRunsOf, findSpoken, type RunSearch, type WordRun, runsOf } from './word-runs.js';

/** Three arrays of equal length, one entry per character. */
export interface CharacterTimes {
  readonly chars: readonly string[];
  /** Seconds from the start of the piece. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const looking = (duration: number): RunSearch => ({ until: duration, find: findSpoken });

function timesOf(runs: readonly WordRun[]): { chars: string[]; starts: number[]; ends: number[] } {
  const times = { chars: [] as string[], starts: [] as number[], ends: [] as number[] };
  for (const { text, start, end } of runs) {
    const chars = [...text];
    const share = (end - start) / chars.length;
    chars.forEach((char, index) => {
      times.chars.push(char);
      times.starts.push(start + index * share);
      times.ends.push(index === chars.length - 1 ? end : start + (index + 1) * share);
    });
  }
  return times;
}

/** Times of a complete piece, for all of its text. */
function whole(text: string, words: readonly TimedWord[], duration: number): CharacterTimes {
  const times = timesOf(allRunsOf(text, words, duration, looking(duration)));
  const last = times.ends.length - 1;
  if (last >= 0) times.ends[last] = Math.max(times.ends[last] ?? 0, duration);
  return times;
}

/**
 * The characters of a piece whose times are final: all of them once it is complete, until then those before the
 * last word that its audio has reached. `text`: the piece's text if that includes the blanks around it. Undefined
 * if the engine has no timing.
 */
export function characterTimes(
  { text: own, words, duration, complete }: SpokenPiece,
  text = own,
): CharacterTimes | undefined {
  if (!words) return undefined;
  if (complete) return whole(text, words, duration);
  const reached = words.filter(({ start }) => start < duration);
  return timesOf(runsOf(text, reached, looking(duration)).slice(0, -1));
}
