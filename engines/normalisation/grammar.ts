/** What writing numbers, amounts, dates and times out takes to know of a language. */
export interface Grammar {
  /** A number in digits with a full stop before decimals. */
  cardinal(digits: string): string;
  readonly decimalMark: '.' | ',';
  /** Names of a currency and its hundredth: one, several. */
  readonly currencies: Readonly<Record<string, readonly [string, string, string?, string?]>>;
  /** Between a currency and its hundredths. */
  readonly and: string;
  /** What stands behind an amount and is said before its currency. */
  readonly magnitudes: Readonly<Record<string, string>>;
  /** In dates of three numbers, which comes first. */
  readonly order: 'month' | 'day';
  /** Separates the numbers of a date. */
  readonly dateMark: RegExp;
  /** `before`: the word before it. */
  date(day: number, month: number, year: number, before: string): string;
  /** `next`: the word behind it. */
  time(hour: number, minute: number, next: string): Spoken;
  /** `10-12`, `1998-99` */
  range(from: string, to: string): string;
  /** Written with a small letter first, with their full stops. */
  readonly abbreviations: Readonly<Record<string, string>>;
  /** Only before a number. */
  readonly beforeNumbers: Readonly<Record<string, string>>;
  /** Only behind a number: one, several. */
  readonly units: Readonly<Record<string, readonly [string, string]>>;
  /** What this language alone has, of one word. */
  other?(word: string): string | undefined;
}

/** How a word is said, and the one behind it where that changes as well. */
export interface Spoken {
  readonly said: string;
  readonly next?: string;
}

/** The entry for a word of a text; undefined where there is none. "constructor" and its like are words as any other. */
export const entryFor = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
