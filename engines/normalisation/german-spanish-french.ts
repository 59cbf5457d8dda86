/** German, Spanish and French: a decimal comma, and dates that begin with the day. German minutes follow the word "Uhr" after the time. */
import { toCardinal as german, toOrdinal as germanOrdinal } from 'n2words/de-DE';
import { toCardinal as spanish } from 'n2words/es-ES';
import { toCardinal as french } from 'n2words/fr-FR';
import type { Grammar } from './grammar.js';

const words = (list: string): readonly string[] => list.split(' ');

const SHARED = { decimalMark: ',', order: 'day', magnitudes: {} } as const;

/** The form of an hour, for one or for several. */
const hours = (hour: number, one: string, several: string): string => (hour === 1 ? one : several);

const GERMAN_MONTHS = words(
  'Januar Februar März April Mai Juni Juli August September Oktober November Dezember',
);
const DATIVE = /^(?:am|vom|zum|beim|dem|den|ab|seit|bis)$/iu;

function germanYear(year: number): string {
  if (year < 1100 || year > 1999) return german(year);
  const rest = year % 100;
  return `${german(Math.floor(year / 100))}hundert${rest === 0 ? '' : german(rest)}`;
}

export const GERMAN: Grammar = {
  ...SHARED,
  cardinal: german,
  currencies: {
    '€': ['Euro', 'Euro', 'Cent', 'Cent'],
    $: ['Dollar', 'Dollar', 'Cent', 'Cent'],
    '£': ['Pfund', 'Pfund', 'Pence', 'Pence'],
    EUR: ['Euro', 'Euro', 'Cent', 'Cent'],
  },
  and: '',
  dateMark: /\./u,
  date: (day, month, year, before) =>
    `${germanOrdinal(day)}${DATIVE.test(before) ? 'n' : 'r'} ${GERMAN_MONTHS[month - 1] ?? ''} ${germanYear(year)}`,
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
  beforeNumbers: { 'nr.': 'Nummer', 's.': 'Seite' },
  units: { km: ['Kilometer', 'Kilometer'], m: ['Meter', 'Meter'], cm: ['Zentimeter', 'Zentimeter'], kg: ['Kilogramm', 'Kilogramm'], 'km/h': ['Kilometer pro Stunde', 'Kilometer pro Stunde'], GB: ['Gigabyte', 'Gigabyte'], 'Std.': ['Stunde', 'Stunden'], 'Min.': ['Minute', 'Minuten'], '°C': ['Grad Celsius', 'Grad Celsius'] }, // oxfmt-ignore
};

const SPANISH_MONTHS = words(
  'enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre',
);

export const SPANISH: Grammar = {
  ...SHARED,
  cardinal: spanish,
  currencies: {
    '€': ['euro', 'euros', 'céntimo', 'céntimos'],
    $: ['dólar', 'dólares', 'centavo', 'centavos'],
    EUR: ['euro', 'euros', 'céntimo', 'céntimos'],
  },
  and: 'con',
  dateMark: /[/.-]/u,
  date: (day, month, year) =>
    `${day === 1 ? 'uno' : spanish(day)} de ${SPANISH_MONTHS[month - 1] ?? ''} de ${spanish(year)}`,
  time: (hour, minute) => ({
    said: `${hours(hour, 'una', spanish(hour))} ${minute === 0 ? 'en punto' : `y ${spanish(minute)}`}`,
  }),
  range: (from, to) => `${spanish(from)} a ${spanish(to)}`,
  abbreviations: { 'sr.': 'señor', 'sra.': 'señora', 'srta.': 'señorita', 'dr.': 'doctor', 'dra.': 'doctora', 'ud.': 'usted', 'uds.': 'ustedes', 'etc.': 'etcétera', 'p.ej.': 'por ejemplo', 'aprox.': 'aproximadamente', 'tel.': 'teléfono', 'avda.': 'avenida' }, // oxfmt-ignore
  beforeNumbers: { 'núm.': 'número', 'n.º': 'número', nº: 'número', 'pág.': 'página' },
  units: { km: ['kilómetro', 'kilómetros'], m: ['metro', 'metros'], cm: ['centímetro', 'centímetros'], kg: ['kilo', 'kilos'], 'km/h': ['kilómetro por hora', 'kilómetros por hora'], GB: ['gigabyte', 'gigabytes'], '°C': ['grado Celsius', 'grados Celsius'] }, // oxfmt-ignore
};

const FRENCH_MONTHS = words(
  'janvier février mars avril mai juin juillet août septembre octobre novembre décembre',
);

export const FRENCH: Grammar = {
  ...SHARED,
  cardinal: french,
  currencies: {
    '€': ['euro', 'euros', 'centime', 'centimes'],
    $: ['dollar', 'dollars', 'cent', 'cents'],
    EUR: ['euro', 'euros', 'centime', 'centimes'],
  },
  and: 'et',
  dateMark: /[/.-]/u,
  date: (day, month, year) =>
    `${day === 1 ? 'premier' : french(day)} ${FRENCH_MONTHS[month - 1] ?? ''} ${french(year)}`,
  time: (hour, minute) => ({
    said: `${hours(hour, 'une heure', `${french(hour)} heures`)} ${minute === 0 ? '' : french(minute)}`.trim(),
  }),
  range: (from, to) => `${french(from)} à ${french(to)}`,
  abbreviations: { 'mme': 'madame', 'mlle': 'mademoiselle', 'mm.': 'messieurs', 'dr': 'docteur', 'etc.': 'et cetera', 'env.': 'environ', 'tél.': 'téléphone', 'av.': 'avenue', 'c.-à-d.': "c'est-à-dire" }, // oxfmt-ignore
  beforeNumbers: { 'n°': 'numéro', 'p.': 'page' },
  units: { km: ['kilomètre', 'kilomètres'], m: ['mètre', 'mètres'], cm: ['centimètre', 'centimètres'], kg: ['kilogramme', 'kilogrammes'], 'km/h': ['kilomètre heure', 'kilomètres heure'], Go: ['gigaoctet', 'gigaoctets'], '°C': ['degré Celsius', 'degrés Celsius'] }, // oxfmt-ignore
};
