/**
 * Names and codes that were spelled, as people write them: "j, o, h, n" is John where a name was asked for, "A B one two" is AB12. A
 * letter is one that was written as such, its name ("jay"), a word that sounds like it (only among letters, where a spelling was asked
 * for), "T as in Tom", or a word of a spelling alphabet.
 */
import { byLanguage, type WrittenLanguage } from './languages.js';
import { type Letters, lettersOf } from './letters.js';
import { digitOfWord } from './numbers.js';
import { plain, type Rewritten, rewritten, type Word } from './words.js';

/** How sure it is that a letter was meant. */
type Certainty = 'written' | 'named' | 'alike';

interface Spelled {
  readonly letters: string;
  readonly count: number;
  readonly certainty: Certainty;
  /** A sign parts it from what follows, as between letters that are spelled. */
  readonly isParted: boolean;
}

/** Fewest letters and figures of a spelling. */
const LEAST = 3;
const SENTENCE_END = /[?!:;]/u;
const LETTER = /^\p{L}$/u;
/** "K-A-T-H", "K.A.T.H": letters that the recogniser has joined itself. */
const JOINED = /^\p{L}(?:[-.–]\p{L}){2,}$/u;
/** "ffm": letters in a row that are no word, as nobody could say it. */
const UNSPEAKABLE = /^[^\P{L}aeiouyäöüáéíóúàâêèîôûœ]{2,4}$/u;
const FIGURES = /^\p{Nd}{1,4}$/u;

/** Words of one letter, of which a few in a row are no spelling. */
const WORDS_OF_ONE: Readonly<Record<WrittenLanguage, string>> = { en: 'ai', de: '', es: 'aeouy', fr: 'ayo' };
const wordsOfOne = byLanguage((language) => new Set(WORDS_OF_ONE[language]));

class SpellingReader {
  readonly #letters: Letters;

  constructor(
    private readonly words: readonly Word[],
    private readonly language: WrittenLanguage,
    private readonly isAskedFor: boolean,
    private readonly isName: boolean,
  ) {
    this.#letters = lettersOf(language);
  }

  at(at: number): Rewritten | undefined {
    const run = this.#trimmed(this.#runFrom(at));
    if (!this.#isSpelling(run)) return undefined;
    const text = run.map(({ letters }) => letters).join('');
    return { count: run.reduce((sum, { count }) => sum + count, 0), text: this.#cased(text) };
  }

  #runFrom(from: number): readonly Spelled[] {
    const run: Spelled[] = [];
    for (let at = from; ;) {
      const spelled = this.#spelledAt(at);
      if (!spelled) return run;
      run.push(spelled);
      at += spelled.count;
      const { after, core } = this.words[at - 1]!;
      // A full stop ends a sentence, unless it stands behind a letter.
      if (SENTENCE_END.test(after) || (after.includes('.') && core.length > 1)) return run;
    }
  }

  /** Without words at its end that may be no letters: "you are K, A, T, E". Nothing is taken from its beginning: it begins elsewhere. */
  #trimmed(run: readonly Spelled[]): readonly Spelled[] {
    const [first] = run;
    if (first?.certainty === 'alike' && !first.isParted) return [];
    const last = run.findLastIndex(
      ({ certainty }, at) => certainty !== 'alike' || run[at - 1]?.isParted === true,
    );
    return run.slice(0, last + 1);
  }

  #isSpelling(run: readonly Spelled[]): boolean {
    const letters = run.map((spelled) => spelled.letters).join('');
    if (letters.length < LEAST || !/\p{L}/u.test(letters)) return false;
    if (run.every(({ certainty }) => certainty === 'written'))
      return this.isAskedFor || run.some((spelled) => !this.#isWord(spelled));
    const sure = run.filter((spelled) => spelled.certainty !== 'alike' && !this.#isWord(spelled));
    return this.isAskedFor && sure.length * 2 >= run.length;
  }

  /** A letter that is a word as well, and that nothing parts from what follows. */
  #isWord({ letters, isParted }: Spelled): boolean {
    return !isParted && wordsOfOne(this.language).has(letters.toLowerCase());
  }

