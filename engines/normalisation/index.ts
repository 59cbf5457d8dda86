/**
 * Text as it is spoken: amounts of money, dates, times, ranges, units and abbreviations in words, for engines that misread
 * them. Everything that they read well, above all plain numbers, is unchanged. Each word keeps its place, so that word times
 * refer to the text as sent.
 */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { ENGLISH } from './english.js';
import { FRENCH, GERMAN, SPANISH } from './german-spanish-french.js';
import { entryFor, type Grammar, type SpokenForm } from './grammar.js';

const GRAMMARS: Readonly<Record<LanguageCode, Grammar>> = {
  en: ENGLISH,
  de: GERMAN,
  es: SPANISH,
  fr: FRENCH,
};

/** A word between the marks around it. */
const AROUND = /^(["'“‘(¿¡[]*)(.*?)([,;:!?)"'”’\]]*|\.["'”’)\]]*)$/su;
const NUMBER = /^\d+(?:[.,]\d+)*$/u;
const DATE = /^(\d{1,4})([/.-])(\d{1,2})\2(\d{1,4})$/u;
const TIME = /^(\d{1,2})[:h](\d\d)$/u;
/** Numbers of one or two digits, or years; other numbers may belong to telephone numbers. */
const RANGE = /^(\d{1,2}|[12]\d{3})[-–](\d{1,2}|[12]\d{3})$/u;
/** Longer numbers are read digit by digit, or are not numbers. */
const MOST_DIGITS = 15;

/** A word, its neighbours, and its language. */
interface Place {
  readonly word: string;
  readonly before: string;
  readonly next: string;
  readonly grammar: Grammar;
}

type Rule = (place: Place) => SpokenForm | undefined;

