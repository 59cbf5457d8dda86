/**
 * Cuts text into the pieces that are synthesised one after the other (docs/contract/decisions.md "Models and
 * voices"): `low` begins with a short first clause, so that audio starts early, and continues by sentences; `balanced`
 * goes by sentences; `normal` merges whole sentences. A piece never passes `chunkLength` characters.
 *
 * `pieceEnd` is pure over a buffer and says what is complete in it, so text that still arrives is cut the
 * same way as text that is there. All of it is linear in the length of the text.
 */
import type { Latency } from '../../contracts/ports/speech/tts.js';
import { breaksIn, type Break } from './text-breaks.js';

export interface PieceRule {
  readonly until: 'clause' | 'sentence' | 'chunk';
  /** Most characters of a piece. */
  readonly limit: number;
  /** Whether the text is complete. */
  readonly ended: boolean;
}

export interface CutRequest {
  readonly latency: Latency;
  readonly chunkLength: number;
}

/** Target length of the first clause, in characters: 40 of Latin script are two seconds of speech. */
const FIRST_CLAUSE = { least: 12, most: 40, slack: 14 };
/** The same for scripts whose characters are a syllable or more. */
const FIRST_CLAUSE_UNSPACED = { least: 4, most: 16, slack: 6 };
const UNSPACED_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/u;

/** Words before which a speaker may take a breath. */
const CONNECTIVES =
  /\s(?=(?:and|but|or|so|because|that|which|who|where|when|while|if|with|from|for|before|after|until|than|und|aber|oder|weil|dass|wenn|mit|y|o|pero|porque|que|con|et|ou|mais|parce|avec|pour)\s)/giu;

/** Words that belong to the next one: a clause never ends with them. */
const WEAK_ENDING =
  /(?:\s(?:the|an?|of|to|in|on|at|by|as|is|are|was|be|my|your|his|her|its|our|their|this|these|no|not|very|mr\.?|mrs\.?|ms\.?|dr\.?|st\.?))+$/iu;

const MOST_MARKS = 16;
const JOINS_TO_PREVIOUS = /\p{M}|\p{Emoji_Modifier}|\u200d/u;

/** The nearest index at or before `index` that does not split a character as people see it. */
function wholeCharacter(text: string, start: number, index: number): number {
  const splits = (at: number): boolean =>
    /[\udc00-\udfff]/.test(text[at] ?? '') ||
    JOINS_TO_PREVIOUS.test(String.fromCodePoint(text.codePointAt(at) ?? 0)) ||
    text[at - 1] === '\u200d';
  let at = index;
  while (at > start + 1 && index - at < MOST_MARKS && splits(at)) at--;
  if (!splits(at)) return at;
  return /[\udc00-\udfff]/.test(text[index] ?? '') && index > start + 1 ? index - 1 : index;
}

/** Index after the last word that fits. */
function wordCut(text: string, start: number, limit: number): number {
  const fitting = text.slice(start, start + limit + 1);
  const space = fitting.search(/\s\S*$/u);
  return space > 0 ? start + space : wholeCharacter(text, start, start + limit);
}

/** The best cut in a sentence that is too long: its last clause past the middle, else a word's end. */
function softCut(text: string, start: number, limit: number, breaks: readonly Break[]): number {
  const clause = breaks.findLast(({ end, kind }) => kind !== 'undecided' && end - start >= limit / 2);
  return clause?.end ?? wordCut(text, start, limit);
}

/** Index before the last connective that leaves a clause of suitable length. */
function breathCut(text: string, start: number, least: number, most: number): number | undefined {
  const span = text.slice(start, start + most + 8);
  const breaths = [...span.matchAll(CONNECTIVES)].map(({ index }) => index);
  const breath = breaths.findLast((index) => index >= least && index <= most);
  return breath === undefined ? undefined : start + breath;
}

