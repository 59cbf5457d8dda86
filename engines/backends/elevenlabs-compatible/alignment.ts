/** Times of characters, as the service tells them with its audio, to words. */
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';

const MS_A_SECOND = 1000;
/** By so much times may be rounded, and overlap. */
const ROUNDED_MS = 50;

interface TimedCharacters {
  readonly chars: readonly string[];
  /** Milliseconds. */
  readonly starts: readonly number[];
  readonly lengths: readonly number[];
}

const isTexts = (list: unknown): list is readonly string[] =>
  Array.isArray(list) && list.every((each) => typeof each === 'string');
const isTimes = (list: unknown): list is readonly number[] =>
  Array.isArray(list) && list.every((each) => typeof each === 'number' && each >= 0);

/** Undefined if there are none, or their lists do not fit each other. */
function charactersIn(alignment: unknown): TimedCharacters | undefined {
  if (!isPlainObject(alignment)) return undefined;
  const { chars, charStartTimesMs: starts, charDurationsMs: lengths } = alignment;
  if (!isTexts(chars) || !isTimes(starts) || !isTimes(lengths)) return undefined;
  return starts.length === chars.length && lengths.length === chars.length
    ? { chars, starts, lengths }
    : undefined;
}

/**
 * The words of one text. Some services count times from the beginning of the speech, others from that of each part that they have made in
 * one go: who begins again before the end of what was told counts from the audio before it.
 */
export class AlignedWords {
  #word = '';
  #start = 0;
  #end = 0;
  /** Audio before the part that is told, in ms. */
  #base = 0;

  /** The words that are whole by these times. `audioMs`: all audio before that with which they came. */
  add(alignment: unknown, audioMs: number): TimedWord[] {
    const found = charactersIn(alignment);
    if (!found || found.chars.length === 0) return [];
    const { chars, starts, lengths } = found;
    if (this.#base + starts[0]! + ROUNDED_MS < this.#end) this.#base = audioMs;
    return chars.flatMap((char, at) => this.#take(char, this.#base + starts[at]!, lengths[at]!));
  }

  /** The word that has not come to its end. */
  rest(): TimedWord[] {
    const word = { text: this.#word, start: this.#start / MS_A_SECOND, end: this.#end / MS_A_SECOND };
    this.#word = '';
    return word.text === '' ? [] : [word];
  }

  #take(char: string, start: number, length: number): TimedWord[] {
    if (/^\s*$/u.test(char)) return this.rest();
    if (this.#word === '') this.#start = Math.max(start, this.#end);
    this.#word += char;
    this.#end = Math.max(start + length, this.#end);
    return [];
  }
}
