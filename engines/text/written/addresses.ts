/**
 * Addresses of mail and hosts as people write them: "jane dot doe at example dot com" is jane.doe@example.com. Every letter is one that
 * was heard, and every sign stands for a word that was, or that the recogniser has written itself.
 *
 * An address of mail is one where somebody was asked for it, speaks of mail, or says a sign before the "at": else "I was at amazon dot com"
 * would be one.
 */
import { addressWords } from '../spoken-address.js';
import { byLanguage, type WrittenLanguage } from './languages.js';
import { digitOfWord } from './numbers.js';
import { alternatives, Phrases, plain, type Rewritten, type Word } from './words.js';

type Sign = '@' | '.' | '-' | '_' | '+';

/** What people say for a sign, beside the word that is read to them (engines/text/spoken-address.ts). */
const SAID: Readonly<Record<WrittenLanguage, Readonly<Record<Sign, string>>>> = {
  en: {
    '@': 'at sign|@',
    '.': 'point|period',
    '-': 'hyphen|minus',
    _: 'under score',
    '+': 'plus',
  },
  de: {
    '@': 'ät|et|klammeraffe|at zeichen|at-zeichen|@',
    '.': 'dot',
    '-': 'bindestrich|strich',
    _: 'unter strich',
    '+': 'plus',
  },
  es: {
    '@': 'a roba|@',
    '.': 'dot',
    '-': 'guión|guion medio|guión medio',
    _: 'guión bajo|barra baja|subrayado',
    '+': 'más|mas',
  },
  fr: {
    '@': 'at|arrobase|arobas|a commercial|@',
    '.': 'dot',
    '-': "trait d'union|moins",
    _: 'underscore|souligné',
    '+': 'plus',
  },
};

interface Signs {
  readonly all: Phrases<Sign>;
  /** The words for a dot that stand between the parts of a host. */
  readonly dots: ReadonlySet<string>;
}

const signsOf = byLanguage((language): Signs => {
  const { at, dot, dash, underscore } = addressWords(language);
  const read = { '@': at, '.': dot, '-': dash, _: underscore, '+': 'plus' } as const;
  const entries = (Object.keys(read) as Sign[]).flatMap((sign) =>
    [read[sign].toLowerCase(), ...alternatives(SAID[language][sign])].map((said) => [said, sign] as const),
  );
  return { all: new Phrases(entries), dots: new Set([dot.toLowerCase(), 'dot']) };
});

/** Ends of hosts. */
const TOPS: ReadonlySet<string> = new Set(
  (
    'com org net edu gov mil int info biz io co dev app ai me tv xyz eu de at ch fr es it uk us ie nl be lu pl pt se no dk fi cz hu ro gr ' +
    'ca mx ar cl pe br au nz jp cn kr in za'
  ).split(' '),
);
/** Those that are a word of no language behind the word for a dot: "el punto es que" is no host. */
const UNMISTAKABLE: ReadonlySet<string> = new Set('com org net edu gov info io eu'.split(' '));

/** Words that lead to an address, and are no part of it. */
const LEADS: Readonly<Record<WrittenLanguage, string>> = {
  en: "it's its it is my our the a an email e-mail mail address yes yeah sure okay ok so um uh well and this that that's would be under to on me you reach contact write send right hi hello please use with i i'm was we are at",
  de: 'meine mein unsere die der das ist lautet heißt wäre e-mail email mail adresse e-mail-adresse mailadresse ja also unter an auf äh und bitte gerne es mich schreiben sie',
  es: 'mi el la es sería correo electrónico email e-mail mail dirección sí pues bueno a en y mi eh este',
  fr: "mon ma notre l'adresse adresse mail e-mail email courriel est c'est serait oui alors euh à le la et",
};
const leadsOf = byLanguage((language): ReadonlySet<string> => new Set(LEADS[language].split(' ')));

/** Words that say that an address of mail follows. */
const MAIL = /(?:^|[^\p{L}])(?:e-?mail|mail|correo|courriel|mailadresse|e-mail-adresse)(?:[^\p{L}]|$)/iu;

