/** Rules of a language for writing out numbers, amounts, dates and times. */
export interface Grammar {
  /** A number in words; `digits` has a decimal point. */
  cardinal(digits: string): string;
  /** A whole number in words before the name of a currency: `un euro`, where a number alone is `uno`. Default: `cardinal`. */
  beforeName?(digits: string): string;
  readonly decimalMark: '.' | ',';
  /** Before a negative number. */
  readonly minus: string;
  /** Between the two ends of a range. */
  readonly to: string;
  /** Names of a currency and its hundredth: one, several. */
  readonly currencies: Readonly<Record<string, readonly [string, string, string?, string?]>>;
  /** Between a currency and its hundredths. */
  readonly and: string;
  /** Words such as million, written after an amount and spoken before its currency. */
  readonly magnitudes: Readonly<Record<string, string>>;
  /** First number of dates of three numbers. */
  readonly order: 'month' | 'day';
  /** Separates the numbers of a date. */
  readonly dateMark: RegExp;
  /** `before`: the word before it. */
  date(day: number, month: number, year: number, before: string): string;
  /** `next`: the word after it. */
  time(hour: number, minute: number, next: string): SpokenForm;
  /** `10-12`, `1998-99` */
  range(from: string, to: string): string;
  /** Keys in lower case, with their full stops. */
  readonly abbreviations: Readonly<Record<string, string>>;
  /** Abbreviations of two words, in lower case, with the words that are said for them. */
  readonly pairs?: Readonly<Record<string, readonly [string, string]>>;
  /** Abbreviations that apply only before a number. */
  readonly beforeNumbers: Readonly<Record<string, string>>;
  /** Units that apply only after a number: one, several. */
  readonly units: Readonly<Record<string, readonly [string, string]>>;
  /** A rule for one word that only this language has. */
  other?(word: string): string | undefined;
  /** A word with the full stop of an ordinal, between its neighbours: `am 3. Oktober`, `am 24.12. um`. */
  ordinal?(whole: string, before: string, next: string): string | undefined;
}

/** The spoken form of a word, and of the next word if that changes too. */
export interface SpokenForm {
  readonly said: string;
  readonly next?: string;
}

/** The entry for a word of a text; undefined if there is none. Words such as "constructor" are safe. */
export const entryFor = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
