/**
 * The user's stretches of voice that are not yet part of a message, in spoken order, and the transcript of each so far.
 * One is owed until its final transcript has arrived; a final transcript without words is noise.
 */
import { overlapOf, wordsOf } from './interruption.js';

export interface Stretch {
  readonly span: number;
  readonly text: string;
  readonly final: boolean;
  /** The words that will not change: those that its last two partial transcripts begin with alike. */
  readonly stable: string;
  /** Number of partial transcripts in a row without a word. */
  readonly wordless: number;
  /** Whether all of it was said while the agent spoke, even if the transcript came later. */
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

/** The stretches with that transcript, if it is owed; a final one is accepted once. */
export const heard = (stretches: Stretches, { span, text, final }: Transcript): Stretches =>
  stretches.map((each) => {
    if (each.span !== span || each.final) return each;
    const stable = final ? text : commonWords(each.text, text);
    return { ...each, text, final, stable, wordless: isNoise(text) ? each.wordless + 1 : 0 };
  });

export const isOwed = (stretches: Stretches, span: number): boolean =>
  stretches.some((each) => each.span === span && !each.final);

/** The stretches still owed, without those whose words have become a message or are noise. */
export const owedOf = (stretches: Stretches): Stretches => stretches.filter(({ final }) => !final);

const hasText = ({ text }: Stretch): boolean => !isNoise(text);

/** Whether that transcript has words, and is final or differs from the last partial one. */
export const bringsWords = (stretches: Stretches, { span, text, final }: Transcript): boolean =>
  !isNoise(text) && (final || !stretches.some((each) => each.span === span && each.text === text));

export const isWhole = (stretches: Stretches): boolean => stretches.every(({ final }) => final);

export const joined = (texts: readonly string[]): string =>
  texts
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join(' ');

/** The words so far, those of partial transcripts included. */
export const partialText = (stretches: Stretches): string => joined(stretches.map(({ text }) => text));

/** The words so far that will not change. */
export const stableText = (stretches: Stretches): string => joined(stretches.map(({ stable }) => stable));

/** Partial transcripts without a word that make a sound noise: the recogniser has listened to two seconds of it. */
const MOST_WORDLESS = 3;

/** Whether that partial transcript makes its stretch noise: a fan, a hum, music. Not if earlier words are known or owed: they wait for its end. */
export function isWordless(stretches: Stretches, partial: Transcript): boolean {
  const now = heard(stretches, partial);
  const [owed, ...others] = owedOf(now);
  const isOnlyOwed = owed?.span === partial.span && others.length === 0;
  return isOnlyOwed && isNoise(partialText(now)) && owed.wordless >= MOST_WORDLESS;
}

const certain = (stretches: Stretches): Stretches => stretches.filter((each) => each.final && hasText(each));

/** The words that are certain; empty if there are none. */
export const finalText = (stretches: Stretches): string => joined(certain(stretches).map(({ text }) => text));

/** Whether all words that are certain were said while the agent spoke. */
export const isOverlap = (stretches: Stretches): boolean =>
  certain(stretches).every(({ overlaps }) => overlaps);
