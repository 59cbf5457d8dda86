/** Units of text as eSpeak is given them: one text, and where in it each unit begins. */
import type { Unit } from '../spoken-units.js';

export interface EspeakText {
  readonly text: string;
  /** The start of each unit, in characters (code points). */
  readonly begins: readonly number[];
}

/** The text for eSpeak; empty if there are no units. */
export function spokenText(units: readonly Unit[]): EspeakText {
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
