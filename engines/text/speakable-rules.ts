/**
 * What in a text is not spoken, or not as it is written: Markdown, tags, entities, links, addresses, emoji, control tokens of
 * models (docs/contract/spoken-text.md). One expression finds the next of them; its rule says what is spoken instead.
 *
 * Invariants: a rule looks at its match and one character on each side, so that a text may be cut between any two matches;
 * every repetition is bounded, so the search is linear.
 */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { addressWords, spokenAddress } from './spoken-address.js';
import { characterOf } from './text-entities.js';
import { isTag } from './style-tags.js';

/** A match with what stands around it. */
export interface Found {
  readonly match: string;
  /** The characters before and after it; empty at an end of the text. */
  readonly before: string;
  readonly after: string;
  /** Whether it begins a line. */
  readonly beginsLine: boolean;
  readonly language: LanguageCode;
  /** Whether the engine knows style tags. */
  readonly styleTags: boolean;
}

/** Nothing is spoken, and words around it stay apart. */
export const GAP = Symbol('gap');
/** What is spoken instead; `''` joins what stands around it; undefined: the text itself. */
export type Instead = string | typeof GAP | undefined;

interface Rule {
  readonly pattern: RegExp;
  /** Whether no piece of text may end within a match. */
  readonly whole?: boolean;
  instead(found: Found): Instead;
}

const gap = (): Instead => GAP;
const nothing = (): Instead => '';
const atLine = ({ beginsLine }: Found): Instead => (beginsLine ? GAP : undefined);

