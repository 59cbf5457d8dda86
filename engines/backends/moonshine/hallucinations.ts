/**
 * Finds and removes hallucinations of a small recogniser: it hears words in silence, and falls into loops
 * that repeat a phrase until its budget is used up.
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';

/** Shortest audio that can hold a word. */
const LEAST_SECONDS = 0.12;
/** A thousandth of full scale: -60 dB, below any microphone's own noise. */
const SILENT_PEAK = 33;
const LONGEST_LOOP_WORDS = 8;
/** Repeats that count as a loop; people do say a word three times. */
const REPEATS = 4;
/** More characters a second than anybody speaks; a fast talker says 25. */
const CHARACTERS_PER_SECOND = 45;
const SPARE_CHARACTERS = 12;

/** Whether there can be a word in the audio at all. */
export function canHoldSpeech(samples: Int16Array): boolean {
  if (samples.length < LEAST_SECONDS * RECOGNITION_RATE) return false;
  return samples.some((sample) => sample > SILENT_PEAK || sample < -SILENT_PEAK);
}

const plain = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');

/** How many times the `length` words at `from` follow each other. */
function repeatsAt(words: readonly string[], from: number, length: number): number {
  let next = from + length;
  while (next < words.length && words[next] === words[next - length]) next++;
  return Math.floor((next - from) / length);
}

interface Loop {
  readonly at: number;
  readonly length: number;
}

function findLoop(words: readonly string[]): Loop | undefined {
  for (let at = 0; at < words.length; at++) {
    for (let length = 1; length <= LONGEST_LOOP_WORDS; length++) {
      if (repeatsAt(words, at, length) >= REPEATS) return { at, length };
    }
  }
  return undefined;
}

/** The text up to and including the first occurrence of an endlessly repeated phrase. */
export function withoutLoops(text: string): string {
  const words = text.split(/\s+/u).filter(Boolean);
  const loop = findLoop(words.map(plain));
  return loop ? words.slice(0, loop.at + loop.length).join(' ') : text;
}

/** The text without loops; empty if it is too long to be said in `seconds`, or has no word. */
export function plausible(text: string, seconds: number): string {
  const said = withoutLoops(text.trim());
  const most = CHARACTERS_PER_SECOND * seconds + SPARE_CHARACTERS;
  return said.length <= most && /[\p{L}\p{N}]/u.test(said) ? said : '';
}
