/**
 * Finds the ends of sentences and clauses in running text, for synthesis: abbreviations, decimals, initials,
 * ellipses and quotes are distinguished from full stops; scripts without spaces have their own marks.
 *
 * Invariants: every mark is examined once, with a bounded look back and ahead, so a pass is linear;
 * a break that the next characters could still change is `undecided` until the text has ended.
 */
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

/** Abbreviations that never end a sentence, because something always follows. */
const BEFORE_A_NAME = new Set(
  'mr mrs ms mx dr prof rev hon st gen col capt lt sgt gov sen rep pres mt ft messrs mme mlle sra vs viz cf eg ie e.g i.e no nos fig figs vol pp ca approx z.b d.h bzw usw'.split(
    ' ',
  ),
);
/** Abbreviations that end a sentence only if a capital follows. */
const BEFORE_ANYTHING = new Set(
  'etc inc ltd co corp jr sr dept est ave blvd rd a.m p.m u.s u.k u.s.a ph.d b.a m.a jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
);

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

const isInitial = (word: string): boolean => /^(\p{Lu}\.)*\p{Lu}$/u.test(word) && word !== 'I';
const isListNumber = (word: string, beginsLine: boolean): boolean => beginsLine && /^\d{1,3}$/u.test(word);

/** Whether a lone full stop only marks an abbreviation. `next` is the character after the space. */
function shortens(text: string, index: number, next: string): boolean {
  const { word, beginsLine } = wordBefore(text, index);
  const lower = word.toLowerCase();
  if (BEFORE_A_NAME.has(lower) || isListNumber(word, beginsLine)) return true;
  if (BEFORE_ANYTHING.has(lower)) return !UPPER.test(next);
  return isInitial(word);
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
  if (marks === '.' && end === behindMarks && shortens(text, index, next)) return undefined;
  return { end, kind: 'sentence' };
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
