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
import { isTag, SSML_TAG } from './style-tags.js';

/** A match with what stands around it. */
export interface RuleMatch {
  readonly match: string;
  /** The characters before and after it; empty at an end of the text. */
  readonly before: string;
  readonly after: string;
  readonly beginsLine: boolean;
  readonly language: LanguageCode;
  /** Whether the engine knows style tags. */
  readonly styleTags: boolean;
}

/** Nothing is spoken, and words around it stay apart. */
export const GAP = Symbol('gap');
/** What is spoken instead; `''` joins what stands around it; undefined: the text itself. */
export type SpokenInstead = string | typeof GAP | undefined;

interface Rule {
  readonly pattern: RegExp;
  /** Whether no piece of text may end within a match. */
  readonly whole?: boolean;
  instead(found: RuleMatch): SpokenInstead;
}

const gap = (): SpokenInstead => GAP;
const nothing = (): SpokenInstead => '';
const atLine = ({ beginsLine }: RuleMatch): SpokenInstead => (beginsLine ? GAP : undefined);

const WORD = /[\p{L}\p{N}]/u;
const SPACE = /^\s?$/u;
const isArithmetic = ({ before, after }: RuleMatch): boolean => /[\d)]/u.test(before) && /[\d(]/u.test(after);

/** Asterisks at one side of a word are emphasis; those between spaces or in `3*4` are text. */
function asterisks(found: RuleMatch): SpokenInstead {
  const { match, before, after } = found;
  if ((SPACE.test(before) && SPACE.test(after)) || isArithmetic(found)) return undefined;
  return match.length === 1 && WORD.test(before) && WORD.test(after) ? undefined : '';
}

/** Underscores within a word belong to a name. */
function underscores({ match, before, after }: RuleMatch): SpokenInstead {
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
const BLOCK = /<\/(?:p|div|li|h[1-6]|tr|td|th|dt|dd|blockquote|title|caption|section|article)\s*>/iu;

/** `.` or `,` where the text before it has no mark of its own. */
const mark = (sign: string, before: string): SpokenInstead => (WORD.test(before) ? `${sign} ` : GAP);

/** A tag of a known name; attributes have values, so that `a<b and c>d` is none. */
function element({ match, before, styleTags }: RuleMatch): SpokenInstead {
  const [, name = '', rest = ''] = /<\/?([a-z][\w:-]*)([^]*?)\/?>/iu.exec(match) ?? [];
  if (!ELEMENTS.has(name.toLowerCase().replace(/^\w+:/u, ''))) return undefined;
  if (/\S/u.test(rest) && !rest.includes('=')) return undefined;
  if (styleTags && SSML_TAG.test(match)) return match;
  return BLOCK.test(match) ? mark('.', before) : GAP;
}

function bracketed({ match, styleTags }: RuleMatch): SpokenInstead {
  if (!isTag(match.slice(1, -1), match.startsWith('['))) return undefined;
  return styleTags ? match : GAP;
}

function comparison(name: 'less' | 'greater'): (found: RuleMatch) => SpokenInstead {
  return ({ language }) => addressWords(language)[name];
}

/** The bar at the end of a table's row ends a sentence, one within it a clause. */
function bar({ before, after }: RuleMatch): SpokenInstead {
  if (!/^[\n\r]?$/u.test(after)) return mark(',', before);
  return WORD.test(before) ? '.' : GAP;
}

const token = ({ match, styleTags }: RuleMatch): SpokenInstead =>
  styleTags && /<\|speaker:\d{1,4}\|>/u.test(match) ? match : GAP;
const address = ({ match, language }: RuleMatch): SpokenInstead => spokenAddress(match, language);

/**
 * Names that are rather code than prose, at whose end an index stands: `x[1]`, `a_b[1]`, `row2[1]`, `userNames[1]`, `array[1]`; `iPhone[1]` and
 * `vitamin C[1]` have footnotes.
 */
const CODE_NAME = String.raw`(?<![\p{L}\p{N}_])(?:[a-z]|\w{0,40}_\w{1,40}|[a-z]{2,20}\d{1,3}|[a-z]{2,20}[A-Z]\w{1,40}|array|arr|argv|args|buf|items|nums|vec)`;
/** What only code has behind an index. */
const CODE_BEHIND = String.raw`\.[a-z_]|\(|\+\+| ?(?:[+*%&|^-]?=|[<>]=?|==) ?[\w"'([]`;
/** Words of which a number in brackets is the object: "press [1]", "see [3]". */
const BEFORE_OBJECT = ['press|dial|type|enter|choose|select|option|key|number|step|item|level|section|see|in|from|of|to|or|and', 'drücken|wählen|siehe|in|oder|und', 'appuyez sur|tapez|voir|ou|et', 'pulse|marque|véase|en|y|o'].join('|').replace(/(?<=^|\|)\p{L}/gu, (first) => `[${first}${first.toUpperCase()}]`); // oxfmt-ignore

/** The number within brackets, apart from the name before them. */
const numbered = ({ match, before }: RuleMatch): SpokenInstead =>
  `${SPACE.test(before) ? '' : ' '}${match.slice(1, -1)}`;

/** In order: where several begin at one place, the first counts. Those of lines come first. */
export const RULES: readonly Rule[] = [
  { pattern: /^[ \t]{0,8}(?:`{3,}|~{3,})[^\n`]{0,60}$/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}\|?(?:[ \t]{0,8}:?-{2,99}:?[ \t]{0,99}\|){1,50}[ \t:-]{0,99}$/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}(?:(?:[-*_][ \t]?){3,99}|={3,99})$/mu, instead: atLine },
  { pattern: /^[ \t]{0,3}#{1,6}[ \t]/mu, instead: atLine },
  { pattern: /^[ \t]{0,40}[-*+•‣◦][ \t]{1,8}(?:\[[ xX]\][ \t])?/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}>(?:[ \t]?>){0,8}[ \t]?/mu, instead: atLine },
  { pattern: /^[ \t]{0,8}\|(?:[ \t]{1,99}\|){0,20}[ \t]{0,99}|[ \t]{0,99}\|[ \t]{0,99}(?=[\n\r])|[ \t]{1,99}\|(?:[ \t]{1,99}\|){0,20}(?:[ \t]{1,99}|$)/mu, instead: bar },
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
  { pattern: new RegExp(String.raw`(?<=${CODE_NAME}(?:\[[\w+-]{1,6}\]){0,3})\[\d{1,4}\]|(?<=[\p{L}\p{N}_)\]])(?:\[0\]|\[\d{1,4}\](?=${CODE_BEHIND}))`, 'u'), whole: true, instead: numbered },
  { pattern: /(?<=[\p{L}\p{N}_)\]])\[(?:[ijkmnxy](?: ?[+-] ?\d{1,2})?|-\d{1,3}|\d{0,4}:-?\d{0,4})\]/u, whole: true, instead: numbered },
  { pattern: new RegExp(String.raw`(?<=(?<![\p{L}\p{N}_])(?:${BEFORE_OBJECT}) )\[\d{1,4}\](?!\()`, 'u'), whole: true, instead: numbered },
  { pattern: /\[\d{1,3}(?:[ ,–-]{1,2}\d{1,3}){0,8}\](?:\([^()\s]{1,2000}\))?/u, whole: true, instead: gap },
  { pattern: /【[^【】\n]{0,60}†[^【】\n]{0,60}】/u, whole: true, instead: gap },
  { pattern: /\]\[[^[\]\n]{0,80}\]/u, whole: true, instead: nothing },
  { pattern: /\[[a-zA-Z][a-zA-Z -]{1,38}\]|\([a-zA-Z][a-zA-Z -]{1,38}\)/u, whole: true, instead: bracketed },
  { pattern: /[[\]]/u, instead: nothing },
  { pattern: /(?<![\w/])(?:[hH][tT][tT][pP][sS]?:\/\/|[wW]{3}\.)[^\s<>"'`|[\]()*\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}、。，）]{1,2000}(?<=[\p{L}\p{N}/#=_-])/u, whole: true, instead: address },
  { pattern: /(?<![\w.+-])[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,5}[a-zA-Z]{2,24}(?![\w@])/u, whole: true, instead: address },
  { pattern: /(?<![\w.@/-])(?:[a-z\d][a-z\d-]{0,62}\.){1,4}(?:com|org|net|edu|gov|io|ai|dev|app|de|fr|es|jp|cn|uk|eu)(?![\w.-]?\w|@)/u, whole: true, instead: address },
  { pattern: /\\[*_`#[\]()~>|\\]/u, whole: true, instead: ({ match }) => match.slice(1) },
  { pattern: /\*+/u, instead: asterisks },
  { pattern: /_+/u, instead: underscores },
  { pattern: /~~+/u, instead: nothing },
  { pattern: /`/u, instead: nothing },
  // Joiners and variation selectors are meant one by one.
  // oxlint-disable-next-line no-misleading-character-class
  { pattern: /(?:(?![©®™‼⁉])[\p{Extended_Pictographic}\p{Regional_Indicator}\u{1f3fb}-\u{1f3ff}\u2190-\u21ff\u2300-\u23ff\u2500-\u27bf\u2b00-\u2bff][\ufe0e\ufe0f\u20e3\u200d\u{e0020}-\u{e007f}]*)+/u, instead: gap },
  // oxlint-disable-next-line no-misleading-character-class
  { pattern: /[\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufe0e\ufe0f\u20e3\ufeff]+/u, instead: nothing },
  // oxlint-disable-next-line no-control-regex
  { pattern: /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\p{Cs}\p{Co}\p{Cn}\ufffd\uffff]+/u, instead: gap },
]; // oxfmt-ignore

const anyOf = (rules: readonly Rule[]): string => rules.map(({ pattern }) => `(${pattern.source})`).join('|');

const ANY = new RegExp(anyOf(RULES), 'gmu');
/** Finds the next match of any rule, from the start of a text; its only group tells of which. One for all, as making it costs most of a search: each ends before the next begins. */
export function searchRules(): RegExp {
  ANY.lastIndex = 0;
  return ANY;
}

const WHOLE = RULES.filter(({ whole }) => whole);
/** The same for those that may not be cut, to replace by. */
export const ANY_WHOLE = new RegExp(anyOf(WHOLE), 'gmu');

export function ruleOf(groups: readonly unknown[], whole = false): Rule {
  const rules = whole ? WHOLE : RULES;
  return rules[groups.findIndex((group) => group !== undefined)]!;
}
