/**
 * Word times from Flite's phones. Flite prints phones without words, so each word's phones are learnt by
 * saying the words separately once, with the fastest voice, and the phones of the utterance
 * are then aligned with them. The alignment tolerates phones that differ by voice or neighbouring word.
 */
import { LRUCache } from 'lru-cache';
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { PAUSE, type FliteProgram, type Phone } from './program.js';
import { isSounding, type SpokenWord } from './spoken-text.js';

const LEXICON_VOICE = 'kal16';
const LEXICON_WORDS = 20_000;
const FULL_STOPS = /[,.;:!?]+$/u;

type Pronunciation = readonly string[];

const bare = (word: SpokenWord): string => word.spoken.replace(FULL_STOPS, '').toLowerCase();

/** The runs of phones between pauses. */
function groupsOf(phones: readonly Phone[]): string[][] {
  const groups: string[][] = [[]];
  for (const { name } of phones) {
    if (name !== PAUSE) groups.at(-1)?.push(name);
    else if (groups.at(-1)?.length) groups.push([]);
  }
  return groups.filter(({ length }) => length > 0);
}

/** Learns how words are pronounced, and keeps the most recently used ones. */
export class Lexicon {
  readonly #program: FliteProgram;
  readonly #known = new LRUCache<string, Pronunciation>({ max: LEXICON_WORDS });

  constructor(program: FliteProgram) {
    this.#program = program;
  }

  /** The phones of each word, in order. */
  pronounce(words: readonly SpokenWord[]): Pronunciation[] {
    const found = new Map(words.map((word) => [bare(word), this.#known.get(bare(word))]));
    this.#learn(found);
    return words.map((word) => found.get(bare(word)) ?? []);
  }

  #learn(found: Map<string, Pronunciation | undefined>): void {
    const unknown = [...found].filter(([, phones]) => !phones).map(([word]) => word);
    if (unknown.length === 0) return;
    const groups = this.#say(unknown.join(', '));
    const exact = groups.length === unknown.length;
    unknown.forEach((word, index) => {
      // A word with a pause inside shifts the groups: then each word is said alone.
      const phones = exact ? (groups[index] ?? []) : this.#say(word).flat();
      found.set(word, phones);
      this.#known.set(word, phones);
    });
  }

  #say(text: string): string[][] {
    return groupsOf(this.#program(text, { voice: LEXICON_VOICE, speed: 1 }).phones);
  }
}

const SKIP_COST = 1;
const CHANGE_COST = 1.2;
const MATCH = 0;
const SKIP_EXPECTED = 1;
const SKIP_HEARD = 2;

/** For each phone heard, the index of the word it belongs to, by edit distance to the phones expected. */
function align(heard: readonly string[], expected: readonly string[], wordOf: readonly number[]): number[] {
  const width = expected.length + 1;
  const steps = new Uint8Array((heard.length + 1) * width);
  let above = Float64Array.from({ length: width }, (_, column) => column * SKIP_COST);
  steps.fill(SKIP_EXPECTED, 0, width);
  for (let row = 1; row <= heard.length; row++) {
    const costs = new Float64Array(width);
    costs[0] = row * SKIP_COST;
    steps[row * width] = SKIP_HEARD;
    for (let column = 1; column < width; column++) {
      const change = heard[row - 1] === expected[column - 1] ? 0 : CHANGE_COST;
      const options = [
        above[column - 1]! + change,
        costs[column - 1]! + SKIP_COST,
        above[column]! + SKIP_COST,
      ];
      const best = options.indexOf(Math.min(...options));
      costs[column] = options[best]!;
      steps[row * width + column] = best;
    }
    above = costs;
  }
  return walkBack(steps, heard.length, width, wordOf);
}

function walkBack(steps: Uint8Array, rows: number, width: number, wordOf: readonly number[]): number[] {
  const words = new Array<number>(rows).fill(0);
  let column = width - 1;
  for (let row = rows; row > 0;) {
    const step = steps[row * width + column];
    if (step === SKIP_EXPECTED) column -= 1;
    else {
      words[row - 1] = wordOf[Math.max(0, column - 1)] ?? 0;
      row -= 1;
      if (step === MATCH) column -= 1;
    }
  }
  return words;
}

interface Sound {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

const soundsOf = (phones: readonly Phone[]): Sound[] =>
  phones
    .map(({ name, end }, index) => ({ name, start: phones[index - 1]?.end ?? 0, end }))
    .filter(({ name }) => name !== PAUSE);

/**
 * The times of the words in an utterance, in seconds from the start of its phones. Every sounding word
 * has one, in order; a word without any matching phone has no duration.
 */
export function wordTimes(
  words: readonly SpokenWord[],
  phones: readonly Phone[],
  lexicon: Lexicon,
): TimedWord[] {
  const sounding = words.filter(isSounding);
  const pronounced = lexicon.pronounce(sounding);
  const expected = pronounced.flat();
  const wordOf = pronounced.flatMap((group, word) => group.map(() => word));
  const sounds = soundsOf(phones);
  const owners = align(
    sounds.map(({ name }) => name),
    expected,
    wordOf,
  );
  let last = sounds[0]?.start ?? 0;
  return sounding.map(({ text }, word) => {
    const first = sounds[owners.indexOf(word)];
    const start = Math.max(last, first?.start ?? last);
    last = Math.max(start, sounds[owners.lastIndexOf(word)]?.end ?? start);
    return { text, start, end: last };
  });
}
