/**
 * Finds the ends of sentences and clauses in running text, for synthesis: abbreviations, decimals, initials,
 * ellipses and quotes are distinguished from full stops; scripts without spaces have their own marks.
 *
 * Invariants: every mark is examined once, with a bounded look back and ahead, so a pass is linear;
 * a break that the next characters could still change is `undecided` until the text has ended.
 */
import { entryFor } from '../normalisation/grammar.js';

export interface Break {
  /** Index after the mark and its closing quotes or brackets. */
  readonly end: number;
  readonly kind: 'sentence' | 'clause' | 'undecided';
}

const LOOK_BACK = 24;
const LOOK_AHEAD = 48;

const SENTENCE_MARK = /[.!?…。！？｡।؟۔]/u;
const UNSPACED_MARK = /[。！？｡]/u;
const CLAUSE_MARK = /[,;:،؛]/u;
const UNSPACED_CLAUSE_MARK = /[、，；：—]/u;
const CLOSER = /["'”’»)\]}」』）】〉》*_]/u;
const SPACE = /\s/u;
const LOWER = /\p{Ll}/u;
const UPPER = /\p{Lu}/u;

/** Abbreviations that never end a sentence, because something always follows: English, then German, then Spanish and French. */
const BEFORE_A_NAME = new Set(
  [
    'mr mrs ms mx dr prof rev hon st gen col capt lt sgt gov sen rep pres mt ft messrs mme mlle sr sra vs v viz cf eg ie e.g i.e no nos fig figs vol pp ca approx',
    'z.b d.h bzw usw hrn dipl dipl.-ing ing mio mrd tsd evtl ggf inkl exkl zzgl bspw vgl sog bzgl geb',
    'srta dra profa avda av sto sta gral lic arq p.ej mgr',
  ].flatMap((words) => words.split(' ')),
);
/** The same where capitals matter: `mm` is a unit, `hr` an hour. */
const TITLES = new Set(['MM', 'Hr', 'Fr', 'EE']);
/** Abbreviations that end a sentence only if a capital follows. */
const BEFORE_ANYTHING = new Set(
  'etc inc ltd co corp jr dept est ave blvd rd a.m p.m u.s u.k u.s.a ph.d b.a m.a jan feb mar apr jun jul aug sep sept oct nov dec okt dez janv févr juil déc ud uds vd vds uu ej h a ä'.split(
    ' ',
  ),
);
/** Abbreviations that end no sentence before a number; others of these are words, as `art` is. */
const BEFORE_A_NUMBER = /^(?:nr|abs|art|tel|tél|abt|bd|p|núm|págs?|chap|.*str)$/u;
/** The first letters of abbreviations with a space in them, as in `z. B.`, and those that follow. */
const SPACED: Readonly<Record<string, RegExp>> = { z: /[BT]/u, d: /h/u, u: /[aä]/u, p: /e/u };

/** A number before a full stop that may make it an ordinal, with the words before it: `am 3.`, `24.12.` */
const ORDINAL = /(?:^|\s)\d{1,2}(?:\.\d{1,2})?$/u;
/** The same after a German article or preposition. No sentence ends so. */
const ORDINAL_AFTER_ARTICLE =
  /(?:^|[\s("„])(?:der|die|das|dem|den|(?<!\bI\s)am|im|zum|zur|vom|beim|diese[mnrs]?|jede[mnrs]?)\s\d{1,2}(?:\.\d{1,2})?$/iu;
const GERMAN_MONTHS =
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember Jänner'.split(' ');

const at = (text: string, index: number): string => text[index] ?? '';

function skip(text: string, from: number, pattern: RegExp): number {
  const until = Math.min(text.length, from + LOOK_AHEAD);
  let index = from;
  while (index < until && pattern.test(at(text, index))) index++;
  return index;
}

/** The word before the mark at `index`, and whether it begins its line. */
function wordBefore(text: string, index: number): { word: string; beginsLine: boolean } {
  const before = text.slice(Math.max(0, index - LOOK_BACK), index);
  const word = /[^\s"'“‘([]*$/u.exec(before)?.[0] ?? '';
  const beginsLine = /(^|\n)\s*$/u.test(before.slice(0, before.length - word.length));
  return { word, beginsLine };
}

const isInitial = (word: string): boolean => /^(\p{Lu}\.-?)*\p{Lu}$/u.test(word) && word !== 'I';
const isListNumber = (word: string, beginsLine: boolean): boolean => beginsLine && /^\d{1,3}$/u.test(word);

/**
 * Whether the full stop at `index` makes the number before it an ordinal, as in German and the languages of the north and east:
 * `am 3. Oktober`. Undecided while what follows may become the name of a month.
 */
function isOrdinal(text: string, index: number, follows: number, ended: boolean): boolean | 'undecided' {
  const before = text.slice(Math.max(0, index - LOOK_BACK), index);
  if (!ORDINAL.test(before)) return false;
  if (LOWER.test(at(text, follows)) || ORDINAL_AFTER_ARTICLE.test(before)) return true;
  const word = /^\p{L}*/u.exec(text.slice(follows, follows + LOOK_BACK))?.[0] ?? '';
  if (GERMAN_MONTHS.includes(word)) return true;
  const mayGoOn = !ended && follows + word.length === text.length;
  return mayGoOn && GERMAN_MONTHS.some((month) => month.startsWith(word)) ? 'undecided' : false;
}

/** Whether a lone full stop only marks an abbreviation. `next` is the character after the space. */
function shortens(text: string, index: number, next: string): boolean {
  const { word, beginsLine } = wordBefore(text, index);
  const lower = word.toLowerCase();
  if (BEFORE_A_NAME.has(lower) || TITLES.has(word) || isListNumber(word, beginsLine)) return true;
  if (BEFORE_A_NUMBER.test(lower) && /[\d+(]/u.test(next)) return true;
  if (entryFor(SPACED, word)?.test(next)) return true;
  // A capital by itself is an initial.
  if (BEFORE_ANYTHING.has(word.length === 1 ? word : lower)) return !UPPER.test(next);
  return isInitial(word);
}

/** The break at a lone full stop; `follows`: index of the next character after the space. */
function fullStop(text: string, index: number, follows: number, ended: boolean): Break | undefined {
  if (shortens(text, index, at(text, follows))) return undefined;
  const ordinal = isOrdinal(text, index, follows, ended);
  if (ordinal === true) return undefined;
  return { end: index + 1, kind: ordinal === 'undecided' ? ordinal : 'sentence' };
}

/** The break at the sentence mark at `index`; undefined if it ends no sentence. */
function sentenceBreak(text: string, index: number, ended: boolean): Break | undefined {
  const behindMarks = skip(text, index + 1, SENTENCE_MARK);
  const end = skip(text, behindMarks, CLOSER);
  const marks = text.slice(index, behindMarks);
  if (end >= text.length) return { end, kind: ended ? 'sentence' : 'undecided' };
  if (UNSPACED_MARK.test(marks)) return { end, kind: 'sentence' };
  if (!SPACE.test(at(text, end))) return undefined;
  const behindSpace = skip(text, end, SPACE);
  if (behindSpace >= text.length && !ended) return { end, kind: 'undecided' };
  const next = at(text, behindSpace);
  const trailsOff = marks.length > 1 || marks === '…' || end > behindMarks;
  if (trailsOff && LOWER.test(next)) return { end, kind: 'clause' };
  if (marks !== '.' || end !== behindMarks) return { end, kind: 'sentence' };
  return fullStop(text, index, behindSpace, ended);
}

/** A line end ends a sentence unless the next line continues in lower case. */
function lineBreak(text: string, index: number, ended: boolean): Break | undefined {
  const behindSpace = skip(text, index, SPACE);
  if (behindSpace >= text.length && !ended) return { end: index, kind: 'undecided' };
  const blankLine = text.slice(index + 1, behindSpace).includes('\n');
  const goesOn = LOWER.test(at(text, behindSpace)) && !blankLine;
  return goesOn ? undefined : { end: index, kind: 'sentence' };
}

function clauseBreak(text: string, index: number, ended: boolean): Break | undefined {
  const end = skip(text, index + 1, CLOSER);
  if (UNSPACED_CLAUSE_MARK.test(at(text, index))) return { end, kind: 'clause' };
  if (end >= text.length) return { end, kind: ended ? 'clause' : 'undecided' };
  return SPACE.test(at(text, end)) ? { end, kind: 'clause' } : undefined;
}

function breakAt(text: string, index: number, ended: boolean): Break | undefined {
  const character = at(text, index);
  if (character === '\n') return lineBreak(text, index, ended);
  if (SENTENCE_MARK.test(character)) return sentenceBreak(text, index, ended);
  if (CLAUSE_MARK.test(character) || UNSPACED_CLAUSE_MARK.test(character)) {
    return clauseBreak(text, index, ended);
  }
  return undefined;
}

/**
 * The breaks whose end lies in (start, until], in order. `ended`: no text will follow.
 * An `undecided` break is the last one.
 */
export function* breaksIn(text: string, start: number, until: number, ended: boolean): Generator<Break> {
  let index = start;
  while (index < until && index < text.length) {
    const found = breakAt(text, index, ended);
    if (found && found.end > until) return;
    if (found && found.end > start) yield found;
    if (found?.kind === 'undecided') return;
    // Skips a run of marks that ends nothing, except its last examined mark, since the run may be longer.
    index = Math.max(index + 1, found?.end ?? skip(text, index, SENTENCE_MARK) - 1);
  }
}
