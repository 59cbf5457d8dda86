/**
 * Text in units that know their words: everything that a program would take for markup, entities or phonemes is removed,
 * and every spoken character belongs to one word of the source.
 */
import type { LanguageCode } from '../../contracts/speech/languages.js';
import { wordPlaces } from '../alignment/transcript-words.js';
import { spokenForms } from '../normalisation/index.js';
import { hasSound } from './sound.js';

export interface Unit {
  /** The word as written in the source. */
  readonly text: string;
  readonly spoken: string;
  /** Whether it follows the previous unit without a gap. */
  readonly glued: boolean;
}

/** Markup, phoneme brackets, control and format characters, halves of surrogate pairs. */
const UNSPEAKABLE = /[<>[\]\\\p{C}]/gu;
/** An ampersand before a name, which would begin an entity. */
const ENTITY = /&(?=[#\w])/gu;

const spokenForm = (word: string): string => word.replace(UNSPEAKABLE, ' ').replace(ENTITY, '& ').trim();

const isSounding = ({ spoken }: Unit): boolean => hasSound(spoken);

/** Appends units without a sound to the one before them. */
function withoutSilent(units: readonly Unit[]): Unit[] {
  const kept: Unit[] = [];
  for (const unit of units) {
    const before = kept.at(-1);
    if (isSounding(unit)) kept.push(unit);
    else if (before) kept[kept.length - 1] = { ...before, spoken: before.spoken + unit.spoken };
  }
  return kept;
}

export const unitsFrom = (words: readonly Unit[]): Unit[] =>
  withoutSilent(words.map((word) => ({ ...word, spoken: spokenForm(word.spoken) })));

/** `normalize`: whether numbers and abbreviations are written out. */
export function unitsOf(text: string, language: LanguageCode = 'en', normalize = true): Unit[] {
  const places = wordPlaces(text);
  const words = places.map(({ text: word }) => word);
  const said = normalize ? spokenForms(words, language) : words;
  return unitsFrom(
    places.map(({ text: word, at }, index) => ({
      text: word,
      spoken: said[index] ?? word,
      glued: at > 0 && !/\s/u.test(text[at - 1]!),
    })),
  );
}
