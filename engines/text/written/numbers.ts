/**
 * Numbers as people write them: three and more figures that are said one by one ("five five five, two six seven" is 555 267), and
 * whole numbers from ten on ("twenty five" is 25). Smaller ones stay words, and so does what may be a time or a year, unless somebody
 * was asked for a number.
 */
import type { Grammar } from '../../normalisation/grammar.js';
import { ENGLISH } from '../../normalisation/english.js';
import { FRENCH, GERMAN, SPANISH } from '../../normalisation/german-spanish-french.js';
import { byLanguage, type WrittenLanguage } from './languages.js';
import { Phrases, plain, type Rewritten, rewritten, type Word } from './words.js';

const GRAMMARS: Readonly<Record<WrittenLanguage, Grammar>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
};

/** The largest number that is known in words. */
const MOST = 999;
/** The smallest that is written in figures by itself. */
const LEAST = 10;

interface NumberWords {
  /** Figures said by themselves, and words that stand for one in a number. */
  readonly digits: Readonly<Record<string, string>>;
  /** Words that sound like a figure: one only between others, where a number was asked for. */
  readonly alike: Readonly<Record<string, string>>;
  /** Before a figure that is said once for two or three. */
  readonly times: Readonly<Record<string, number>>;
  /** Behind a number: "twenty first", "ten o'clock" are written otherwise. */
  readonly not: RegExp;
}

