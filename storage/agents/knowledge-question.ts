/**
 * What is looked up of a question. A question is made of the last turns, the newest first; a word counts less the longer ago it
 * was said. German writes as one word what others write as several, so the parts of a long word are looked up, too.
 */
import { LIMITS } from '../../contracts/limits.js';
import { spacedOf } from './knowledge-terms.js';

const { query: MOST_CHARACTERS } = LIMITS.knowledge;

/** Words for one configuration of text search, and how much each of them counts. */
export interface Asked {
  readonly configuration: string;
  readonly words: string;
  readonly weight: number;
}

const AN_EARLIER_TURN = 0.7;
const A_PART = 0.5;

const COMPOUNDING = 'german';
const LONG_WORD = /\p{L}{8,24}/gu;
const SHORTEST_PART = 4;

/** Beginnings and ends of a word: only those that are words of a source will be found. */
function partsOf(word: string): string[] {
  const letters = [...word];
  const cuts = letters.slice(SHORTEST_PART, 1 - SHORTEST_PART).map((_, index) => index + SHORTEST_PART);
  return cuts.flatMap((at) => [letters.slice(0, at).join(''), letters.slice(at).join('')]);
}

const compounds = (text: string): string => (text.match(LONG_WORD) ?? []).flatMap(partsOf).join(' ');

/** `question`: a turn a line, the newest first. */
export function askedOf(question: string, configurations: readonly string[]): readonly Asked[] {
  const turns = question
    .slice(0, MOST_CHARACTERS)
    .replaceAll('\0', ' ')
    .split('\n')
    .filter((turn) => turn.trim() !== '');
  return configurations.flatMap((configuration) =>
    turns.flatMap((turn, age) => {
      const weight = AN_EARLIER_TURN ** age;
      const parts = configuration === COMPOUNDING ? compounds(turn) : '';
      return [
        { configuration, words: spacedOf(turn), weight },
        ...(parts === '' ? [] : [{ configuration, words: spacedOf(parts), weight: weight * A_PART }]),
      ];
    }),
  );
}
