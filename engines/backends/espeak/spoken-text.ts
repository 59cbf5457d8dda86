/**
 * Text as eSpeak can say it, made of units that know their words: what it would read as markup, entities or
 * phonemes is taken out, and every character of what is spoken belongs to one word of the source.
 */
import type { LanguageCode } from '../../../contracts/languages.js';
import { wordPlaces } from '../../alignment/transcript-words.js';
import { spokenForms } from '../../normalisation/index.js';
import { hasSound } from '../sound.js';

export interface Unit {
  /** The word as it stands in the source. */
  readonly text: string;
  readonly spoken: string;
  /** Nothing stands between it and the unit before. */
  readonly glued: boolean;
}

/** Markup, phoneme brackets, control and format characters, halves of surrogate pairs. */
const UNSPEAKABLE = /[<>[\]\\\p{C}]/gu;
/** An ampersand before a name would begin an entity. */
const ENTITY = /&(?=[#\w])/gu;

const spokenForm = (word: string): string => word.replace(UNSPEAKABLE, ' ').replace(ENTITY, '& ').trim();

const isSounding = ({ spoken }: Unit): boolean => hasSound(spoken);

/** Units without a sound end the pause of the one before them. */
function withoutSilent(units: readonly Unit[]): Unit[] {
  const kept: Unit[] = [];
  for (const unit of units) {
    const before = kept.at(-1);
    if (isSounding(unit)) kept.push(unit);
    else if (before) kept[kept.length - 1] = { ...before, spoken: before.spoken + unit.spoken };
  }
  return kept;
}

/** Makes units of words; `glued` says that nothing stands between a word and the one before. */
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

export interface SpokenText {
  readonly text: string;
  /** Where each unit begins, in characters (code points). */
  readonly begins: readonly number[];
}

/** The text for eSpeak; empty without units. */
export function spokenText(units: readonly Unit[]): SpokenText {
  let text = '';
  let length = 0;
  const begins = units.map(({ spoken, glued }) => {
    const gap = text === '' || glued ? '' : ' ';
    const begin = length + gap.length;
    text += gap + spoken;
    length = begin + [...spoken].length;
    return begin;
  });
  return { text, begins };
}
