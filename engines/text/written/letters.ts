/** How people say letters, by language, and how recognisers write that. */
import { byLanguage, type WrittenLanguage } from './languages.js';
import { alternatives, Phrases } from './words.js';

interface LetterNames {
  /** Names of letters that are hardly ever a word: `letter: names`. */
  readonly names: string;
  /** Words that sound like a letter. */
  readonly words: string;
  /** Between a letter and a word that begins with it. */
  readonly as: string;
  /** Before a letter that is said once for two. */
  readonly double: string;
  /** Before a letter, and no part of it. */
  readonly capital: string;
  /** Words that each stand for their first letter. */
  readonly alphabet: string;
}

const NAMES: Readonly<Record<WrittenLanguage, LetterNames>> = {
  en: {
    names:
      'b:bee c:cee d:dee f:ef|eff g:gee|jee h:aitch|haitch j:jay k:kay|cay l:el|ell m:em n:en p:pee q:cue|queue r:ar|arr s:ess|es t:tee ' +
      'v:vee w:double-u|doubleyou|doubleu x:ex z:zee|zed',
    words:
      'a:eh|ay|hey b:be c:see|sea d:the g:ge h:age|each i:eye|aye k:okay|ok|que n:and|an|in o:oh|owe p:pea|pay r:are|our|or s:as t:tea|to u:you|yew v:we y:why|wy',
    as: 'as in|for|like|is for',
    double: 'double',
    capital: 'capital|upper case|uppercase',
    alphabet:
      'alpha alfa bravo charlie delta echo foxtrot golf hotel india juliet juliett kilo lima mike november oscar papa quebec romeo sierra ' +
      'tango uniform victor whiskey whisky xray x-ray yankee zulu',
  },
  de: {
    names:
      'b:be|beh c:ce|zeh d:de|deh f:ef|eff g:ge|geh h:ha j:jot k:ka l:el|ell m:em n:en p:pe|peh q:ku r:er|err s:es|ess t:te|teh v:vau w:we|weh x:ix y:ypsilon z:zett|zet',
    words: 'a:ah e:eh|äh h:hat i:ih o:oh q:kuh t:tee u:uh',
    as: 'wie|wie in|für',
    double: 'doppel|doppelt|doppeltes',
    capital: 'groß|großes',
    alphabet:
      'anton berta cäsar dora emil friedrich gustav heinrich ida julius kaufmann konrad ludwig martha nordpol otto paula quelle richard ' +
      'samuel siegfried theodor ulrich viktor wilhelm xanthippe ypsilon zacharias zeppelin',
  },
  es: {
    names:
      'b:be c:ce d:de f:efe g:ge h:hache j:jota k:ka l:ele m:eme n:ene ñ:eñe p:pe q:cu r:erre|ere s:ese t:te v:uve|ve w:uve doble|doble ve|doble u x:equis y:i griega|ye z:zeta',
    words: 'i:hay o:oh',
    as: 'de|como|como en',
    double: 'doble',
    capital: 'mayúscula',
    alphabet: '',
  },
  fr: {
    names:
      'b:bé c:cé d:dé f:effe|ef g:gé h:ache|hache j:ji k:ka l:elle|el m:aime|emme n:haine|enne p:pé q:cu r:erre|aire s:esse t:té v:vé w:double vé|double v x:ix|ixe y:i grec z:zède|zed',
    words: 'a:ah|à e:euh i:y o:oh|eau',
    as: 'comme|comme dans',
    double: 'double|deux',
    capital: 'majuscule',
    alphabet: '',
  },
};

/** `letter:name|name letter:name`; a name may have several words, so the letters part the list. */
function* entriesOf(list: string): Generator<readonly [string, string]> {
  for (const [, letter = '', names = ''] of list.matchAll(/(\p{L}):(.*?)(?= \p{L}:|$)/gu))
    for (const name of alternatives(names)) yield [name, letter];
}

const meaning = (list: string): readonly (readonly [string, true])[] =>
  alternatives(list).map((phrase) => [phrase, true] as const);

export interface Letters {
  readonly names: Phrases<string>;
  readonly words: Phrases<string>;
  readonly as: Phrases<true>;
  readonly double: Phrases<true>;
  readonly capital: Phrases<true>;
  readonly alphabet: ReadonlySet<string>;
}

export const lettersOf = byLanguage((language): Letters => {
  const { names, words, as, double, capital, alphabet } = NAMES[language];
  return {
    names: new Phrases(entriesOf(names)),
    words: new Phrases(entriesOf(words)),
    as: new Phrases(meaning(as)),
    double: new Phrases(meaning(double)),
    capital: new Phrases(meaning(capital)),
    alphabet: new Set(alphabet.split(' ').filter((word) => word !== '')),
  };
});
