/** Languages of agents and voices (docs/contract/platform.md 6.3), as ISO 639-1 codes, and the scripts of many more. */
export const LANGUAGES = ['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

/** ISO 639-1 code of any language: engines may speak more languages than agents can be set to. */
export type LanguageCode = string;

export const LANGUAGE_NAMES: Record<Language, string> = {
  en: 'English',
  ja: 'Japanese',
  zh: 'Chinese',
  ko: 'Korean',
  es: 'Spanish',
  fr: 'French',
  de: 'German',
};

export const isLanguage = (value: string): value is Language =>
  (LANGUAGES as readonly string[]).includes(value);

/**
 * The language of a client's tag: `eng`, `en-GB` and `en_GB` are `en`; undefined for `und` and `auto`, which name none.
 * Throws RangeError for anything that is not a tag.
 */
export function languageOfTag(tag: string): LanguageCode | undefined {
  if (tag.toLowerCase() === 'auto') return undefined;
  const { language } = new Intl.Locale(tag.replaceAll('_', '-'));
  return language === 'und' ? undefined : (language as string | undefined);
}

/**
 * Scripts by their Unicode names, and the languages written in them, the likeliest first: a text in only these
 * scripts may be in any of these languages.
 */
export const WRITTEN_IN = [
  [
    ['Latin'],
    'en es fr de it pt nl pl cs sk sl hr bs ro hu sv da nb nn no fi et lv lt is ga cy gd eu ca gl sq tr az uz vi id ms jv su tl sw af lb mt eo so ha ig yo zu xh qu la mi',
  ],
  [['Han', 'Bopomofo'], 'zh yue'],
  [['Hiragana', 'Katakana', 'Han'], 'ja'],
  [['Hangul', 'Han'], 'ko'],
  [['Cyrillic'], 'ru uk be bg mk kk ky mn tg tt ba'],
  [['Cyrillic', 'Latin'], 'sr'],
  [['Greek'], 'el'],
  [['Arabic'], 'ar fa ur ps sd ug ku'],
  [['Hebrew'], 'he yi'],
  [['Devanagari'], 'hi mr ne sa'],
  [['Bengali'], 'bn as'],
  [['Gurmukhi'], 'pa'],
  [['Gujarati'], 'gu'],
  [['Oriya'], 'or'],
  [['Tamil'], 'ta'],
  [['Telugu'], 'te'],
  [['Kannada'], 'kn'],
  [['Malayalam'], 'ml'],
  [['Sinhala'], 'si'],
  [['Thai'], 'th'],
  [['Lao'], 'lo'],
  [['Khmer'], 'km'],
  [['Myanmar'], 'my'],
  [['Georgian'], 'ka'],
  [['Armenian'], 'hy'],
  [['Ethiopic'], 'am ti'],
  [['Tibetan'], 'bo dz'],
] as const;

export type Script = (typeof WRITTEN_IN)[number][0][number];

const SCRIPTS_OF: ReadonlyMap<LanguageCode, readonly Script[]> = new Map(
  WRITTEN_IN.flatMap(([scripts, codes]) => codes.split(' ').map((code) => [code, scripts] as const)),
);

/** The scripts of a language; none for an unknown one. */
export const scriptsOf = (code: LanguageCode): readonly Script[] => SCRIPTS_OF.get(code) ?? [];

/** All languages whose scripts are known. */
export const LANGUAGE_CODES: readonly LanguageCode[] = [...SCRIPTS_OF.keys()];
