/** Entities of HTML as characters. */
import { entryFor } from '../normalisation/grammar.js';

const NAMED: Readonly<Record<string, string>> = {
  amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', ensp: ' ', emsp: ' ', thinsp: ' ', shy: '',
  copy: '©', reg: '®', trade: '™', hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”',
  laquo: '«', raquo: '»', euro: '€', pound: '£', yen: '¥', cent: '¢', deg: '°', times: '×', divide: '÷', minus: '−',
  plusmn: '±', frac12: '½', frac14: '¼', middot: '·', bull: '', iexcl: '¡', iquest: '¿',
  auml: 'ä', ouml: 'ö', uuml: 'ü', Auml: 'Ä', Ouml: 'Ö', Uuml: 'Ü', szlig: 'ß', eacute: 'é', egrave: 'è', agrave: 'à',
  aacute: 'á', iacute: 'í', oacute: 'ó', uacute: 'ú', ntilde: 'ñ', ccedil: 'ç', ecirc: 'ê', ocirc: 'ô',
}; // oxfmt-ignore

/** Control characters, halves of pairs, and what is no character. */
const UNSPOKEN = /[\p{C}\p{Extended_Pictographic}]/u;

function numbered(digits: string): string {
  const code = /x/iu.test(digits) ? Number.parseInt(digits.slice(1), 16) : Number(digits);
  const character = code <= 0x10ffff ? String.fromCodePoint(code) : '';
  return UNSPOKEN.test(character) ? ' ' : character;
}

/** The character of an entity (`&amp;`, `&#39;`, `&#x27;`); undefined if it is none. */
export function characterOf(entity: string): string | undefined {
  const name = entity.slice(1, -1);
  return name.startsWith('#') ? numbered(name.slice(1)) : entryFor(NAMED, name);
}