/** A part of an address as recognisers write it, signs in it included. */
const LABEL = /^[\p{L}\p{N}](?:[\p{L}\p{N}._-]*[\p{L}\p{N}])?$/u;
/** Most words of the host's first part, and of the user's that no sign joins. */
const MOST_WORDS = 3;
/** Most letters and figures that are spelled in a part. */
const MOST_SPELLED = 24;

const isLabel = (word: Word | undefined): word is Word =>
  word !== undefined && word.before === '' && LABEL.test(word.core);
const endsInTop = (host: string): boolean =>
  host.includes('.') && TOPS.has(host.slice(host.lastIndexOf('.') + 1));

/** A part that was read, and the place behind it, or that of its first word. */
interface Part {
  readonly text: string;
  readonly at: number;
}

class AddressReader {
  readonly #signs: Signs;
  readonly #leads: ReadonlySet<string>;

  constructor(
    private readonly words: readonly Word[],
    private readonly language: WrittenLanguage,
    private readonly isAskedFor: boolean,
  ) {
    this.#signs = signsOf(language);
    this.#leads = leadsOf(language);
  }

  /** The address of mail whose "at" stands there. */
  mailAround(at: number): (Part & { readonly until: number }) | undefined {
    const sign = this.#signs.all.at(this.words, at);
    if (sign?.meaning !== '@') return undefined;
    const host = this.#hostFrom(at + sign.count, MOST_WORDS);
    const user = host && this.#userBefore(at);
    return user && { text: `${user.text}@${host.text}`, at: user.at, until: host.at };
  }

  /** The host that begins there. */
  hostAt(at: number): Rewritten | undefined {
    const first = this.words[at];
    if (!isLabel(first) || this.#leads.has(plain(first)) || first.core.includes('.')) return undefined;
    const dot = this.words[at + 1];
    if (!dot || !this.#signs.dots.has(plain(dot)) || first.after + dot.after !== '') return undefined;
    const host = this.#hostFrom(at, 1);
    const top = host?.text.slice(host.text.lastIndexOf('.') + 1) ?? '';
    return host && UNMISTAKABLE.has(top) ? { count: host.at - at, text: host.text } : undefined;
  }

  /** A word for a sign, or the full stop that a recogniser wrote for it, behind the word before that place. */
  #dotAt(at: number): number | undefined {
    const sign = this.#signs.all.at(this.words, at);
    return sign?.meaning === '.' ? sign.count : undefined;
  }

  /** "garden. org": a recogniser takes the dot for the end of a sentence. */
  #isDotted(at: number): boolean {
    const next = this.words[at + 1];
    return this.words[at]?.after === '.' && next !== undefined && TOPS.has(plain(next));
  }