/** Index after the last word with which a clause may end. */
function strongCut(text: string, start: number, least: number, most: number): number {
  const end = wordCut(text, start, most);
  const clause = text.slice(start, end).replace(WEAK_ENDING, '');
  return clause.length >= least ? start + clause.length : end;
}

/** Index of the first word: marks before it do not end a piece, which must have something to say. */
function firstWord(text: string, start: number, limit: number): number {
  const index = text.slice(start, start + limit).search(/[\p{L}\p{N}]/u);
  return index < 0 ? start + limit : start + index;
}

function clauseEnd(text: string, start: number, { limit, ended }: PieceRule): number | undefined {
  const aim = UNSPACED_SCRIPT.test(text.slice(start, start + 8)) ? FIRST_CLAUSE_UNSPACED : FIRST_CLAUSE;
  const most = Math.min(aim.most, limit);
  const longest = Math.min(most + aim.slack, limit);
  const word = firstWord(text, start, longest);
  for (const { end, kind } of breaksIn(text, start, start + longest, ended)) {
    if (kind === 'undecided') break;
    if (kind === 'sentence' && end > word) return end;
    if (end - start < aim.least) continue;
    if (end - start <= most) return end;
    return breathCut(text, start, aim.least, most) ?? end;
  }
  const rest = text.length - start;
  if (rest <= longest) return ended ? text.length : undefined;
  return breathCut(text, start, aim.least, most) ?? strongCut(text, start, aim.least, most);
}

function sentenceEnd(text: string, start: number, { limit, ended }: PieceRule): number | undefined {
  const word = firstWord(text, start, limit);
  const passed: Break[] = [];
  for (const found of breaksIn(text, start, start + limit, ended)) {
    if (found.kind === 'sentence' && found.end > word) return found.end;
    passed.push(found);
  }
  return withoutSentence(text, start, limit, ended, passed);
}

function chunkEnd(text: string, start: number, { limit, ended }: PieceRule): number | undefined {
  const rest = text.length - start;
  if (rest <= limit) return ended ? text.length : undefined;
  const breaks = [...breaksIn(text, start, start + limit, ended)];
  const sentence = breaks.findLast(({ kind }) => kind === 'sentence');
  return sentence?.end ?? withoutSentence(text, start, limit, ended, breaks);
}

function withoutSentence(
  text: string,
  start: number,
  limit: number,
  ended: boolean,
  breaks: readonly Break[],
): number | undefined {
  const rest = text.length - start;
  if (rest <= limit) return ended ? text.length : undefined;
  return softCut(text, start, limit, breaks);
}

const ENDS = { clause: clauseEnd, sentence: sentenceEnd, chunk: chunkEnd };

/**
 * The end of the piece that begins at `start`; undefined while the buffer does not hold a
 * complete one. `start` must not be at white space and must be inside the text.
 */
export const pieceEnd = (text: string, start: number, rule: PieceRule): number | undefined =>
  ENDS[rule.until](text, start, rule);

/** The first index from `start` that is not white space. */
export function pastSpace(text: string, start: number): number {
  const search = /\S/gu;
  search.lastIndex = start;
  return search.exec(text)?.index ?? text.length;
}

export const FIRST: Record<Latency, PieceRule['until']> = {
  low: 'clause',
  balanced: 'sentence',
  normal: 'chunk',
};
export const THEN: Record<Latency, PieceRule['until']> = {
  low: 'sentence',
  balanced: 'sentence',
  normal: 'chunk',
};

/** The pieces of a complete text, trimmed, none empty and none longer than `chunkLength`. */
export function* cutText(text: string, { latency, chunkLength }: CutRequest): Generator<string> {
  let until = FIRST[latency];
  let start = pastSpace(text, 0);
  while (start < text.length) {
    const end = pieceEnd(text, start, { until, limit: chunkLength, ended: true }) ?? text.length;
    yield text.slice(start, end).trimEnd();
    start = pastSpace(text, end);
    until = THEN[latency];
  }
}
