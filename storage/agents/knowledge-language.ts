/**
 * The language of a source: by its script, and in Latin letters by the commonest words, of which each language has its own.
 * What Postgres has a dictionary for is kept by its stems and without the words that say nothing.
 */

/** Characters of a text that are looked at. */
const SAMPLE = 20_000;
/** Fewer common words leave it open which language it is. */
const FROM_WORDS = 2;

const COMMON: Readonly<Record<string, string>> = {
  en: 'the and of to is are for with you your we our on be it that this from at or not can if by',
  de: 'der die das und ist sind für mit sie wir ihr nicht ein eine den dem im auf zu von bei oder wird werden nur auch wenn',
  es: 'el la los las y es son para con usted su nuestro no un una en de del al por o se puede que si está',
  fr: 'le la les et est sont pour avec vous votre nous notre ne pas un une dans de du des au aux par ou que si sur',
  it: 'il lo la gli e è sono per con lei suo nostro non un una in di del della al alla da o si può che se nel',
  pt: 'o a os as e é são para com você seu nosso não um uma em de do da dos das ao por ou se pode que no na',
};

/** Scripts that one language of ours is written in, the surest first: Japanese has Chinese characters, too. */
const SCRIPTS: readonly (readonly [language: string, script: RegExp])[] = [
  ['ja', /[\p{Script=Hiragana}\p{Script=Katakana}]/gu],
  ['ko', /\p{Script=Hangul}/gu],
  ['zh', /\p{Script=Han}/gu],
];

const WORDS = Object.entries(COMMON).map(
  ([language, words]) => [language, new Set(words.split(' '))] as const,
);

/** Postgres' configurations of text search, which each server has; all other languages are kept as they are written. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  en: 'english',
  de: 'german',
  es: 'spanish',
  fr: 'french',
  it: 'italian',
  pt: 'portuguese',
};

/** Of what the previous release has written. */
export const ENGLISH = 'english';

/** `language` as in the database: null was kept as English. */
export const configurationOf = (language: string | null): string =>
  language === null ? ENGLISH : (CONFIGURATIONS[language] ?? 'simple');

const countOf = (text: string, sign: RegExp): number => text.match(sign)?.length ?? 0;

function byScript(sample: string): string | undefined {
  const letters = countOf(sample, /\p{L}/gu);
  // One sign says as much as two letters.
  return SCRIPTS.find(([, script]) => countOf(sample, script) * 5 > letters)?.[0];
}

function byWords(sample: string): string | undefined {
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = WORDS.map(
    ([language, common]) => [language, words.filter((word) => common.has(word)).length] as const,
  );
  const [first] = counted.sort(([, a], [, b]) => b - a);
  return first && first[1] >= FROM_WORDS ? first[0] : undefined;
}

/** ISO 639-1; `und`: none of those that are told apart. */
export function languageOfText(text: string): string {
  const sample = text.slice(0, SAMPLE).normalize('NFC');
  return byScript(sample) ?? byWords(sample) ?? 'und';
}
