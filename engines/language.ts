/** The language of a text by its script, where no hint says it. Latin script without a hint is English. */
import type { Language } from '../contracts/languages.js';

/** In order: kana decide for Japanese before the Han characters that both scripts share. */
const SCRIPTS: readonly (readonly [RegExp, Language])[] = [
  [/\p{Script=Hiragana}|\p{Script=Katakana}/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Han}/u, 'zh'],
];

export const languageOf = (text: string): Language =>
  SCRIPTS.find(([script]) => script.test(text))?.[1] ?? 'en';