const OTHERS: Readonly<Record<WrittenLanguage, NumberWords>> = {
  en: {
    digits: { oh: '0', o: '0', nought: '0', naught: '0', niner: '9' },
    alike: { to: '2', too: '2', for: '4', fore: '4', won: '1', ate: '8', tree: '3', sex: '6' },
    times: { double: 2, triple: 3 },
    not: /^(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|o'clock|oclock|something|odd)$/u,
  },
  de: {
    digits: { zwo: '2', ein: '1' },
    alike: {},
    times: { doppel: 2 },
    not: /^(?:uhr)$/u,
  },
  es: {
    digits: { un: '1', una: '1' },
    alike: {},
    times: { doble: 2, triple: 3 },
    not: /^(?:y)$/u,
  },
  fr: {
    digits: { une: '1' },
    alike: {},
    times: { double: 2, triple: 3 },
    not: /^(?:heures?)$/u,
  },
};

/** A number as it is spoken, without hyphens; in English also without "and". */
function spokenForms(said: string, language: WrittenLanguage): readonly string[] {
  const bare = said.toLowerCase();
  const spaced = bare.replaceAll('-', ' ');
  const forms = [bare, spaced, spaced.replaceAll(' and ', ' ')];
  if (language === 'en')
    forms.push(spaced.replace(/ hundred (?!and )/u, ' hundred and '), bare.replaceAll(' ', '-'));
  return [...new Set(forms)];
}

interface Numbers {
  readonly digits: ReadonlyMap<string, string>;
  readonly cardinals: Phrases<number>;
}

const numbersOf = byLanguage((language): Numbers => {
  const { cardinal } = GRAMMARS[language];
  const said = Array.from({ length: MOST + 1 }, (_, number) => cardinal(String(number)));
  const entries = said.flatMap((each, number) =>
    spokenForms(each, language).map((form) => [form, number] as const),
  );
  const digits = new Map(said.slice(0, LEAST).map((each, digit) => [each.toLowerCase(), String(digit)]));
  for (const [word, digit] of Object.entries(OTHERS[language].digits)) digits.set(word, digit);
  return { digits, cardinals: new Phrases(entries) };
});

/** The figure for which a word of several letters stands; undefined for none. */
export const digitOfWord = (word: string, language: WrittenLanguage): string | undefined =>
  word.length > 1 ? numbersOf(language).digits.get(word) : undefined;

/** A number that was said in one go. */
interface Atom {
  readonly figures: string;
  readonly count: number;
  /** Whether it is a figure, or several, said one by one. */
  readonly isDigit: boolean;
}

const FIGURES = /^\p{Nd}+$/u;

class NumberReader {
  readonly #numbers: Numbers;
  readonly #others: NumberWords;

  constructor(
    private readonly words: readonly Word[],
    language: WrittenLanguage,
    private readonly isAskedFor: boolean,
  ) {
    this.#numbers = numbersOf(language);
    this.#others = OTHERS[language];
  }

  at(at: number): Rewritten | undefined {
    const run = this.#isInterjection(at) ? [] : this.#runFrom(at);
    const [first] = run;
    if (!first) return undefined;
    const count = run.reduce((sum, atom) => sum + atom.count, 0);
    const isDictated =
      run.every(({ isDigit }) => isDigit) && this.#figuresIn(run) >= (this.isAskedFor ? 2 : 3);
    if (isDictated || (this.isAskedFor && run.length > 1)) return { count, text: this.#grouped(at, run) };
    if (run.length > 1 || first.isDigit || this.#isOfMore(at + count)) return { count, text: undefined };
    return { count, text: first.figures };
  }

  /** "Oh, five of them": the first figure of a number is not followed by a comma. */
  #isInterjection(at: number): boolean {
    const word = this.words[at];
    return word !== undefined && plain(word) === 'oh' && word.after !== '';
  }

  /** Numbers right behind each other. */
  #runFrom(from: number): readonly Atom[] {
    const run: Atom[] = [];
    let at = from;
    for (;;) {
      const atom = this.#atomAt(at) ?? this.#alikeAt(at, run);
      if (!atom) return run;
      run.push(atom);
      at += atom.count;
      const { after } = this.words[at - 1]!;
      if (after !== '' && !(/^[,-]$/u.test(after) && atom.isDigit)) return run;
    }
  }

  #atomAt(at: number): Atom | undefined {
    const word = this.words[at];
    if (!word || word.before !== '') return undefined;
    const times = this.#others.times[plain(word)];
    const repeated = times === undefined || word.after !== '' ? undefined : this.#digitAt(at + 1);
    if (times !== undefined && repeated !== undefined)
      return { figures: repeated.repeat(times), count: 2, isDigit: true };
    const digit = this.#digitAt(at);
    const said = this.#numbers.cardinals.at(this.words, at);
    if (said && said.count > 1) return { figures: String(said.meaning), count: said.count, isDigit: false };
    if (digit !== undefined) return { figures: digit, count: 1, isDigit: true };
    return said && { figures: String(said.meaning), count: 1, isDigit: said.meaning < LEAST };
  }

  #digitAt(at: number): string | undefined {
    const word = this.words[at];
    if (!word) return undefined;
    return FIGURES.test(word.core) ? word.core : this.#numbers.digits.get(plain(word));
  }

  /** A word between two figures that sounds like one. */
  #alikeAt(at: number, run: readonly Atom[]): Atom | undefined {
    const word = this.words[at];
    const digit = word && this.#others.alike[plain(word)];
    const isAmong = run.at(-1)?.isDigit === true && this.#digitAt(at + 1) !== undefined;
    return this.isAskedFor && isAmong && digit !== undefined
      ? { figures: digit, count: 1, isDigit: true }
      : undefined;
  }

  /** Whether it is only the beginning of what is meant: "twenty first". */
  #isOfMore(at: number): boolean {
    const next = this.words[at];
    return next !== undefined && this.words[at - 1]?.after === '' && this.#others.not.test(plain(next));
  }

  #figuresIn(run: readonly Atom[]): number {
    const isSpoken = run.some(({ count, figures }) => count > 1 || figures.length === 1);
    return isSpoken ? run.reduce((sum, { figures }) => sum + figures.length, 0) : 0;
  }

  /** One after the other, with a space where a comma was heard. */
  #grouped(from: number, run: readonly Atom[]): string {
    let [at, text] = [from, ''];
    for (const { figures, count } of run) {
      text += figures;
      at += count;
      if (this.words[at - 1]!.after !== '' && at < from + run.reduce((sum, atom) => sum + atom.count, 0))
        text += ' ';
    }
    return text;
  }
}

/** `isAskedFor`: somebody was asked for a number. */
export function withNumbers(
  words: readonly Word[],
  language: WrittenLanguage,
  isAskedFor: boolean,
): readonly Word[] {
  const reader = new NumberReader(words, language, isAskedFor);
  return rewritten(words, (at) => reader.at(at));
}