const WORD = /[\p{L}\p{N}]/u;
const SPACE = /^\s?$/u;
const isArithmetic = ({ before, after }: Found): boolean => /[\d)]/u.test(before) && /[\d(]/u.test(after);

/** Asterisks at one side of a word are emphasis; those between spaces or in `3*4` are text. */
function asterisks(found: Found): Instead {
  const { match, before, after } = found;
  if ((SPACE.test(before) && SPACE.test(after)) || isArithmetic(found)) return undefined;
  return match.length === 1 && WORD.test(before) && WORD.test(after) ? undefined : '';
}

/** Underscores within a word belong to a name. */
function underscores({ match, before, after }: Found): Instead {
  if (match.length > 2) return GAP;
  if (SPACE.test(before) && SPACE.test(after)) return undefined;
  return WORD.test(before) && WORD.test(after) ? undefined : '';
}

const ELEMENTS = new Set(
  [
    'a abbr address article aside audio b blockquote body br button caption center cite code col colgroup dd del details dfn',
    'div dl dt em figcaption figure font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label',
    'li link main mark meta nav ol option p pre q s samp section select small source span strike strong style sub summary sup',
    'svg table tbody td tfoot th thead title tr tt u ul var video wbr think thinking answer',
    'speak voice prosody emphasis break phoneme say-as lang paragraph sentence express-as',
    'bos eos pad unk mask cls sep start_of_turn end_of_turn',
  ].flatMap((names) => names.split(' ')),
);
/** Elements that end what is said before them. */
const BLOCK = /^<\/(?:p|div|li|h[1-6]|tr|td|th|dt|dd|blockquote|title|caption|section|article)\s*>/iu;
const SSML = /^<\/?(?:break|speak|phoneme|prosody|emphasis|say-as|sub|voice|lang)\b/iu;

/** `.` or `,` where the text before it has no mark of its own. */
const mark = (sign: string, before: string): Instead => (WORD.test(before) ? `${sign} ` : GAP);

/** A tag of a known name; attributes have values, so that `a<b and c>d` is none. */
function element({ match, before, styleTags }: Found): Instead {
  const [, name = '', rest = ''] = /^<\/?([a-z][\w:-]*)([^]*?)\/?>$/iu.exec(match) ?? [];
  if (!ELEMENTS.has(name.toLowerCase().replace(/^\w+:/u, ''))) return undefined;
  if (/\S/u.test(rest) && !rest.includes('=')) return undefined;
  if (styleTags && SSML.test(match)) return match;
  return BLOCK.test(match) ? mark('.', before) : GAP;
}

function bracketed({ match, styleTags }: Found): Instead {
  const inner = match.slice(1, -1);
  const known = match.startsWith('(') ? isTag(inner) : isTag(undefined, inner);
  if (!known) return undefined;
  return styleTags ? match : GAP;
}

function comparison(name: 'less' | 'greater'): (found: Found) => Instead {
  return ({ language }) => addressWords(language)[name];
}

/** The bar at the end of a table's row ends a sentence, one within it a clause. */
function bar({ match, before, after, beginsLine }: Found): Instead {
  if (beginsLine && /^[ \t]*\|/u.test(match)) return GAP;
  if (!/^[\n\r]?$/u.test(after)) return mark(',', before);
  return WORD.test(before) ? '.' : GAP;
}

const token = ({ match, styleTags }: Found): Instead =>
  styleTags && /^<\|speaker:\d{1,4}\|>$/u.test(match) ? match : GAP;
const address = ({ match, language }: Found): Instead => spokenAddress(match, language);

/** In order: where several begin at one place, the first counts. Those of lines come first. */
export const RULES: readonly Rule[] = [
  { pattern: /^[ \t]{0,8}(?:`{3,}|~{3,})[^\n`]{0,60}$/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}\|?(?:[ \t]{0,8}:?-{2,99}:?[ \t]{0,99}\|){1,50}[ \t:-]{0,99}$/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}(?:(?:[-*_][ \t]?){3,99}|={3,99})$/mu, instead: atLine },
  { pattern: /^[ \t]{0,3}#{1,6}[ \t]+/mu, instead: atLine },
  { pattern: /^[ \t]{0,40}[-*+•‣◦][ \t]{1,8}(?:\[[ xX]\][ \t]{1,8})?/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}>(?:[ \t]?>){0,8}[ \t]?/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}\|[ \t]{0,99}|[ \t]{0,99}\|[ \t]{0,99}(?=[\n\r])|[ \t]{1,99}\|(?:[ \t]{1,99}|$)/mu, instead: bar },
  { pattern: /<\|[\w:/. -]{1,60}\|>/u, whole: true, instead: token },
  { pattern: /<<\/?SYS>>|\[\/?INST\]/u, whole: true, instead: gap },
  { pattern: /<!--[^]{0,300}?-->/u, whole: true, instead: gap },
  { pattern: /<\/?[a-zA-Z][\w:-]{0,20}(?:\s[^<>]{0,600})?\/?>/u, whole: true, instead: element },
  { pattern: /(?<=[\p{L}\p{N})] )<(?= [\p{L}\p{N}(-])/u, instead: comparison('less') },
  { pattern: /(?<=[\p{L}\p{N})] )>(?= [\p{L}\p{N}(-])/u, instead: comparison('greater') },
  { pattern: /&(?:[a-zA-Z]{2,8}|#\d{1,7}|#[xX][\da-fA-F]{1,6});/u, whole: true, instead: ({ match }) => characterOf(match) },
  { pattern: /!\[(?=[^[\]\n]{0,200}\]\()/u, instead: nothing },
  { pattern: /\]\((?:[^()\s]|\([^()\s]{0,200}\)){0,2000}(?:[ \t]{1,3}"[^"\n]{0,200}")?\)/u, whole: true, instead: nothing },
  { pattern: /\[\^[^\]\s]{1,40}\]:?/u, whole: true, instead: gap },
  { pattern: /\[\d{1,3}(?:[ ,–-]{1,2}\d{1,3}){0,8}\]/u, whole: true, instead: gap },
  { pattern: /【[^【】\n]{0,60}†[^【】\n]{0,60}】/u, whole: true, instead: gap },
  { pattern: /\]\[[^[\]\n]{0,80}\]/u, whole: true, instead: nothing },
  { pattern: /\[[a-zA-Z][a-zA-Z -]{1,38}\]|\([a-zA-Z][a-zA-Z -]{1,38}\)/u, whole: true, instead: bracketed },
  { pattern: /[[\]]/u, instead: nothing },
  { pattern: /(?<![\w/])(?:[hH][tT][tT][pP][sS]?:\/\/|[wW]{3}\.)[^\s<>"'`|[\]()*\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，）]{0,1999}[\p{L}\p{N}/#=_-]/u, whole: true, instead: address },
  { pattern: /(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[a-zA-Z]{2,24}(?![\w@])/u, whole: true, instead: address },
  { pattern: /(?<![\w.@/-])(?:[a-z\d][a-z\d-]{0,62}\.){1,4}(?:com|org|net|edu|gov|io|ai|dev|app|de|fr|es|jp|cn|uk|eu)(?![\w.-]?\w|@)/u, whole: true, instead: address },
  { pattern: /\\[*_`#[\]()~>|\\]/u, whole: true, instead: ({ match }) => match.slice(1) },
  { pattern: /\*+/u, instead: asterisks },
  { pattern: /_+/u, instead: underscores },
  { pattern: /~~+/u, instead: nothing },
  { pattern: /`+/u, instead: nothing },
  // Joiners and variation selectors are meant one by one.
  // oxlint-disable-next-line no-misleading-character-class
  { pattern: /(?:(?![©®™‼⁉])[\p{Extended_Pictographic}\p{Regional_Indicator}\u{1f3fb}-\u{1f3ff}\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2b00-\u2bff][\ufe0e\ufe0f\u20e3\u200d\u{e0020}-\u{e007f}]*)+/u, instead: gap },
  // oxlint-disable-next-line no-misleading-character-class
  { pattern: /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\u20e3\ufeff]+/u, instead: nothing },
  // oxlint-disable-next-line no-control-regex
  { pattern: /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Cs}\p{Co}\p{Cn}\ufffd\uffff]+/u, instead: gap },
]; // oxfmt-ignore

const anyOf = (rules: readonly Rule[]): string => rules.map(({ pattern }) => `(${pattern.source})`).join('|');

/** Finds the next match of any rule; its only group tells of which. */
export const searchRules = (): RegExp => new RegExp(anyOf(RULES), 'gmu');

const WHOLE = RULES.filter(({ whole }) => whole);
/** The same for those that may not be cut. */
export const searchWhole = (): RegExp => new RegExp(anyOf(WHOLE), 'gmu');

/** The rule of a match, by its groups. */
export function ruleOf(groups: readonly unknown[], whole = false): Rule | undefined {
  const rules = whole ? WHOLE : RULES;
  return rules[groups.findIndex((group) => group !== undefined)];
}
