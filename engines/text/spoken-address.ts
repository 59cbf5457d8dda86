/** Addresses of pages and of mail as people read them: "example dot com slash help", without protocol and query. */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { entryFor } from '../normalisation/grammar.js';

const NAMES = ['dot', 'at', 'slash', 'dash', 'underscore', 'less', 'greater'] as const;
type Name = (typeof NAMES)[number];
export type AddressWords = Readonly<Record<Name, string>>;

/** `list`: a word for each name, in their order. */
function words(list: string): AddressWords {
  const each = list.split(',');
  return Object.fromEntries(NAMES.map((name, index) => [name, each[index]])) as AddressWords;
}

const ENGLISH = words('dot,at,slash,dash,underscore,less than,greater than');

const WORDS: Readonly<Record<string, AddressWords>> = {
  en: ENGLISH,
  de: words('Punkt,at,Schrägstrich,Minus,Unterstrich,kleiner als,größer als'),
  es: words('punto,arroba,barra,guion,guion bajo,menor que,mayor que'),
  fr: words('point,arobase,barre oblique,tiret,tiret bas,inférieur à,supérieur à'),
  it: words('punto,chiocciola,barra,trattino,trattino basso,minore di,maggiore di'),
  pt: words('ponto,arroba,barra,hífen,sublinhado,menor que,maior que'),
  ja: words('ドット,アットマーク,スラッシュ,ハイフン,アンダーバー,小なり,大なり'),
  zh: words('点,艾特,斜杠,横杠,下划线,小于,大于'),
  ko: words('닷,골뱅이,슬래시,하이픈,밑줄,작다,크다'),
};

/** The words of a language; those of English for one that is not listed. */
export const addressWords = (language: LanguageCode): AddressWords => entryFor(WORDS, language) ?? ENGLISH;

/** Behind a protocol there may be the name and password of a user. */
const PROTOCOL = /^(?:https?:\/\/(?:[^/?#@]*@)?)?(?:www\.)?/iu;
const PORT = /^([^/:]*):\d+/u;
const SIGNS = { '.': 'dot', '@': 'at', '/': 'slash', '-': 'dash', _: 'underscore' } as const;
/** A longer path is noise: the host tells where it leads. */
const MOST_PATH = 40;

/** Host and a short path, without query, fragment, port and user. */
function told(address: string): string {
  const bare = address
    .replace(PROTOCOL, '')
    .replace(/[?#].*/su, '')
    .replace(PORT, '$1')
    .replace(/\/+$/u, '');
  const slash = bare.indexOf('/');
  if (slash < 0) return bare;
  return bare.length - slash > MOST_PATH || /[%&=;,~:]/u.test(bare.slice(slash))
    ? bare.slice(0, slash)
    : bare;
}

/** An address in words of the language; spaces around the words of signs. */
export function spokenAddress(address: string, language: LanguageCode): string {
  const names = addressWords(language);
  return told(address)
    .replace(/[./@_-]/gu, (sign) => ` ${names[SIGNS[sign as keyof typeof SIGNS]]} `)
    .replace(/\s+/gu, ' ')
    .trim();
}
