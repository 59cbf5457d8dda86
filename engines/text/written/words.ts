/** The words of a transcript, each with the signs around it, so that some of them can be written otherwise. */

export interface Word {
  /** Signs before it: an opening bracket or quote. */
  readonly before: string;
  readonly core: string;
  /** Signs behind it: a comma, a full stop. */
  readonly after: string;
}

/** Words that are written as one. */
export interface Rewritten {
  /** How many words it stands for, at least one. */
  readonly count: number;
  /** Undefined: they stay as they are. */
  readonly text: string | undefined;
}

const PARTS = /^([^\p{L}\p{N}]*)(.*?)([^\p{L}\p{N}]*)$/su;

function wordOf(written: string): Word {
  const [, before = '', core = '', after = ''] = PARTS.exec(written) ?? [];
  return core === '' ? { before: '', core: written, after: '' } : { before, core, after };
}

export const wordsOf = (text: string): readonly Word[] =>
  text
    .split(/\s+/u)
    .filter((written) => written !== '')
    .map(wordOf);

export const textOf = (words: readonly Word[]): string =>
  words.map(({ before, core, after }) => before + core + after).join(' ');

/** As it is found in tables. */
export const plain = ({ core }: Word): string => core.toLowerCase().replaceAll('’', "'");

/** So many words from there as one, with the signs around them. */
const joined = (words: readonly Word[], at: number, count: number, core: string): Word => ({
  before: words[at]!.before,
  core,
  after: words[at + count - 1]!.after,
});

/** The words with those written otherwise that `rewrite` finds at a place. */
export function rewritten(
  words: readonly Word[],
  rewrite: (at: number) => Rewritten | undefined,
): readonly Word[] {
  const all: Word[] = [];
  for (let at = 0; at < words.length;) {
    const found = rewrite(at);
    const count = found?.count ?? 1;
    all.push(
      ...(found?.text === undefined ? words.slice(at, at + count) : [joined(words, at, count, found.text)]),
    );
    at += count;
  }
  return all;
}

/** Phrases of one or more words, and what they stand for; the longest that is found counts. */
export class Phrases<Meaning> {
  readonly #meanings = new Map<string, Meaning>();
  #longest = 1;

  constructor(entries: Iterable<readonly [phrase: string, meaning: Meaning]>) {
    for (const [phrase, meaning] of entries) {
      this.#meanings.set(phrase, meaning);
      this.#longest = Math.max(this.#longest, phrase.split(' ').length);
    }
  }

  /** That begins with this word. Nothing but spaces stands between its words. */
  at(words: readonly Word[], at: number): { readonly meaning: Meaning; readonly count: number } | undefined {
    for (let count = Math.min(this.#longest, words.length - at); count > 0; count -= 1) {
      const meaning = this.#of(words, at, count);
      if (meaning !== undefined) return { meaning, count };
    }
    return undefined;
  }

  /** That ends before this word. */
  before(
    words: readonly Word[],
    at: number,
  ): { readonly meaning: Meaning; readonly count: number } | undefined {
    for (let count = Math.min(this.#longest, at); count > 0; count -= 1) {
      const meaning = this.#of(words, at - count, count);
      if (meaning !== undefined) return { meaning, count };
    }
    return undefined;
  }

  #of(words: readonly Word[], at: number, count: number): Meaning | undefined {
    const part = words.slice(at, at + count);
    if (part.slice(0, -1).some(({ after }) => after !== '')) return undefined;
    return this.#meanings.get(part.map(plain).join(' '));
  }
}

/** `list`: alternatives, with `|` between them. */
export const alternatives = (list: string): readonly string[] => list.split('|');
