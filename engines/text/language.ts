/**
 * Finds the scripts of a text, its possible languages, and the scripts that a voice cannot read. Only letters and digits
 * of a script count: punctuation, symbols and emoji belong to none, and voices skip them. Every voice reads Latin letters,
 * because names and brands occur in texts of every language.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  LANGUAGE_CODES,
  type LanguageCode,
  type Script,
  scriptsOf,
  WRITTEN_IN,
} from '../../contracts/speech/languages.js';
import type { EngineVoice, TtsCapabilities } from '../../contracts/ports/speech/tts.js';
import { isNeutral, languageByWords } from './language-words.js';
import { withoutSsml } from './style-tags.js';

/** A script that no language of the table is written in. */
const UNKNOWN = 'unknown';
export type TextScript = Script | typeof UNKNOWN;
/** The scripts of a text other than Latin. */
export type TextScripts = ReadonlySet<TextScript>;

const SCRIPTS: readonly Script[] = [
  ...new Set(WRITTEN_IN.flatMap(([scripts]): readonly Script[] => scripts)),
];

/** Characters that several scripts share (the long vowel mark of both kana) count for each of them. */
const inScript = (script: string): string => `\\p{Script_Extensions=${script}}`;
const EVERYBODYS = ['Latin', 'Common', 'Inherited'].map(inScript).join('');
const OTHER_LETTER = new RegExp(`(?![${EVERYBODYS}])[\\p{L}\\p{N}]`, 'u');
const TESTS = SCRIPTS.map((script) => [script, new RegExp(inScript(script), 'u')] as const);

const scriptOf = (letter: string): TextScript => TESTS.find(([, test]) => test.test(letter))?.[0] ?? UNKNOWN;

/** Matches the next letter that is in none of the found scripts. */
const beside = (found: TextScripts): RegExp =>
  new RegExp(`(?![${EVERYBODYS}${[...found].map(inScript).join('')}])[\\p{L}\\p{N}]`, 'gu');

/** The scripts of a text, in one pass per script; stops at a letter of an unknown script. Tags are in none. */
export function scriptsIn(tagged: string): TextScripts {
  const text = withoutSsml(tagged);
  const found = new Set<TextScript>();
  let letter = OTHER_LETTER.exec(text);
  while (letter) {
    const script = scriptOf(letter[0]);
    found.add(script);
    if (script === UNKNOWN) break;
    const next = beside(found);
    next.lastIndex = letter.index;
    letter = next.exec(text);
  }
  return found;
}

const SLICE = 64 * 1024;

/** The scripts of a text of any length, searched in several turns of the event loop. */
export async function scriptsInLong(text: string): Promise<TextScripts> {
  const found = new Set<TextScript>();
  for (let at = 0; at < text.length; at += SLICE) {
    if (at > 0) await nextTurn();
    // One code unit more, as the slice may end within a surrogate pair.
    for (const script of scriptsIn(text.slice(at, at + SLICE + 1))) found.add(script);
  }
  return found;
}

const isWrittenIn = (scripts: TextScripts, code: LanguageCode): boolean => {
  const own: readonly TextScript[] = scriptsOf(code);
  return scripts.size === 0 ? own.includes('Latin') : [...scripts].every((script) => own.includes(script));
};

const writtenIn = (scripts: TextScripts): readonly LanguageCode[] =>
  LANGUAGE_CODES.filter((code) => isWrittenIn(scripts, code));

/** The languages in Latin letters, computed once because most texts are in one of them. */
const LATIN_ALONE = writtenIn(new Set());

/** The languages that a text in these scripts may be in, the likeliest first: English for Latin letters alone. */
export const languagesIn = (scripts: TextScripts): readonly LanguageCode[] =>
  scripts.size === 0 ? LATIN_ALONE : writtenIn(scripts);

export interface LikelyLanguages {
  /** The languages that a text may be in, the likeliest first. */
  readonly languages: readonly LanguageCode[];
  /** Whether it can hardly be in another language than the first. */
  readonly sure: boolean;
  /** Whether it tells no language at all, as numbers and names do: whoever speaks reads it in their own. */
  readonly neutral: boolean;
}

/** The languages that a text may be in, by scripts and words. */
export function likelyLanguages(text: string, scripts: TextScripts): LikelyLanguages {
  const languages = languagesIn(scripts);
  if (scripts.size > 0) return { languages, sure: false, neutral: false };
  const told = languageByWords(text);
  if (!told) return { languages, sure: false, neutral: isNeutral(text) };
  return { languages: [...new Set([told.language, ...languages])], sure: told.sure, neutral: false };
}

export const languageOf = (text: string): LanguageCode => languagesIn(scriptsIn(text))[0] ?? 'en';

/** The scripts that a voice of an engine does not read. */
export function unreadBy(
  { languages }: Pick<EngineVoice, 'languages'>,
  { anyScript = false }: Pick<TtsCapabilities, 'anyScript'>,
  scripts: TextScripts,
): readonly TextScript[] {
  if (anyScript) return [];
  const read = new Set<TextScript>(languages.flatMap(scriptsOf));
  return [...scripts].filter((script) => !read.has(script));
}
