/** German, Spanish and French: a decimal comma, and dates that begin with the day. German minutes follow the word "Uhr" after the time. */
import { toCardinal as german, toOrdinal as germanOrdinal } from 'n2words/de-DE';
import { toCardinal as spanish } from 'n2words/es-ES';
import { toCardinal as french } from 'n2words/fr-FR';
import type { Grammar, SpokenForm } from './grammar.js';

const words = (list: string): readonly string[] => list.split(' ');

const SHARED = { decimalMark: ',', order: 'day', magnitudes: {} } as const;

const GERMAN_MONTHS = words(
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
);
const DATIVE = /^(?:am|vom|zum|zur|im|beim|dem|den|ab|seit|bis|und|oder)$/iu;
const ARTICLE = /^(?:der|die|das)$/iu;
/** A day, or a day and a month, with its full stops. */
const DAY = /^(\d{1,2})\.(?:(\d{1,2})\.)?([,;:!?)]*)$/u;

/** An ordinal with the ending that the word before it asks for: `der dritte`, `am dritten`, `dritter`. */
function germanOrdinalAfter(before: string, number: number): string {
  if (ARTICLE.test(before)) return germanOrdinal(number);
  return `${germanOrdinal(number)}${DATIVE.test(before) ? 'n' : 'r'}`;
}

/** Whether the word that follows an ordinal shows that it is one: a month, or after an article any word. */
const isCounted = (leads: boolean, next: string): boolean =>
  leads ? /^\p{L}/u.test(next) : GERMAN_MONTHS.includes(next.replace(/\P{L}+$/u, ''));

/** `am 3. Oktober`, `im 2. Stock`, `am 24.12. um acht`. Without such neighbours a full stop may end the sentence. */
function germanDay(whole: string, before: string, next: string): string | undefined {
  const [, day = '', month, behind = ''] = DAY.exec(whole) ?? [];
  if (Number(day) < 1) return undefined;
  const leads = DATIVE.test(before) || ARTICLE.test(before);
  const said = germanOrdinalAfter(before, Number(day));
  if (month === undefined) return behind === '' && isCounted(leads, next) ? said : undefined;
  const name = GERMAN_MONTHS[Number(month) - 1];
  if (!leads || name === undefined || Number(day) > 31) return undefined;
  return `${said} ${name}${next === '' ? behind || '.' : behind}`;
}

function germanYear(year: number): string {
  if (year < 1100 || year > 1999) return german(year);
  const rest = year % 100;
  return `${german(Math.floor(year / 100))}hundert${rest === 0 ? '' : german(rest)}`;
}

export const GERMAN: Grammar = {
  ...SHARED,
  cardinal: german,
  beforeName: (digits) => german(digits).replace(/eins$/u, 'ein'),
  minus: 'minus',
  to: 'bis',
  currencies: {
    '€': ['Euro', 'Euro', 'Cent', 'Cent'],
    $: ['Dollar', 'Dollar', 'Cent', 'Cent'],
    '£': ['Pfund', 'Pfund', 'Pence', 'Pence'],
    EUR: ['Euro', 'Euro', 'Cent', 'Cent'],
  },
  and: '',
  dateMark: /\./u,
  date: (day, month, year, before) =>
    `${germanOrdinalAfter(before, day)} ${GERMAN_MONTHS[month - 1] ?? ''} ${germanYear(year)}`,
  time(hour, minute, next) {
    const said = `${hour === 1 ? 'ein' : german(hour)} Uhr`;
    const rest = minute === 0 ? '' : german(minute);
    if (!/^uhr\b/iu.test(next)) return { said: `${said} ${rest}`.trim() };
    return minute === 0
      ? { said: said.slice(0, -' Uhr'.length), next }
      : { said, next: next.replace(/^uhr/iu, rest) };
  },
  range: (from, to) => `${german(from)} bis ${german(to)}`,
  abbreviations: { 'z.b.': 'zum Beispiel', 'd.h.': 'das heißt', 'usw.': 'und so weiter', 'bzw.': 'beziehungsweise', 'ca.': 'circa', 'dr.': 'Doktor', 'prof.': 'Professor', 'evtl.': 'eventuell', 'inkl.': 'inklusive', 'zzgl.': 'zuzüglich', 'mwst.': 'Mehrwertsteuer', 'u.a.': 'unter anderem', 'tel.': 'Telefon' }, // oxfmt-ignore
  pairs: { 'z. b.': ['zum', 'Beispiel'], 'd. h.': ['das', 'heißt'], 'u. a.': ['unter', 'anderem'] },
  beforeNumbers: { 'nr.': 'Nummer', 's.': 'Seite' },
  units: { km: ['Kilometer', 'Kilometer'], m: ['Meter', 'Meter'], cm: ['Zentimeter', 'Zentimeter'], kg: ['Kilogramm', 'Kilogramm'], 'km/h': ['Kilometer pro Stunde', 'Kilometer pro Stunde'], GB: ['Gigabyte', 'Gigabyte'], 'Std.': ['Stunde', 'Stunden'], 'Min.': ['Minute', 'Minuten'], '°C': ['Grad Celsius', 'Grad Celsius'] }, // oxfmt-ignore
  ordinal: germanDay,
};

