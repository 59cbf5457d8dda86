/** Languages that agents and voices speak (spec.txt "voice"), as ISO 639-1 codes. */
export const LANGUAGES = ['en', 'ja', 'zh', 'ko', 'es', 'fr', 'de'] as const;
export type Language = (typeof LANGUAGES)[number];

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
