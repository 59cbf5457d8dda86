/**
 * The user's stretches of voice that are part of no message yet, in the order in which they were spoken, and what was
 * heard of each. One is owed until its final transcript is there; a final without words is noise.
 */
import { overlapOf, wordsOf } from './interruption.js';

export interface Stretch {
  readonly span: number;
  readonly text: string;
  readonly final: boolean;
  /** The words that will not change: those in which its last two guesses agree. */
  readonly stable: string;
  /** So many guesses in a row have found no word in it. */
  readonly wordless: number;
  /** All of it was said while the agent spoke, however late its words are known. */
  readonly overlaps: boolean;
}

type Transcript = Pick<Stretch, 'span' | 'text' | 'final'>;

export type Stretches = readonly Stretch[];

export const begun = (stretches: Stretches, span: number): Stretches => [
  ...stretches,
  { span, text: '', final: false, stable: '', wordless: 0, overlaps: false },
];

export const overlapping = (stretches: Stretches, span: number): Stretches =>
  stretches.map((each) => (each.span === span ? { ...each, overlaps: true } : each));

/** The words with which both begin. */
function commonWords(one: string, other: string): string {
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const differs = words.findIndex((word, at) => word !== others[at]);
  return words.slice(0, differs < 0 ? words.length : differs).join(' ');
}

const isNoise = (text: string): boolean => overlapOf(text) === 'noise';

/** With that transcript, where it is owed; a final is taken once. */
export const heard = (stretches: Stretches, { span, text, final }: Transcript): Stretches =>
  stretches.map((each) => {
    if (each.span !== span || each.final) return each;
    const stable = final ? text : commonWords(each.text, text);
    return { ...each, text, final, stable, wordless: isNoise(text) ? each.wordless + 1 : 0 };
  });

export const isOwed = (stretches: Stretches, span: number): boolean =>
  stretches.some((each) => each.span === span && !each.final);

/** Without those whose words have become a message, or are none. */
export const owedOf = (stretches: Stretches): Stretches => stretches.filter(({ final }) => !final);

const hasText = ({ text }: Stretch): boolean => !isNoise(text);

/** Whether that transcript has words, and no guess has brought the same. */
export const bringsWords = (stretches: Stretches, { span, text, final }: Transcript): boolean =>
  !isNoise(text) && (final || !stretches.some((each) => each.span === span && each.text === text));

export const isWhole = (stretches: Stretches): boolean => stretches.every(({ final }) => final);

export const joined = (texts: readonly string[]): string =>
  texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ');

/** Their words so far, guesses too. */
export const guessedText = (stretches: Stretches): string => joined(stretches.map(({ text }) => text));

/** Their words so far that will not change. */
export const stableText = (stretches: Stretches): string => joined(stretches.map(({ stable }) => stable));

/** Guesses without a word, after which a sound is noise: the recogniser has listened to two seconds of it. */
const WORDLESS_GUESSES = 3;

/** Whether that guess makes noise of its stretch: a fan, a hum, music. Not where words before it are known or owed: they wait for its end. */
export function isWordless(stretches: Stretches, guess: Transcript): boolean {
  const now = heard(stretches, guess);
  const owed = now.filter(({ final }) => !final);
  const isOnlyOwed = owed.length === 1 && owed[0]?.span === guess.span;
  return isOnlyOwed && isNoise(guessedText(now)) && owed[0]!.wordless >= WORDLESS_GUESSES;
}

const certain = (stretches: Stretches): Stretches => stretches.filter((each) => each.final && hasText(each));

/** The words that are certain; empty where there are none. */
export const finalText = (stretches: Stretches): string => joined(certain(stretches).map(({ text }) => text));

/** Whether all words that are certain were said while the agent spoke. */
export const isOverlap = (stretches: Stretches): boolean =>
  certain(stretches).every(({ overlaps }) => overlaps);