const SPANISH_MONTHS = words(
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
);

/** `un euro`, `veintiún euros`, `un millón de euros` */
const spanishBeforeName = (digits: string): string =>
  spanish(digits)
    .replace(/veintiuno$/u, 'veintiún')
    .replace(/uno$/u, 'un')
    .replace(/mill(?:ón|ones)$/u, '$& de');

/** `h` and `horas` after a time. */
const HORAS = /^(?:h|hs|hrs|horas)(?=\P{L}|$)/iu;

function spanishTime(hour: number, minute: number, next: string): SpokenForm {
  const [said, rest] = [spanish(hour, { gender: 'feminine' }), minute === 0 ? '' : ` y ${spanish(minute)}`];
  if (HORAS.test(next))
    return { said: said + rest, next: next.replace(HORAS, hour === 1 ? 'hora' : 'horas') };
  return { said: said + (rest || ' en punto') };
}

export const SPANISH: Grammar = {
  ...SHARED,
  cardinal: spanish,
  beforeName: spanishBeforeName,
  minus: 'menos',
  to: 'a',
  currencies: {
    '€': ['euro', 'euros', 'céntimo', 'céntimos'],
    $: ['dólar', 'dólares', 'centavo', 'centavos'],
    EUR: ['euro', 'euros', 'céntimo', 'céntimos'],
  },
  and: 'con',
  dateMark: /[/.-]/u,
  date: (day, month, year) =>
    `${day === 1 ? 'uno' : spanish(day)} de ${SPANISH_MONTHS[month - 1] ?? ''} de ${spanish(year)}`,
  time: spanishTime,
  range: (from, to) => `${spanish(from)} a ${spanish(to)}`,
  abbreviations: { 'sr.': 'señor', 'sra.': 'señora', 'srta.': 'señorita', 'dr.': 'doctor', 'dra.': 'doctora', 'ud.': 'usted', 'uds.': 'ustedes', 'etc.': 'etcétera', 'p.ej.': 'por ejemplo', 'aprox.': 'aproximadamente', 'tel.': 'teléfono', 'avda.': 'avenida' }, // oxfmt-ignore
  pairs: { 'p. ej.': ['por', 'ejemplo'], 'ee. uu.': ['Estados', 'Unidos'] },
  beforeNumbers: { 'núm.': 'número', 'n.º': 'número', nº: 'número', 'pág.': 'página' },
  units: { km: ['kilómetro', 'kilómetros'], m: ['metro', 'metros'], cm: ['centímetro', 'centímetros'], kg: ['kilo', 'kilos'], 'km/h': ['kilómetro por hora', 'kilómetros por hora'], GB: ['gigabyte', 'gigabytes'], '°C': ['grado Celsius', 'grados Celsius'] }, // oxfmt-ignore
};

const FRENCH_MONTHS = words(
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
);

/** Of hours and minutes, which are feminine: `vingt et une`. */
const frenchFeminine = (number: number): string => french(number).replace(/\bun$/u, 'une');

const frenchTime = (hour: number, minute: number): string =>
  `${frenchFeminine(hour)} ${hour < 2 ? 'heure' : 'heures'} ${minute === 0 ? '' : frenchFeminine(minute)}`.trim();

export const FRENCH: Grammar = {
  ...SHARED,
  cardinal: french,
  minus: 'moins',
  to: 'à',
  currencies: {
    '€': ['euro', 'euros', 'centime', 'centimes'],
    $: ['dollar', 'dollars', 'cent', 'cents'],
    EUR: ['euro', 'euros', 'centime', 'centimes'],
  },
  and: 'et',
  dateMark: /[/.-]/u,
  date: (day, month, year) =>
    `${day === 1 ? 'premier' : french(day)} ${FRENCH_MONTHS[month - 1] ?? ''} ${french(year)}`,
  time: (hour, minute) => ({ said: frenchTime(hour, minute) }),
  range: (from, to) => `${french(from)} à ${french(to)}`,
  abbreviations: { 'mme': 'madame', 'mlle': 'mademoiselle', 'mm.': 'messieurs', 'dr': 'docteur', 'etc.': 'et cetera', 'env.': 'environ', 'tél.': 'téléphone', 'av.': 'avenue', 'c.-à-d.': "c'est-à-dire" }, // oxfmt-ignore
  pairs: { 'av. j.-c.': ['avant', 'Jésus-Christ'], 'apr. j.-c.': ['après', 'Jésus-Christ'] },
  beforeNumbers: { 'n°': 'numéro', 'p.': 'page' },
  units: { km: ['kilomètre', 'kilomètres'], m: ['mètre', 'mètres'], cm: ['centimètre', 'centimètres'], kg: ['kilogramme', 'kilogrammes'], 'km/h': ['kilomètre heure', 'kilomètres heure'], Go: ['gigaoctet', 'gigaoctets'], h: ['heure', 'heures'], '°C': ['degré Celsius', 'degrés Celsius'] }, // oxfmt-ignore
  other(word) {
    const [, hour] = /^(\d{1,2})h$/u.exec(word) ?? [];
    return hour === undefined ? undefined : frenchTime(Number(hour), 0);
  },
};
