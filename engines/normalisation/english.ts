/** English, as it is said in the United States. */
import { toCardinal, toOrdinal } from 'n2words/en-US';
import type { Grammar } from './grammar.js';

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** Without hyphens, which voices read badly. */
const cardinal = (digits: string): string => toCardinal(digits).replaceAll('-', ' ');
const ordinal = (number: number): string => toOrdinal(number).replaceAll('-', ' ');

/** The last two digits of a year or the minutes of an hour. */
const pair = (number: number): string =>
  number < 10 ? `oh ${cardinal(String(number))}` : cardinal(String(number));

function year(number: number): string {
  const [century, rest] = [Math.floor(number / 100), number % 100];
  if (number < 1100 || number > 2099 || (number >= 2000 && number < 2010)) return cardinal(String(number));
  return `${cardinal(String(century))} ${rest === 0 ? 'hundred' : pair(rest)}`;
}

function clock(hour: number, minute: number, half: string): string {
  if (minute > 0) return `${cardinal(String(hour))} ${pair(minute)}`;
  const whole = hour > 12 ? ' hundred' : " o'clock";
  return cardinal(String(hour)) + (half === '' ? whole : '');
}

/** The full stop of `p.m.` is part of it, that of `PM.` ends the sentence. */
const HALF = /^([ap])(?:\.m\.?|m)(?=$|[.,;:!?])/iu;
const TIME = /^(\d{1,2})(?::(\d\d))?([ap])\.?m\.?$/iu;
const DECADE = /^(\d\d)(\d)0['’]?s$/u;
const VERSION = /^v?(\d+(?:\.\d+){2,})$/u;
const ADDRESS = /^(?:https?:\/\/)?([\w.+-]+@)?((?:[\w-]+\.)+[a-z]{2,})((?:\/[\w./-]*)?)$/iu;
const TOP = /\.(?:com|org|net|edu|gov|io|ai|app|dev|info|de|fr|es|uk|us|eu)$/iu;

const plural = (said: string): string => (said.endsWith('y') ? `${said.slice(0, -1)}ies` : `${said}s`);

function decade(word: string): string | undefined {
  const [, century = '', tens] = DECADE.exec(word) ?? [];
  if (tens === undefined) return undefined;
  if (tens === '0') return `${cardinal(century)} hundreds`;
  return `${cardinal(century)} ${plural(cardinal(`${tens}0`))}`;
}

const SIGNS: Readonly<Record<string, string>> = { '.': ' dot ', '@': ' at ', '/': ' slash ', '-': ' dash ', _: ' underscore ', '+': ' plus ' }; // oxfmt-ignore

function address(word: string): string | undefined {
  const [, user, host = '', path = ''] = ADDRESS.exec(word) ?? [];
  if (!user && !TOP.test(host) && !host.startsWith('www.')) return undefined;
  const whole = `${user ?? ''}${host.replace(/^www\./u, 'w w w.')}${path}`;
  return whole.replace(/[.@/_+-]/gu, (sign) => SIGNS[sign] ?? ' ').trim();
}

function other(word: string): string | undefined {
  const [, hour, minute = '0', half] = TIME.exec(word) ?? [];
  if (half !== undefined) return `${clock(Number(hour), Number(minute), half)} ${half.toUpperCase()} M`;
  const [, version] = VERSION.exec(word) ?? [];
  if (version !== undefined) return version.split('.').map(cardinal).join(' point ');
  return decade(word) ?? address(word);
}

export const ENGLISH: Grammar = {
  cardinal,
  decimalMark: '.',
  minus: 'minus',
  to: 'to',
  currencies: {
    $: ['dollar', 'dollars', 'cent', 'cents'],
    '€': ['euro', 'euros', 'cent', 'cents'],
    '£': ['pound', 'pounds', 'penny', 'pence'],
    '¥': ['yen', 'yen'],
    USD: ['US dollar', 'US dollars', 'cent', 'cents'],
    EUR: ['euro', 'euros', 'cent', 'cents'],
    GBP: ['pound', 'pounds', 'penny', 'pence'],
  },
  and: 'and',
  magnitudes: { k: 'thousand', m: 'million', bn: 'billion', thousand: 'thousand', million: 'million', billion: 'billion', trillion: 'trillion' }, // oxfmt-ignore
  order: 'month',
  dateMark: /[/-]/u,
  date: (day, month, of) => `${MONTHS[month - 1] ?? ''} ${ordinal(day)}, ${year(of)}`,
  time(hour, minute, next) {
    const [, half = ''] = HALF.exec(next) ?? [];
    const said = clock(hour, minute, half);
    return half === '' ? { said } : { said, next: next.replace(HALF, `${half.toUpperCase()} M`) };
  },
  range: (from, to) => [from, to].map((each) => (/^(1[1-9]|20[1-9])\d/u.test(each) && each.length === 4 ? year(Number(each)) : cardinal(each))).join(' to '), // oxfmt-ignore
  abbreviations: {
    'e.g.': 'for example',
    'i.e.': 'that is',
    'etc.': 'et cetera',
    'approx.': 'approximately',
    'vs.': 'versus',
    'dept.': 'department',
    'prof.': 'professor',
    'dr.': 'doctor',
    'mt.': 'mount',
    'al.': 'al',
    ...Object.fromEntries(
      MONTHS.filter((name) => name !== 'May').map((name) => [`${name.slice(0, 3).toLowerCase()}.`, name]),
    ),
    'sept.': 'September',
  },
  beforeNumbers: { 'no.': 'number', 'nos.': 'numbers', 'p.': 'page', 'pp.': 'pages', 'fig.': 'figure', 'vol.': 'volume', 'ca.': 'about' }, // oxfmt-ignore
  units: {
    km: ['kilometer', 'kilometers'],
    cm: ['centimeter', 'centimeters'],
    mm: ['millimeter', 'millimeters'],
    kg: ['kilogram', 'kilograms'],
    mg: ['milligram', 'milligrams'],
    ft: ['foot', 'feet'],
    lb: ['pound', 'pounds'],
    lbs: ['pound', 'pounds'],
    oz: ['ounce', 'ounces'],
    mph: ['mile an hour', 'miles an hour'],
    'km/h': ['kilometer an hour', 'kilometers an hour'],
    kB: ['kilobyte', 'kilobytes'],
    MB: ['megabyte', 'megabytes'],
    GB: ['gigabyte', 'gigabytes'],
    TB: ['terabyte', 'terabytes'],
    '°C': ['degree Celsius', 'degrees Celsius'],
    '°F': ['degree Fahrenheit', 'degrees Fahrenheit'],
    x: ['times', 'times'],
  },
  other,
};
