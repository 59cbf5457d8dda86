/** Which of some languages a text is in, by its scripts and common words: for recognisers that do not tell. */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { likelyLanguages, scriptsIn } from './language.js';

/** Undefined where it may be in several of them, or in another. */
export function languageAmong(text: string, among: readonly LanguageCode[]): LanguageCode | undefined {
  const scripts = scriptsIn(text);
  const { languages, neutral } = likelyLanguages(text, scripts);
  if (neutral) return undefined;
  const [first] = languages;
  return first !== undefined && among.includes(first) ? first : undefined;
}
