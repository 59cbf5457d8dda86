/**
 * Endpointing: the silence that ends the user's turn, by `eagerness`, by how complete the transcript looks, and by how
 * this user has paused so far (pace.ts).
 *
 * Constants: people leave 200 ms between turns on average and pause 500 to 1,000 ms inside one while they think
 * (Levinson and Torreira 2015); the voice activity detector has already seen 250 ms of silence when it reports one.
 */
import { isLanguage, type Language } from '../../../contracts/speech/languages.js';
import type { Eagerness } from '../settings.js';
import { LAST_WORDS } from './last-words.js';
import { opennessOf } from './open-sentences.js';
import { factorOf, type Pace } from './pace.js';
import { wholeReply } from './whole-replies.js';

/**
 * `complete`: a question, an exclamation, a whole reply; `likely`: a full stop after a word that can end a
 * sentence; `open`: cannot tell; `unfinished`: ends on a word that needs another.
 */
export type TurnCompleteness = 'complete' | 'likely' | 'open' | 'unfinished';

/** Endpointing delay: milliseconds of silence after the detector's own, longer the less complete a turn is. */
export type EndpointingDelays = Readonly<Record<TurnCompleteness, number>>;

export const ENDPOINTING_MS: Readonly<Record<Eagerness, EndpointingDelays>> = {
  eager: { complete: 100, likely: 250, open: 450, unfinished: 900 },
  balanced: { complete: 250, likely: 700, open: 1050, unfinished: 1700 },
  relaxed: { complete: 800, likely: 1200, open: 1700, unfinished: 2600 },
};

/** Japanese and Chinese put no spaces between words; Korean does, but attaches endings to them. */
const UNPARTED = new Set<Language>(['ja', 'zh']);
const ENDINGS = new Set<Language>(['ja', 'zh', 'ko']);

const QUOTES = `["'”’)\\]]*$`;
const ASKED = new RegExp(`[?？]${QUOTES}`, 'u');
const EXCLAIMED = new RegExp(`[!！]${QUOTES}`, 'u');
const STOPPED = new RegExp(`[.。]${QUOTES}`, 'u');
const TRAILING_OFF = /(\.\.\.|…|[,;:、，—-])$/u;
/** A final digit is doubtful, as numbers are dictated in groups. */
const DIGITS = /\p{N}$/u;

const parted = (bare: string): string[] => bare.split(/\s+/u);

function endsIn(bare: string, language: Language, list: ReadonlySet<string>, endings: ReadonlySet<Language>) {
  if (endings.has(language)) return [...list].some((word) => bare.endsWith(word));
  return list.has(parted(bare).at(-1) ?? '');
}

/** "I am calling about" needs another word; "who is it for" and "nothing to worry about" may not. */
function prepositionIn(bare: string, { stranded, wanting }: (typeof LAST_WORDS)[Language]) {
  const before = parted(bare);
  if (!stranded.has(before.pop() ?? '')) return undefined;
  return before.some((word) => wanting.has(word)) ? 'doubtful' : 'dangling';
}

/** Kind of the last word, if it says anything about the end. */
function lastWord(text: string, language: Language): 'closing' | 'dangling' | 'doubtful' | undefined {
  const bare = text
    .toLowerCase()
    .replace(/[\p{P}\s]+$/u, '')
    .replace(/['’]/gu, '');
  const { closing, dangling, doubtful } = LAST_WORDS[language];
  // Endings first: 「好的」 ends a sentence, and so may 「的」.
  if (endsIn(bare, language, closing, ENDINGS)) return 'closing';
  if (endsIn(bare, language, dangling, UNPARTED)) return 'dangling';
  if (endsIn(bare, language, doubtful, UNPARTED) || DIGITS.test(bare)) return 'doubtful';
  return prepositionIn(bare, LAST_WORDS[language]);
}

/** Completeness of whole replies: their signs say nothing, as a recogniser hears a short word as the first of more ("No,"). */
const REPLIES = { answer: 'complete', greeting: 'likely' } as const;

/** What the signs say about words that say nothing about the end. */
function bySign(text: string): TurnCompleteness {
  if (EXCLAIMED.test(text)) return 'complete';
  return STOPPED.test(text) ? 'likely' : 'open';
}

function inLanguage(text: string, language: Language): TurnCompleteness {
  const reply = wholeReply(text, language);
  if (reply) return REPLIES[reply];
  if (TRAILING_OFF.test(text)) return 'unfinished';
  const [last, openness] = [lastWord(text, language), opennessOf(text, language)];
  if (last === 'dangling' || openness === 'wanting') return 'unfinished';
  if (ASKED.test(text) || last === 'closing') return 'complete';
  if (last === 'doubtful') return STOPPED.test(text) ? 'open' : 'unfinished';
  return openness === 'announcing' ? 'open' : bySign(text);
}

function inAnyLanguage(text: string): TurnCompleteness {
  if (TRAILING_OFF.test(text)) return 'unfinished';
  return ASKED.test(text) ? 'complete' : bySign(text);
}

/**
 * Completeness of a turn with this transcript. Recognisers end most pieces with a full stop, even unfinished ones, so
 * words count first, and a missing full stop says more than a present one.
 */
export function completenessOf(text: string, language: string): TurnCompleteness {
  const trimmed = text.trim();
  return isLanguage(language) ? inLanguage(trimmed, language) : inAnyLanguage(trimmed);
}

/** Endpointing delays for a user with this pace. */
export function delaysOf(eagerness: Eagerness, pace: Pace): EndpointingDelays {
  const factor = factorOf(pace, eagerness);
  const { complete, likely, open, unfinished } = ENDPOINTING_MS[eagerness];
  const paced = (ms: number): number => Math.round(ms * factor);
  return {
    complete: paced(complete),
    likely: paced(likely),
    open: paced(open),
    unfinished: paced(unfinished),
  };
}
