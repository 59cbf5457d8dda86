/**
 * Answers to what the agent has asked for: a whole one ends the turn sooner than anything else, and one that lacks a part is waited for,
 * whatever sign the recogniser put behind it. An answer to something else is judged as any other words (endpointing.ts).
 */
import type { TurnCompleteness } from './endpointing.js';
import { wordsOf } from './interruption.js';
import { LAST_WORDS } from './last-words.js';
import { wholeReply } from './whole-replies.js';

/** What somebody may be asked for; `choice`: yes or no, `count`: how many. */
export type AskedFor = 'choice' | 'count' | 'date' | 'number' | 'email' | 'name' | 'spelling';

/** What the agent's last words ask for. */
export interface Question {
  readonly isQuestion: boolean;
  readonly wants: readonly AskedFor[];
  /** How many figures a number has that it asks for; undefined: it does not say. */
  readonly digits?: number | undefined;
}

export const NO_QUESTION: Question = { isQuestion: false, wants: [] };

/** `whole`: nothing is missing; `short`: most likely so; `open`: more may follow, as of a spelling; `part`: more must. */
export type AnswerPart = 'whole' | 'short' | 'open' | 'part';

/** How complete a turn is that is so much of an answer. */
export const AS_TURN: Readonly<Record<AnswerPart, TurnCompleteness>> = {
  whole: 'complete',
  short: 'likely',
  open: 'open',
  part: 'unfinished',
};

/** Ends of hosts. */
const TOPS =
  'com|org|net|edu|gov|info|eu|io|app|dev|biz|de|at|ch|fr|es|it|uk|us|ie|nl|be|lu|pl|pt|se|no|dk|fi|cz|hu|ro|gr|ca|mx|ar|cl|pe|br|au|nz|jp|in|za';

/** Patterns of lower-case text. */
interface AnswerWords {
  /** A word that is one figure, or several. */
  readonly figure: RegExp;
  /** A text that ends with an address of mail, and one that has a sign of one. */
  readonly address: RegExp;
  readonly sign: RegExp;
}

/** `figures`: those said by themselves; `at` and `dot`: the signs of an address; all as alternatives of a pattern. */
function row(figures: string, at: string, dot: string): AnswerWords {
  const sign = `(?:^|\\s)(?:${at})(?=\\s|$)|@`;
  return {
    figure: new RegExp(`^(?:\\p{N}+|${figures})$`, 'u'),
    address: new RegExp(`(?:${sign}).*(?:\\.\\s?|\\s(?:${dot})\\s)(?:${TOPS})$`, 'u'),
    sign: new RegExp(`${sign}|\\s(?:${dot})(?=\\s|$)`, 'u'),
  };
}

const WORDS = {
  en: row('zero|oh|one|two|three|four|five|six|seven|eight|nine', 'at', 'dot|point'),
  de: row(
    'null|eins|ein|zwei|zwo|drei|vier|fünf|sechs|sieben|acht|neun',
    'at|ät|et|klammeraffe',
    'punkt|dot',
  ),
  es: row('cero|uno|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve', 'arroba|a roba', 'punto|dot'),
  fr: row('zéro|un|une|deux|trois|quatre|cinq|six|sept|huit|neuf', 'arobase|arrobase|arobas|at', 'point|dot'),
} as const;
type AnswerLanguage = keyof typeof WORDS;
const hasWords = (language: string): language is AnswerLanguage => Object.hasOwn(WORDS, language);

/** Without the signs behind it. */
const bareOf = (text: string): string => text.toLowerCase().replace(/[\p{P}\s]+$/u, '');

/** Most words of an answer that is a count ("Four of us."), or a date or time ("Next week on Thursday."). */
const MOST_COUNT_WORDS = 3;
const MOST_DATE_WORDS = 4;
/** Most words of an answer with an address: in a longer one "at" is a word like others. */
const MOST_ADDRESS_WORDS = 12;
/** Fewest letters that are spelled one by one. */
const LEAST_LETTERS = 2;

interface Answer {
  readonly text: string;
  readonly language: AnswerLanguage;
  readonly words: readonly string[];
  readonly digits: number | undefined;
}

const isFigure = (word: string, language: AnswerLanguage): boolean => WORDS[language].figure.test(word);

/** Whether the words are so few, and the last one calls for no other. */
const isShort = ({ words, language }: Answer, most: number): boolean =>
  words.length > 0 && words.length <= most && !LAST_WORDS[language].dangling.has(words.at(-1)!);

/** How many figures a text of figures has; undefined for any other, words before them aside: "It is 4 5". */
function figuresIn({ words, language }: Answer): number | undefined {
  const from = words.findIndex((word) => isFigure(word, language));
  const figures = from < 0 ? [] : words.slice(from);
  if (figures.length === 0 || !figures.every((word) => isFigure(word, language))) return undefined;
  return figures.reduce((sum, word) => sum + (/\p{N}/u.test(word) ? word.length : 1), 0);
}

function numberPart(answer: Answer): AnswerPart | undefined {
  const figures = figuresIn(answer);
  if (figures === undefined || answer.digits === undefined || figures > answer.digits) return undefined;
  return figures === answer.digits ? 'whole' : 'part';
}

function countPart(answer: Answer): AnswerPart | undefined {
  const { words, language } = answer;
  const isCount = isShort(answer, MOST_COUNT_WORDS) && words.some((word) => isFigure(word, language));
  return isCount ? 'whole' : undefined;
}

const datePart = (answer: Answer): AnswerPart | undefined =>
  isShort(answer, MOST_DATE_WORDS) ? 'short' : undefined;

function emailPart({ text, language, words }: Answer): AnswerPart | undefined {
  if (words.length > MOST_ADDRESS_WORDS) return undefined;
  const { address, sign } = WORDS[language];
  if (address.test(bareOf(text))) return 'whole';
  return sign.test(bareOf(text)) ? 'part' : undefined;
}

/** Letters at the end that are said one by one: whole behind the word that they spell, "Kaye, K, A, Y, E". */
function spelledPart({ text }: Answer): AnswerPart | undefined {
  const parts = bareOf(text)
    .split(/[^\p{L}\p{N}]+/u)
    .filter((part) => part !== '');
  const from = parts.findLastIndex((part) => part.length > 1) + 1;
  const letters = parts.slice(from);
  if (letters.length < LEAST_LETTERS) return undefined;
  return parts[from - 1] === letters.join('') ? 'whole' : 'open';
}

const choicePart = ({ text, language }: Answer): AnswerPart | undefined =>
  wholeReply(text, language) === 'answer' ? 'whole' : undefined;

/** In the order in which they count, where several things were asked for. */
const PARTS: readonly (readonly [AskedFor, (answer: Answer) => AnswerPart | undefined])[] = [
  ['email', emailPart],
  ['number', numberPart],
  ['spelling', spelledPart],
  ['name', spelledPart],
  ['count', countPart],
  ['choice', choicePart],
  ['date', datePart],
];

/** How much of the answer to `question` that text is; undefined if it cannot tell, and in languages without words for it. */
export function answerPart(text: string, language: string, question: Question): AnswerPart | undefined {
  if (!hasWords(language) || question.wants.length === 0) return undefined;
  const answer = { text, language, words: wordsOf(text), digits: question.digits };
  for (const [kind, partOf] of PARTS) {
    const part = question.wants.includes(kind) ? partOf(answer) : undefined;
    if (part) return part;
  }
  return undefined;
}
