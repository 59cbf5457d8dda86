/**
 * The user's stretches of voice that are not yet part of a message, in spoken order, and the transcript of each so far.
 * One is owed until its final transcript has arrived; a final transcript without words is noise, or unclear: then the
 * agent has listened to a voice, and a mark stands for its words.
 */
import { UNCLEAR } from '../../../contracts/text/unclear.js';
import { TIMES } from '../times.js';
import { overlapOf, wordsOf } from './interruption.js';

export interface VoiceStretch {
  readonly span: number;
  readonly text: string;
  readonly final: boolean;
  /** The words that will not change: those that its last two partial transcripts begin with alike. */
  readonly stable: string;
  /** Number of partial transcripts in a row without a word. */
  readonly wordless: number;
  /** Whether all of it was said while the agent spoke, even if the transcript came later. */
  readonly overlaps: boolean;
  /** When it began, in ms; undefined if the agent spoke then, which may have been what was heard. */
  readonly listenedFrom: number | undefined;
  /** The pause before it, in ms, if it is one only if these words are the user's. */
  readonly pausedMs: number | undefined;
  /** Its length in ms, once it has ended. */
  readonly voicedMs: number;
  /** The recogniser has failed, so its words, if there were any, are unknown. */
  readonly lost: boolean;
  /** It was the agent's own voice. */
  readonly echo: boolean;
  /** Its words are in the text of a later one. */
  readonly joined: boolean;
}

type Transcript = Pick<VoiceStretch, 'span' | 'text' | 'final'> & {
  readonly lost?: boolean;
  readonly echo?: boolean;
  readonly joins?: number;
};

export type Stretches = readonly VoiceStretch[];

/** `listenedFrom`: when it began, if the agent listens. `pausedMs`: the pause before it. */
export const begun = (
  stretches: Stretches,
  span: number,
  listenedFrom?: number,
  pausedMs?: number,
): Stretches => [
  ...stretches,
  {
    span,
    text: '',
    final: false,
    stable: '',
    wordless: 0,
    overlaps: false,
    pausedMs,
    listenedFrom,
    voicedMs: 0,
    lost: false,
    echo: false,
    joined: false,
  },
];

const changed = (
  stretches: Stretches,
  span: number,
  change: (each: VoiceStretch) => Partial<VoiceStretch>,
): Stretches => stretches.map((each) => (each.span === span ? { ...each, ...change(each) } : each));

export const overlapping = (stretches: Stretches, span: number): Stretches =>
  changed(stretches, span, () => ({ overlaps: true }));

/** The voice has ended: it fell silent at that time. */
export const silent = (stretches: Stretches, span: number, at: number): Stretches =>
  changed(stretches, span, ({ listenedFrom = at }) => ({ voicedMs: at - listenedFrom + TIMES.noticedMs }));

/** The words with which both begin. */
function commonWords(one: string, other: string): string {
  const [words, others] = [wordsOf(one), wordsOf(other)];
  const differs = words.findIndex((word, at) => word !== others[at]);
  return words.slice(0, differs < 0 ? words.length : differs).join(' ');
}

const isNoise = (text: string): boolean => overlapOf(text) === 'noise';

const JOINED = { text: '', stable: '', final: true, lost: false, joined: true } as const;

/** The stretches with that transcript, if it is owed; a final one is accepted once, and may have the words of those before it. */
export const heard = (stretches: Stretches, transcript: Transcript): Stretches => {
  const { span, text, final, lost = false, echo = false, joins = span } = transcript;
  if (!isOwed(stretches, span)) return stretches;
  return stretches.map((each) => {
    if (each.span >= joins && each.span < span) return { ...each, ...JOINED };
    if (each.span !== span) return each;
    const stable = final ? text : commonWords(each.text, text);
    const wordless = isNoise(text) ? each.wordless + (final ? 0 : 1) : 0;
    const pausedMs = isNoise(text) ? each.pausedMs : undefined;
    return { ...each, text, final, stable, wordless, lost, echo, pausedMs };
  });
};

/** The pause in the user's turn, in ms, that a transcript with words turns out to have ended; undefined if it is none, or known already. */
export function pauseBefore(stretches: Stretches, { span, text }: Transcript): number | undefined {
  const followsEcho = stretches.some((each) => each.span === span - 1 && each.echo);
  if (followsEcho || isNoise(text)) return undefined;
  return stretches.find((each) => each.span === span)?.pausedMs;
}

export const isOwed = (stretches: Stretches, span: number): boolean =>
  stretches.some((each) => each.span === span && !each.final);

/** The stretches still owed, without those whose words have become a message or are noise. */
export const owedOf = (stretches: Stretches): Stretches => stretches.filter(({ final }) => !final);

const hasText = ({ text }: VoiceStretch): boolean => !isNoise(text);

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

/** Whether the agent has listened to that voice, and it is not known to be a noise. */
const isListenedTo = (each: VoiceStretch): boolean =>
  each.listenedFrom !== undefined &&
  !each.overlaps &&
  !each.echo &&
  !each.joined &&
  each.wordless < MOST_WORDLESS;

/** Whether there was no word in a voice to which the agent has listened. */
const isUnclear = (each: VoiceStretch): boolean =>
  each.final && !hasText(each) && each.voicedMs >= TIMES.unclearMs && isListenedTo(each);

/** A voice whose transcript is owed: when it began, and its length, in ms; 0 while it goes on. */
export interface OwedVoice {
  readonly span: number;
  readonly from: number;
  readonly voicedMs: number;
}

/** The voices to which the agent has listened and whose transcripts are owed. */
export const owedVoices = (stretches: Stretches): readonly OwedVoice[] =>
  owedOf(stretches)
    .filter(isListenedTo)
    .map(({ span, listenedFrom: from = 0, voicedMs }) => ({ span, from, voicedMs }));

/** The first of the stretches right before that one, to all of which the agent has listened; undefined if there is none. */
export function joinedBy(stretches: Stretches, span: number): number | undefined {
  let first = span;
  for (const each of stretches.toReversed()) {
    if (each.span !== first - 1 || each.listenedFrom === undefined || each.overlaps || each.echo) break;
    first = each.span;
  }
  return first < span ? first : undefined;
}

export const hasUnclear = (stretches: Stretches): boolean => stretches.some(isUnclear);

/** The words that are certain, with marks in place of those that were unclear; empty if there are neither. */
export const markedText = (stretches: Stretches): string =>
  joined(
    stretches
      .filter((each) => isUnclear(each) || (each.final && hasText(each)))
      .map((each) => (isUnclear(each) ? UNCLEAR : each.text))
      .filter((text, at, texts) => text !== UNCLEAR || texts[at - 1] !== UNCLEAR),
  );

/** Whether the recogniser has failed to hear one of them. */
export const hasLost = (stretches: Stretches): boolean => stretches.some(({ lost }) => lost);

/** Whether the first words that are certain were begun while the agent spoke. */
export const interruptsAgent = (stretches: Stretches): boolean => {
  const [first] = certain(stretches);
  return first !== undefined && first.listenedFrom === undefined;
};

/** Whether all words that are certain were said while the agent spoke. */
export const isOverlap = (stretches: Stretches): boolean =>
  certain(stretches).every(({ overlaps }) => overlaps);
