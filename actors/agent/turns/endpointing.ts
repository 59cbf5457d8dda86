/**
 * Endpointing: the silence that ends the user's turn, by `eagerness`, by how complete the transcript looks, and by how
 * this user has paused so far (pace.ts).
 *
 * Constants: people leave 200 ms between turns on average and pause 500 to 1,000 ms inside one while they think
 * (Levinson and Torreira 2015); the voice activity detector has already seen 250 ms of silence when it reports one.
 */
import { isLanguage, type Language } from '../../../contracts/speech/languages.js';
import type { Eagerness } from '../settings.js';
import { overlapOf } from './interruption.js';
import { LAST_WORDS } from './last-words.js';
import { isAsking } from './asking.js';
import { opennessOf, sentenceIn } from './open-sentences.js';
import { factorOf, type Pace } from './pace.js';
import { wholeReply } from './whole-replies.js';

/**
 * `complete`: a question, a whole reply; `likely`: a full stop or exclamation mark after a word that can end a
 * sentence; `open`: cannot tell; `unfinished`: ends on a word that needs another.
 */
export type TurnCompleteness = 'complete' | 'likely' | 'open' | 'unfinished';

/**
 * Endpointing delay: milliseconds of silence after NOTICED_MS of it, longer the less complete a turn is. Counted from the last sound
 * (fadeOf), so that voices that fade slowly wait no longer than others.
 */
export type EndpointingDelays = Readonly<Record<TurnCompleteness, number>>;

export const ENDPOINTING_MS: Readonly<Record<Eagerness, EndpointingDelays>> = {
  eager: { complete: 100, likely: 330, open: 530, unfinished: 980 },
  balanced: { complete: 230, likely: 620, open: 1150, unfinished: 1800 },
  relaxed: { complete: 800, likely: 1280, open: 1780, unfinished: 2680 },
};

/** Silence that every detector has heard when it reports the end of a voice, in ms. */
export const NOTICED_MS = 256;
/** Most of a voice's fading that counts as silence, in ms: what is longer may be a soft last syllable. */
export const MOST_FADE_MS = 96;

/** How long a voice had faded that was silent for `silentMs` when its end was noticed: that much of the delay has passed. */
export const fadeOf = (silentMs = NOTICED_MS): number =>
  Math.min(MOST_FADE_MS, Math.max(0, silentMs - NOTICED_MS));

/** What a turn was that makes its delays differ from those of the tables. */
export interface TurnFacts {
  /** The user has not yet shown how they pause: nothing but short replies so far. */
  readonly unknownPace?: boolean;
  /** It began while the agent spoke. */
  readonly interrupts?: boolean;
  /** It is a word or two, and the agent's last sentence was a question. */
  readonly answers?: boolean;
  /** It is the whole of what the agent has asked for (expected-answers.ts). */
  readonly fulfils?: boolean;
}

/**
 * Delay of a `likely` turn while the user's pace is unknown: at `balanced` the detector's silence and this outlast a pause of 1.2
 * seconds, which is how long people think in the middle of the first thing that they say.
 */
export const FIRST_LIKELY_MS: Readonly<Record<Eagerness, number>> = {
  eager: 330,
  balanced: 1150,
  relaxed: 1280,
};
/** Delay of a `likely` turn that interrupts the agent: people have thought of what they say before they cut somebody short. */
export const INTERRUPTING_LIKELY_MS: Readonly<Record<Eagerness, number>> = {
  eager: 280,
  balanced: 430,
  relaxed: 980,
};

/** Delay of a `likely` turn that answers a question in a word or two, which is the whole of most such answers. */
export const ANSWERING_LIKELY_MS: Readonly<Record<Eagerness, number>> = {
  eager: 280,
  balanced: 480,
  relaxed: 980,
};
/** Delay of a `complete` turn that is the whole of what was asked for. */
export const FULFILLING_MS: Readonly<Record<Eagerness, number>> = {
  eager: 60,
  balanced: 150,
  relaxed: 500,
};
/** An `open` turn is waited for at least this much longer than a `likely` one: meanwhile its answer is drafted. */
const DRAFT_AHEAD_MS = 200;
/** Most words of an answer that is short: "Tomorrow.", "On Monday." */
export const MOST_ANSWER_WORDS = 2;