const DIGITS = {
  '.': /^(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?$/u,
  ',': /^(\d{1,3}(?:\.\d{3})+|\d+)(?:,(\d+))?$/u,
} as const;

/** Digits with a decimal point; undefined for anything but a number in this language. */
function digitsOf(written: string, { decimalMark }: Grammar): string | undefined {
  const [, whole = '', decimals] = DIGITS[decimalMark].exec(written) ?? [];
  if (whole === '' || written.length > MOST_DIGITS) return undefined;
  return whole.replace(/[.,]/gu, '') + (decimals === undefined ? '' : `.${decimals}`);
}

/** The name of a unit, singular or plural by the number before it. */
const counted = (digits: string, [one, several]: readonly [string, string, ...unknown[]]): string =>
  Number(digits) === 1 ? one : several;

/** A whole amount and its hundredths: `["twelve dollars", "fifty cents"]`. */
function amount(digits: string, sign: string, grammar: Grammar): readonly [string, string?] | undefined {
  const names = entryFor(grammar.currencies, sign);
  if (!names) return undefined;
  const [whole = '', decimals = ''] = digits.split('.');
  const [, , cent, cents] = names;
  const words = (number: string): string => grammar.beforeName?.(number) ?? grammar.cardinal(number);
  if (decimals === '') return [`${words(whole)} ${counted(whole, names)}`];
  if (decimals.length !== 2 || cent === undefined || cents === undefined)
    return [`${grammar.cardinal(digits)} ${counted(digits, names)}`];
  const main = `${words(whole)} ${counted(whole, names)}`;
  const rest = Number(decimals);
  return rest === 0 ? [main] : [main, `${words(String(rest))} ${rest === 1 ? cent : cents}`];
}

const joined = ([main, rest]: readonly [string, string?], { and }: Grammar): string =>
  rest === undefined ? main : `${main} ${and} ${rest}`.replace(/\s+/gu, ' ');

/** As in the United States and Mexico: the comma groups, and the point is followed by cents. */
const DOLLARS = /^(?:\d{1,3}(?:,\d{3})+(?:\.\d\d)?|\d+\.\d\d)$/u;

/** Digits of an amount; one that `$` precedes may be written as in English in any language. */
const digitsAfter = (sign: string, written: string, grammar: Grammar): string | undefined =>
  sign === '$' && DOLLARS.test(written) ? written.replaceAll(',', '') : digitsOf(written, grammar);

const SIGN_FIRST = /^(\p{Sc}|[A-Z]{3})(\d[\d.,]*)$/u;
const SIGN_GREAT = /^(\p{Sc})(\d[\d.,]*)(\p{L}{1,2})$/u;
const SIGN_LAST = /^(\d[\d.,]*)(\p{Sc})$/u;

/** An amount before a word such as million, which is said before the currency. */
function great(digits: string, sign: string, { next, grammar }: Place): SpokenForm | undefined {
  const following = parted(next);
  const named = following.word.length > 2 && entryFor(grammar.magnitudes, following.word.toLowerCase());
  const [, several] = entryFor(grammar.currencies, sign) ?? [];
  if (!named || several === undefined) return undefined;
  return { said: grammar.cardinal(digits), next: `${named} ${several}${following.behind}` };
}

/** `$12.50`, `12,50€`, `$5 million` */
const money: Rule = (place) => {
  const { word, grammar } = place;
  const [, first, before = ''] = SIGN_FIRST.exec(word) ?? [];
  const [, behind = '', last] = SIGN_LAST.exec(word) ?? [];
  const sign = first ?? last ?? '';
  const digits = first === undefined ? digitsOf(behind, grammar) : digitsAfter(first, before, grammar);
  if (digits === undefined) return undefined;
  const said = amount(digits, sign, grammar);
  return great(digits, sign, place) ?? (said && { said: joined(said, grammar) });
};

/** `$1.2bn` */
const greatMoney: Rule = ({ word, grammar }) => {
  const [, sign = '', number = '', letters = ''] = SIGN_GREAT.exec(word) ?? [];
  const digits = digitsOf(number, grammar);
  const magnitude = entryFor(grammar.magnitudes, letters.toLowerCase());
  const [, several] = entryFor(grammar.currencies, sign) ?? [];
  if (digits === undefined || magnitude === undefined || several === undefined) return undefined;
  return { said: `${grammar.cardinal(digits)} ${magnitude} ${several}` };
};

/** `20 EUR`, `12,50 €` */
const moneyInTwo: Rule = ({ word, next, grammar }) => {
  const { word: sign, behind } = parted(next);
  const digits = digitsOf(word, grammar);
  const said = digits === undefined ? undefined : amount(digits, sign, grammar);
  if (!said || digits === undefined) return undefined;
  const [main, rest] = said;
  if (rest !== undefined) return { said: main, next: `${grammar.and} ${rest}`.trim() + behind };
  const name = counted(digits, entryFor(grammar.currencies, sign) ?? ['', '']);
  return { said: main.slice(0, -name.length - 1), next: name + behind };
};

const GROUP = /^\d{3}(?:,(\d\d))?$/u;

/** The end of a number whose thousands are grouped by spaces, `1 299,99 €`: engines read its digits together, only its cents are moved. */
const groupedMoney: Rule = ({ word, before, next, grammar }) => {
  const [, own = '', attached] = SIGN_LAST.exec(word) ?? [];
  const number = attached === undefined ? word : own;
  const following = parted(next);
  const names = entryFor(grammar.currencies, attached ?? following.word);
  const [, cents] = GROUP.exec(number) ?? [];
  if (grammar.decimalMark !== ',' || !names || !GROUP.test(number) || !/^[-−(]?\d{1,3}$/u.test(before))
    return undefined;
  const [, rest] =
    cents === undefined ? [] : (amount(`0.${cents}`, attached ?? following.word, grammar) ?? []);
  const name = rest === undefined ? names[1] : joined([names[1], rest], grammar);
  const whole = number.slice(0, 3);
  return attached === undefined
    ? { said: whole, next: name + following.behind }
    : { said: `${whole} ${name}` };
};

/** `USD 20`: the name moves after the number, as spoken. */
const nameFirst: Rule = ({ word, next, grammar }) => {
  const following = parted(next);
  const digits = digitsOf(following.word, grammar);
  const names = entryFor(grammar.currencies, word);
  if (digits === undefined || !names) return undefined;
  return { said: grammar.cardinal(digits), next: counted(digits, names) + following.behind };
};

const isDate = (day: number, month: number): boolean => day >= 1 && day <= 31 && month >= 1 && month <= 12;

const date: Rule = ({ word, before, grammar }) => {
  const [, first = '', mark = '', second = '', third = ''] = DATE.exec(word) ?? [];
  const numbers = [first, second, third].map(Number) as [number, number, number];
  if (first.length === 4 && mark === '-') {
    const [year, month, day] = numbers;
    return isDate(day, month) ? { said: grammar.date(day, month, year, before) } : undefined;
  }
  if (third.length !== 4 || !grammar.dateMark.test(mark)) return undefined;
  const [one, two, year] = numbers;
  const monthFirst = grammar.order === 'month' && one <= 12;
  const [day, month] = monthFirst ? [two, one] : [one, two];
  return isDate(day, month) ? { said: grammar.date(day, month, year, before) } : undefined;
};

const time: Rule = ({ word, next, grammar }) => {
  // As German writes it; alone it would be a decimal of another language.
  const dotted = grammar.decimalMark === ',' && /^uhr\b/iu.test(next) ? word.replace('.', ':') : word;
  const [, hour, minute] = TIME.exec(dotted) ?? [];
  if (Number(hour) > 24 || Number(minute) > 59 || hour === undefined) return undefined;
  return grammar.time(Number(hour), Number(minute), next);
};

const range: Rule = ({ word, grammar }) => {
  const [, from, to] = RANGE.exec(word) ?? [];
  if (from === undefined || to === undefined) return undefined;
  const rises = Number(to) > Number(from.slice(-to.length));
  return rises ? { said: grammar.range(from, to) } : undefined;
};

const UNIT = /^(\d[\d.,]*)(°?\p{L}{1,2})$/u;

/** `5 km`, `16GB` */
const unit: Rule = ({ word, next, grammar }) => {
  const [, number = '', own = ''] = UNIT.exec(word) ?? [];
  const attached = entryFor(grammar.units, own);
  const ownDigits = digitsOf(number, grammar);
  if (attached && ownDigits !== undefined) return { said: `${number} ${counted(ownDigits, attached)}` };
  const digits = digitsOf(word, grammar);
  const following = parted(next);
  const names = entryFor(grammar.units, following.word) ?? entryFor(grammar.units, `${following.word}.`);
  if (digits === undefined || !names || following.word === 'x') return undefined;
  return { said: word, next: counted(digits, names) + following.behind };
};

const own: Rule = ({ word, grammar }) => {
  const said = grammar.other?.(word);
  return said === undefined ? undefined : { said };
};

const NEGATIVE = /^[-−–](?=[\d\p{Sc}])/u;

/** `-$5.00`, `-12,50 €`: a sign before an amount, which some engines pass over. */
const negative: Rule = (place) => {
  const word = place.word.replace(NEGATIVE, '');
  const found = word === place.word ? undefined : firstOf(MONEY, { ...place, word, before: '' });
  return found && { ...found, said: `${place.grammar.minus} ${found.said}` };
};

/** The ends of a range; the first may be a plain number, which then has the sign or unit of the second. */
const SPAN = /^((\p{Sc})?\d[^-–]*)[-–](\p{Sc}?\d[^-–]*)$/u;
const PLAIN = /^\d{1,3}$/u;

/** `$5-$10`, `$10-20`, `9am-5pm`, `10:00–12:00 Uhr` */
const span: Rule = (place) => {
  const [, first = '', sign = '', second = ''] = SPAN.exec(place.word) ?? [];
  const { grammar } = place;
  const last = PLAIN.test(second) ? sign + second : second;
  const to = firstOf(ENDS, { ...place, word: last });
  const from = PLAIN.test(first)
    ? { said: grammar.cardinal(first) }
    : firstOf(ENDS, { ...place, word: first, next: '' });
  return from && to && { ...to, said: `${from.said} ${grammar.to} ${to.said}` };
};

const MONEY: readonly Rule[] = [groupedMoney, money, greatMoney, moneyInTwo];
/** What the ends of a range may be, besides plain numbers. */
const ENDS: readonly Rule[] = [money, greatMoney, time, own, unit];
const RULES: readonly Rule[] = [...MONEY, nameFirst, negative, date, time, range, span, own, unit];

/** Splits off the marks before and after a word. */
function parted(whole: string): { readonly ahead: string; readonly word: string; readonly behind: string } {
  const [, ahead = '', word = '', behind = ''] = AROUND.exec(whole) ?? [];
  return { ahead, word, behind };
}

/** `e.g.`, `No. 5`; the full stop belongs to it, but also ends the sentence if the word is the last. */
function abbreviation(whole: string, next: string, isLast: boolean, grammar: Grammar): string | undefined {
  const [, ahead = '', word = '', behind = ''] = /^(["'“‘(]*)(.*?)([,;:!?)"'”’]*)$/su.exec(whole) ?? [];
  const key = word.toLowerCase();
  const said = entryFor(grammar.abbreviations, key) ?? (NUMBER.test(parted(next).word) || RANGE.test(parted(next).word) ? entryFor(grammar.beforeNumbers, key) : undefined); // oxfmt-ignore
  if (said === undefined) return undefined;
  const spelled = /^\p{Lu}/u.test(word) ? said.charAt(0).toUpperCase() + said.slice(1) : said;
  return ahead + spelled + (isLast && behind === '' && word.endsWith('.') ? '.' : behind);
}

/** `z. B.`, with what is said for each of its words. */
function pairOf(
  whole: string,
  next: string,
  isLast: boolean,
  grammar: Grammar,
): [string, string] | undefined {
  const [, ahead = '', word = ''] = /^(["'“‘(]*)(.*)$/su.exec(whole) ?? [];
  const [, following = '', behind = ''] = /^(.*?)([,;:!?)"'”’]*)$/su.exec(next) ?? [];
  const found = entryFor(grammar.pairs ?? {}, `${word} ${following}`.toLowerCase());
  if (!found) return undefined;
  const [first, second] = found;
  const spelled = /^\p{Lu}/u.test(word) ? first.charAt(0).toUpperCase() + first.slice(1) : first;
  return [ahead + spelled, second + (isLast && behind === '' ? '.' : behind)];
}

const WRITTEN = /[\d.@°]|\p{Sc}|^(?:Mme|Mlle|Dr)$/u;

/** What is said for an abbreviation or an ordinal, and for the next word if that is part of it. */
function shortForm(words: readonly string[], at: number, grammar: Grammar): readonly string[] | undefined {
  const [before = '', whole = '', next = ''] = [words[at - 1], words[at], words[at + 1]];
  const pair = pairOf(whole, next, at + 2 === words.length, grammar);
  if (pair) return pair;
  const short =
    grammar.ordinal?.(whole, before, next) ?? abbreviation(whole, next, at === words.length - 1, grammar);
  return short === undefined ? undefined : [short];
}

/** The spoken form of each word, in the same order; unchanged words stay as they are. */
export function spokenForms(words: readonly string[], language: LanguageCode): readonly string[] {
  const grammar = entryFor(GRAMMARS, language);
  if (!grammar) return words;
  const said = [...words];
  for (const [at, whole] of words.entries()) {
    if (said[at] !== whole || !(WRITTEN.test(whole) || entryFor(grammar.currencies, whole))) continue;
    const next = words[at + 1] ?? '';
    const short = shortForm(words, at, grammar);
    if (short) {
      said.splice(at, short.length, ...short);
      continue;
    }
    const { ahead, word, behind } = parted(whole);
    const place = { word, before: words[at - 1] ?? '', next: behind === '' ? next : '', grammar };
    const found = firstOf(RULES, place);
    if (!found) continue;
    said[at] = ahead + found.said + behind;
    if (found.next !== undefined) said[at + 1] = found.next;
  }
  return said;
}

function firstOf(rules: readonly Rule[], place: Place): SpokenForm | undefined {
  for (const rule of rules) {
    const found = rule(place);
    if (found) return found;
  }
  return undefined;
}

/** The text with its words in their spoken forms. */
export function spokenText(text: string, language: LanguageCode): string {
  const parts = text.split(/(\s+)/u);
  const said = spokenForms(
    parts.filter((_, at) => at % 2 === 0),
    language,
  );
  return parts.map((part, at) => (at % 2 === 0 ? said[at / 2] : part)).join('');
}
