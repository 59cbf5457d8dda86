/**
 * Barge-in: the effect of the user's voice on an agent that speaks, as a table by overlap class and
 * `interruption_sensitivity` (the classes of Full-Duplex-Bench 1.5, and commands).
 *
 * Voice activity and transcripts distinguish noise (no words), a backchannel (only words of agreement), a command ("stop")
 * and speech. They cannot tell whom speech is meant for: talking to somebody else, and speech in the background
 * that is loud enough to be transcribed, are `speech` here and treated as an interruption. `low` needs more words
 * before it yields, which ignores a short aside but not a long one.
 */
import { segmentsOf } from '../../../contracts/text/words.js';
import type { Sensitivity } from '../settings.js';
import { AGREEMENT, COMMANDS, SOFTENERS } from './overlap-words.js';

export type Overlap = 'noise' | 'backchannel' | 'command' | 'speech';

/** `later`: the agent continues, and answers when it has finished. */
export type OverlapVerdict = 'ignore' | 'later' | 'interrupt';

interface Row {
  /** Whether voice alone holds the agent, before any word is known. */
  readonly holds: boolean;
  /** Whole words of `speech` that interrupt: they hold the agent while the user still speaks. */
  readonly words: number;
  readonly noise: OverlapVerdict;
  readonly backchannel: OverlapVerdict;
  readonly command: OverlapVerdict;
  /** `speech` of fewer words, once the user has stopped. */
  readonly fewWords: OverlapVerdict;
}

/** Nobody says "stop" and means "go on". */
const ALWAYS = { noise: 'ignore', command: 'interrupt' } as const;

/**
 * The agent must not talk over a user who interrupts: at `balanced` and `high` it fades out at the first sound, and
 * resumes where it stopped if that was a cough or, at `balanced`, agreement. `low` waits for words.
 */
export const INTERRUPTION: Readonly<Record<Sensitivity, Row>> = {
  low: { ...ALWAYS, holds: false, words: 4, backchannel: 'ignore', fewWords: 'later' },
  balanced: { ...ALWAYS, holds: true, words: 2, backchannel: 'ignore', fewWords: 'interrupt' },
  high: { ...ALWAYS, holds: true, words: 1, backchannel: 'interrupt', fewWords: 'interrupt' },
};

/** Hums of any length become short ones: "Mm-mm-hmm" is "mhm". */
const HUM = /\b[hm]{2,}\b/gu;
const shortened = (hum: string): string => hum.replace(/(.)\1+/gu, '$1');

const plain = (text: string): string => text.toLowerCase().replace(/['’-]/gu, '').replace(HUM, shortened);

const segmented = (text: string): readonly string[] =>
  [...segmentsOf(plain(text))].flatMap(({ segment, isWordLike }) => (isWordLike ? [segment] : []));

/** The words of the latest texts: each transcript is asked about ten times at once. */
const recent = new Map<string, readonly string[]>();
const MOST_RECENT = 32;

export function wordsOf(text: string): readonly string[] {
  const known = recent.get(text);
  if (known) return known;
  const words = segmented(text);
  if (recent.size >= MOST_RECENT) recent.clear();
  recent.set(text, words);
  return words;
}

/** Most words of a backchannel. */
const BACKCHANNEL_WORDS = 4;

/** Joined without spaces: Japanese and Chinese have none, and Korean places them freely. */
const unspaced = (words: readonly string[]): string => words.join('');

const phrasesOf = (phrases: readonly string[]): readonly string[] =>
  phrases.map((phrase) => unspaced(wordsOf(phrase))).sort((one, other) => other.length - one.length);

function allPhrases() {
  const commands = phrasesOf(COMMANDS);
  return {
    agreement: phrasesOf(AGREEMENT),
    commands,
    commandsAndSofteners: [...commands, ...phrasesOf(SOFTENERS)],
  };
}
let made: ReturnType<typeof allPhrases> | undefined;
/** The phrases, made at first use: segmenting them takes 10 ms, and most processes that load this never need them. */
const knownPhrases = (): ReturnType<typeof allPhrases> => (made ??= allPhrases());

/** Ends of the words in their unspaced text: a phrase must end at one, so that "no" does not match "nothing". */
function endsOf(words: readonly string[]): ReadonlySet<number> {
  let end = 0;
  return new Set(words.map((word) => (end += word.length)));
}

/**
 * The phrases that make up the words; undefined if the words have anything else. `open`: the last part may be only the
 * beginning of a phrase.
 */
function partsOf(words: readonly string[], phrases: readonly string[], open = false): string[] | undefined {
  const text = unspaced(words);
  const ends = endsOf(words);
  const parts: string[] = [];
  for (let at = 0; at < text.length; at += parts.at(-1)!.length) {
    const rest = text.slice(at);
    const part =
      phrases.find((phrase) => rest.startsWith(phrase) && ends.has(at + phrase.length)) ??
      phrases.find((phrase) => open && phrase.startsWith(rest));
    if (part === undefined) return undefined;
    parts.push(part);
  }
  return parts;
}

/** Whether the words are only commands and their softeners. */
const isCommand = (words: readonly string[]): boolean =>
  partsOf(words, knownPhrases().commandsAndSofteners)?.some((part) =>
    knownPhrases().commands.includes(part),
  ) ?? false;

function overlapIn(words: readonly string[], open = false): Overlap {
  if (words.length === 0) return 'noise';
  if (isCommand(words)) return 'command';
  const agrees =
    words.length <= BACKCHANNEL_WORDS && partsOf(words, knownPhrases().agreement, open) !== undefined;
  return agrees ? 'backchannel' : 'speech';
}

/**
 * `finished`: the user has stopped, and the text is complete. Until then the last word does not count: it may be half a
 * word, which a recogniser can mistake for another ("right" for "write").
 */
const knownWords = (text: string, finished: boolean): readonly string[] =>
  finished ? wordsOf(text) : wordsOf(text).slice(0, -1);

export const overlapOf = (text: string, finished = true): Overlap =>
  overlapIn(knownWords(text, finished), !finished);

/** OverlapVerdict on whole words that no later words can change; undefined if there is none yet. */
function verdictAtOnce(known: readonly string[], row: Row, finished: boolean): OverlapVerdict | undefined {
  const overlap = overlapIn(known, !finished);
  if (overlap === 'command') return row.command;
  return overlap === 'speech' && known.length >= row.words ? 'interrupt' : undefined;
}

/** Whether words that will not change interrupt, though more may come. */
export const interrupts = (text: string, sensitivity: Sensitivity): boolean =>
  verdictAtOnce(wordsOf(text), INTERRUPTION[sensitivity], false) === 'interrupt';

/** `finished` as above; until then undefined, or the verdict on words that look like an interruption. */
export function verdictOf(
  text: string,
  sensitivity: Sensitivity,
  finished: boolean,
): OverlapVerdict | undefined {
  const row = INTERRUPTION[sensitivity];
  const known = knownWords(text, finished);
  const atOnce = verdictAtOnce(known, row, finished);
  if (atOnce !== undefined || !finished) return atOnce;
  const overlap = overlapIn(known);
  return overlap === 'speech' ? row.fewWords : row[overlap];
}