/** Japanese and Chinese put no spaces between words; Korean does, but attaches endings to them. */
const UNPARTED = new Set<Language>(['ja', 'zh']);
const ENDINGS = new Set<Language>(['ja', 'zh', 'ko']);

const QUOTES = `["'”’)\\]]*$`;
const ASKED = new RegExp(`[?？]${QUOTES}`, 'u');
/** Recognisers put an exclamation mark behind loud or odd words as readily as behind exclamations: it says no more than a full stop. */
const STOPPED = new RegExp(`[.。!！]${QUOTES}`, 'u');
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

/**
 * What the signs say about words that say nothing about the end. Of a short answer a missing full stop says nothing: recognisers
 * put one behind sentences.
 */
const bySign = (text: string, answers: boolean): TurnCompleteness =>
  STOPPED.test(text) || answers ? 'likely' : 'open';

/** What stands behind the last sign within the text: "… more than I need, thank you." */
const LAST_CLAUSE = /[.,!?;:。，、！？]\s*([^.,!?;:。，、！？]+)[.,!?;:。，、！？]*["'”’)\]]*$/u;

/** Whether the text ends with a reply that calls for nothing after it. */
function closes(text: string, language: Language): boolean {
  const clause = LAST_CLAUSE.exec(text)?.[1];
  return clause !== undefined && wholeReply(clause, language) === 'answer';
}

function inLanguage(text: string, language: Language, answers: boolean): TurnCompleteness {
  const reply = wholeReply(text, language);
  if (reply) return REPLIES[reply];
  // "Hold on" and "wait" are whole, though "on" calls for another word elsewhere.
  if (overlapOf(text) === 'command') return 'likely';
  if (TRAILING_OFF.test(text)) return 'unfinished';
  if (closes(text, language)) return 'complete';
  const [last, openness] = [lastWord(text, language), opennessOf(text, language)];
  if (last === 'dangling' || openness === 'wanting') return 'unfinished';
  if (ASKED.test(text) || last === 'closing') return 'complete';
  if (last === 'doubtful') return STOPPED.test(text) ? 'open' : 'unfinished';
  if (openness === 'announcing') return 'open';
  const asks = STOPPED.test(text) && isAsking(sentenceIn(text, language), language);
  return asks ? 'complete' : bySign(text, answers);
}

function inAnyLanguage(text: string, answers: boolean): TurnCompleteness {
  if (TRAILING_OFF.test(text)) return 'unfinished';
  return ASKED.test(text) ? 'complete' : bySign(text, answers);
}

/** Whether what the agent said last is a question. */
export const isQuestion = (text: string): boolean => ASKED.test(text.trimEnd());

/**
 * Completeness of a turn with this transcript. Recognisers end most pieces with a full stop, even unfinished ones, so
 * words count first, and a missing full stop says more than a present one. `answers` as in TurnFacts.
 */
export function completenessOf(text: string, language: string, answers = false): TurnCompleteness {
  const trimmed = text.trim();
  return isLanguage(language) ? inLanguage(trimmed, language, answers) : inAnyLanguage(trimmed, answers);
}

/** Delay of a `likely` turn. */
function likelyMs(
  eagerness: Eagerness,
  factor: number,
  { unknownPace, interrupts, answers }: TurnFacts,
): number {
  const usual = ENDPOINTING_MS[eagerness].likely * factor;
  if (answers) return ANSWERING_LIKELY_MS[eagerness] * factor;
  if (unknownPace) return Math.max(usual, FIRST_LIKELY_MS[eagerness]);
  return interrupts ? INTERRUPTING_LIKELY_MS[eagerness] * factor : usual;
}

/** Endpointing delays of such a turn for a user with this pace. */
export function delaysOf(eagerness: Eagerness, pace: Pace, facts: TurnFacts = {}): EndpointingDelays {
  const factor = factorOf(pace, eagerness);
  const { open, unfinished } = ENDPOINTING_MS[eagerness];
  const complete = facts.fulfils ? FULFILLING_MS[eagerness] : ENDPOINTING_MS[eagerness].complete;
  const likely = Math.round(likelyMs(eagerness, factor, facts));
  const atOpen = Math.max(likely + DRAFT_AHEAD_MS, Math.round(open * factor));
  return {
    complete: Math.round(complete * factor),
    likely,
    open: atOpen,
    unfinished: Math.max(atOpen, Math.round(unfinished * factor)),
  };
}