  /** A host with an end that there is. */
  #hostFrom(from: number, mostWords: number): Part | undefined {
    let [at, host, words] = [from, '', 0];
    for (;;) {
      const word = this.words[at];
      if (!isLabel(word)) return undefined;
      host += plain(word);
      at += 1;
      words += 1;
      const dotted = this.#isDotted(at - 1);
      const dot = word.after === '' ? this.#dotAt(at) : undefined;
      if (endsInTop(host) && (dot === undefined || !isLabel(this.words[at + dot]))) return { text: host, at };
      if (dotted || dot !== undefined) {
        host += '.';
        at += dot ?? 0;
        words = 0;
      } else if (host.includes('.') || words >= mostWords || word.after !== '') return undefined;
    }
  }

  /** The part before the "at": words with signs between them, spelled letters, or what was asked for. */
  #userBefore(end: number): Part | undefined {
    let user = this.#labelBefore(end);
    let signs = user?.text.includes('.') ?? false;
    while (user) {
      const joined: Part | undefined = this.#joinedBefore(user);
      if (!joined) break;
      signs = true;
      user = joined;
    }
    if (!user || (!signs && !this.isAskedFor)) return undefined;
    return this.isAskedFor ? this.#unjoinedBefore(user) : user;
  }

  /** With the sign before it and what stands before that. */
  #joinedBefore(user: Part): Part | undefined {
    const sign = this.#signs.all.before(this.words, user.at);
    if (!sign || sign.meaning === '@') return undefined;
    const label = this.#labelBefore(user.at - sign.count);
    return label && { text: label.text + sign.meaning + user.text, at: label.at };
  }

  /** With the words before it that nothing parts from it: "jane doe at". */
  #unjoinedBefore(user: Part): Part {
    let whole = user;
    for (let words = 1; words < MOST_WORDS; words += 1) {
      const label = this.#labelBefore(whole.at);
      const last = this.words[whole.at - 1];
      if (!label || last?.after !== '') break;
      whole = { text: label.text + whole.text, at: label.at };
    }
    return whole;
  }

  /** A word, or letters and figures one by one. */
  #labelBefore(end: number): Part | undefined {
    const last = this.words[end - 1];
    if (!this.#isPart(last, end)) return undefined;
    const one = this.#oneByOneBefore(end);
    if (one.at === end) return { text: plain(last), at: end - 1 };
    // Figures behind a word belong to it: "anna one two".
    const name = this.words[one.at - 1];
    const isOfName = /^\p{Nd}+$/u.test(one.text) && name?.after === '' && this.#isPart(name, one.at);
    return isOfName ? { text: plain(name) + one.text, at: one.at - 1 } : one;
  }

  /** Whether the word before that place may be a part of the address. */
  #isPart(word: Word | undefined, end: number): word is Word {
    return isLabel(word) && !this.#leads.has(plain(word)) && !this.#signs.all.before(this.words, end);
  }

  /** Spelled letters and figures that end before that place. */
  #oneByOneBefore(end: number): Part {
    let [at, text] = [end, ''];
    while (end - at < MOST_SPELLED) {
      const word = this.words[at - 1];
      const said = word && this.#spelled(word);
      if (said === undefined || word?.before !== '') break;
      text = said + text;
      at -= 1;
    }
    return { text, at };
  }

  /** A letter, or a figure; undefined if the word is neither. */
  #spelled(word: Word): string | undefined {
    if (word.core.length === 1 || /^\p{Nd}+$/u.test(word.core)) return plain(word);
    return digitOfWord(plain(word), this.language);
  }
}

/** "dotnet", "dot-com": the end of a host that the recogniser has written as one word. */
function withPartedDots(words: readonly Word[], language: WrittenLanguage): readonly Word[] {
  const { dots } = signsOf(language);
  return words.flatMap((word) => {
    const dot = [...dots].find((said) => plain(word).startsWith(said));
    const top = dot === undefined ? '' : plain(word).slice(dot.length).replace(/^[-.]/u, '');
    if (dot === undefined || !TOPS.has(top)) return [word];
    return [
      { before: word.before, core: dot, after: '' },
      { before: '', core: top, after: word.after },
    ];
  });
}

const holdsMail = (words: readonly Word[]): boolean => words.some(({ core }) => core.includes('@'));

/** `isAskedFor`: somebody was asked for an address of mail. */
export function withAddresses(
  words: readonly Word[],
  language: WrittenLanguage,
  isAskedFor: boolean,
): readonly Word[] {
  const isMail = isAskedFor || words.some(({ core }) => MAIL.test(core));
  const found = addressed(words, language, isMail);
  if (!isMail || holdsMail(found)) return found;
  const parted = addressed(withPartedDots(words, language), language, isMail);
  return holdsMail(parted) ? parted : found;
}

function addressed(words: readonly Word[], language: WrittenLanguage, isMail: boolean): readonly Word[] {
  const reader = new AddressReader(words, language, isMail);
  const all: Word[] = [];
  /** Where each of them begins. */
  const places: number[] = [];
  const add = (word: Word, at: number): void => {
    all.push(word);
    places.push(at);
  };
  for (let at = 0; at < words.length;) {
    const mail = reader.mailAround(at);
    const before = mail ? places.indexOf(mail.at) : -1;
    if (mail && before >= 0) {
      all.length = places.length = before;
      add({ ...words[mail.at]!, core: mail.text, after: words[mail.until - 1]!.after }, mail.at);
      at = mail.until;
      continue;
    }
    const host = reader.hostAt(at);
    const count = host?.count ?? 1;
    const [first, last] = [words[at]!, words[at + count - 1]!];
    add(host?.text === undefined ? first : { ...first, core: host.text, after: last.after }, at);
    at += count;
  }
  return all;
}
