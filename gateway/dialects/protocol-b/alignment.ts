/**
 * Characters with their times, out of the words of a spoken piece (docs/contract/protocol-b.md 2). A word's
 * characters share its time, what stands between words (blanks, punctuation, tags) shares the time between them,
 * and what stands behind the last one the rest of the audio.
 *
 * Invariants: characters are whole code points and their sum is the text; no time goes back; the last character
 * of a complete piece ends with its audio. What is told of an incomplete piece does not change any more, so a
 * later answer begins with an earlier one.
 */
import type { SpokenPiece } from '../../../contracts/ports/speech.js';
import type { TimedWord } from '../../../contracts/ports/tts.js';
import { allRunsOf, findSpoken, type Looking, type Run, runsOf } from './word-runs.js';

/** Three arrays of one length, one entry a character. */
export interface CharacterTimes {
  readonly chars: readonly string[];
  /** Seconds from the start of the piece. */
  readonly starts: readonly number[];
  readonly ends: readonly number[];
}

const looking = (duration: number): Looking => ({ until: duration, find: findSpoken });

function timesOf(runs: readonly Run[]): { chars: string[]; starts: number[]; ends: number[] } {
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

/** The times of a piece that is over: all of its text. */
function whole(text: string, words: readonly TimedWord[], duration: number): CharacterTimes {
  const times = timesOf(allRunsOf(text, words, duration, looking(duration)));
  const last = times.ends.length - 1;
  if (last >= 0) times.ends[last] = Math.max(times.ends[last] ?? 0, duration);
  return times;
}

/**
 * The characters of a piece whose times are settled: all of them once it is complete, before that those that
 * stand before the last word its audio has come to. `text` is what stands for the piece, where that is more than
 * its own text: the blanks around it. Undefined where the engine has no timing.
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