  #spelledAt(at: number): Spelled | undefined {
    const word = this.words[at];
    if (!word || word.before !== '') return undefined;
    const capital = this.isAskedFor ? this.#letters.capital.at(this.words, at) : undefined;
    const skipped = capital?.count ?? 0;
    const one = this.#oneAt(at + skipped);
    return one && { ...one, count: one.count + skipped };
  }

  #oneAt(at: number): Spelled | undefined {
    return this.#namedDouble(at) ?? this.#doubledAt(at) ?? this.#clarifiedAt(at) ?? this.#letterAt(at);
  }

  /** "double u" is a letter of its own. */
  #namedDouble(at: number): Spelled | undefined {
    const [word, next] = [this.words[at], this.words[at + 1]];
    if (this.language !== 'en' || !word || !next || plain(word) !== 'double' || word.after !== '')
      return undefined;
    return /^(?:u|you)$/u.test(plain(next)) ? this.#spelled('w', at, 2, 'named') : undefined;
  }

  #doubledAt(at: number): Spelled | undefined {
    const double = this.#letters.double.at(this.words, at);
    const one = double && this.#letterAt(at + double.count);
    if (!double || one?.letters.length !== 1) return undefined;
    return { ...one, letters: one.letters.repeat(2), count: one.count + double.count };
  }

  /** "T as in Tom", "J for Juliet": the word must begin with the letter. */
  #clarifiedAt(at: number): Spelled | undefined {
    const letter = this.#letterAt(at);
    if (letter?.letters.length !== 1 || letter.certainty === 'alike') return undefined;
    const as = this.#letters.as.at(this.words, at + letter.count);
    const word = as && this.words[at + letter.count + as.count];
    if (!word || word.core.length < 2 || !plain(word).startsWith(letter.letters)) return undefined;
    return this.#spelled(letter.letters, at, letter.count + as.count + 1, 'written');
  }

  #letterAt(at: number): Spelled | undefined {
    const word = this.words[at];
    if (!word) return undefined;
    const said = plain(word);
    if (LETTER.test(word.core)) return this.#spelled(said, at, 1, 'written');
    if (JOINED.test(word.core)) return this.#spelled(said.replace(/\P{L}/gu, ''), at, 1, 'written');
    if (this.isAskedFor && this.#isRunTogether(said))
      return this.#spelled(said.replace(/\P{L}/gu, ''), at, 1, 'written');
    if (this.isAskedFor && FIGURES.test(word.core)) return this.#spelled(said, at, 1, 'written');
    return this.isAskedFor ? this.#wordAt(at, said) : undefined;
  }

  /** "imm-e-r", "ffm": some of the letters that the recogniser has written together. */
  #isRunTogether(said: string): boolean {
    const parts = said.split(/[-.–]/u);
    const single = parts.filter((part) => LETTER.test(part)).length;
    if (parts.length === 1) return UNSPEAKABLE.test(said);
    return single * 2 >= parts.length && parts.every((part) => /^\p{L}{1,3}$/u.test(part));
  }

  /** A word that stands for a letter. */
  #wordAt(at: number, said: string): Spelled | undefined {
    const name = this.#letters.names.at(this.words, at);
    if (name) return this.#spelled(name.meaning, at, name.count, 'named');
    if (this.#letters.alphabet.has(said)) return this.#spelled(said.slice(0, 1), at, 1, 'named');
    const digit = digitOfWord(said, this.language);
    if (digit !== undefined && said !== 'oh') return this.#spelled(digit, at, 1, 'named');
    const alike = this.#letters.words.at(this.words, at);
    return alike && this.#spelled(alike.meaning, at, alike.count, 'alike');
  }

  #spelled(letters: string, at: number, count: number, certainty: Certainty): Spelled {
    return { letters, count, certainty, isParted: this.words[at + count - 1]!.after !== '' };
  }

  /** A name has one capital; a code has no small letters. */
  #cased(text: string): string {
    if (!this.isName || /\p{N}/u.test(text)) return text.toUpperCase();
    return text.slice(0, 1).toUpperCase() + text.slice(1);
  }
}

export interface Spelling {
  /** Somebody was asked for a name, or how something is spelled. */
  readonly isAskedFor: boolean;
  /** What is spelled is a name. */
  readonly isName: boolean;
}

export function withSpelling(
  words: readonly Word[],
  language: WrittenLanguage,
  { isAskedFor, isName }: Spelling,
): readonly Word[] {
  const reader = new SpellingReader(words, language, isAskedFor, isName);
  return rewritten(words, (at) => reader.at(at));
}
