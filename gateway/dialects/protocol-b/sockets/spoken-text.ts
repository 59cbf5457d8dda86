/**
 * Times of the characters of a context's text. Text is added when it is fed to the job, pieces when they are spoken;
 * blanks between pieces belong to the text and come after the piece that they follow.
 *
 * Invariants: characters come out in the order of the text, each once, as whole code points, and times never go back;
 * only text that has not been spoken yet is kept. With an engine without timing there are no characters.
 */
import type { SpokenPiece } from '../../../../contracts/ports/speech/speech.js';
import { type CharacterTimes, characterTimes } from '../alignment.js';
import { withoutMarks } from '../word-runs.js';
import type { Character } from './server-frames.js';

const SOUNDING = /[\p{L}\p{N}]/u;

const milliseconds = (seconds: number): number => Math.round(seconds * 1000);

const blanksIn = (text: string): string => /^\s*/u.exec(text)?.[0] ?? '';

/** Position after the last word that the engine has named. */
function namedUntil({ text, words = [] }: SpokenPiece): number {
  let named = 0;
  for (const word of words) {
    const bare = withoutMarks(word.text);
    const at = text.indexOf(bare, named);
    if (at >= 0) named = at + bare.length;
  }
  return named;
}

/** Whether all words of the piece are named; many engines name them before they have made the audio. */
export const isNamed = (piece: SpokenPiece): boolean => !SOUNDING.test(piece.text.slice(namedUntil(piece)));

/** The piece as if its audio ended here. */
const asComplete = (piece: SpokenPiece): SpokenPiece => ({
  ...piece,
  complete: true,
  duration: Math.max(piece.duration, piece.words?.at(-1)?.end ?? 0),
});

/** Characters whose times are final. */
function settledTimes(piece: SpokenPiece): CharacterTimes | undefined {
  if (piece.complete || !isNamed(piece)) return characterTimes(piece);
  // Characters after the last word have no final time yet.
  const all = characterTimes(asComplete(piece));
  return all && { ...all, chars: [...piece.text.slice(0, namedUntil(piece))] };
}

export class SpokenText {
  /** Text that belongs to no piece yet, and its position in the whole text. */
  #ahead = '';
  #at = 0;
  #piece = { index: -1, told: 0, whole: true };
  #last = 0;
  #known: Character[] = [];
  #timed = false;

  /** Whether the engine has timing. */
  get timed(): boolean {
    return this.#timed;
  }

  add(text: string): void {
    this.#ahead += text;
  }

  /**
   * Learns the times of a piece; `last`: nothing more of it can be expected now. True if all of its characters are
   * known, or none will ever be.
   */
  learn(heard: SpokenPiece, last = false): boolean {
    if (heard.index !== this.#piece.index) this.#begin(heard);
    if (this.#piece.whole) return true;
    if (heard.words === undefined) return this.#leave(heard);
    this.#timed = true;
    const piece = last && isNamed(heard) ? asComplete(heard) : heard;
    this.#append(piece);
    if (!piece.complete) return false;
    this.#leave(piece);
    this.#blanks(piece.offset + piece.duration);
    return true;
  }

  /** Takes the characters that begin before `until`, in milliseconds. */
  take(until = Infinity): Character[] {
    const later = this.#known.findIndex(({ start }) => start >= until);
    return this.#known.splice(0, later < 0 ? this.#known.length : later);
  }

  #begin({ index, at, offset, words }: SpokenPiece): void {
    this.#piece = { index, told: 0, whole: false };
    if (words) this.#tell(this.#skip(at - this.#at), offset, offset);
    else this.#skip(at - this.#at);
  }

  #append(piece: SpokenPiece): void {
    const { chars = [], starts = [], ends = [] } = settledTimes(piece) ?? {};
    for (let at = this.#piece.told; at < chars.length; at++) {
      this.#tell([chars[at] ?? ''], piece.offset + (starts[at] ?? 0), piece.offset + (ends[at] ?? 0));
    }
    this.#piece = { ...this.#piece, told: chars.length };
  }

  #leave({ text }: SpokenPiece): true {
    this.#skip(text.length);
    this.#piece = { ...this.#piece, whole: true };
    return true;
  }

  #blanks(seconds: number): void {
    this.#tell(this.#skip(blanksIn(this.#ahead).length), seconds, seconds);
  }

  /** `from`, `to`: seconds. */
  #tell(chars: Iterable<string>, from: number, to: number): void {
    const start = Math.max(this.#last, milliseconds(from));
    const end = Math.max(start, milliseconds(to));
    for (const char of chars) {
      this.#known.push({ char, start, end });
      this.#last = end;
    }
  }

  #skip(length: number): string {
    const skipped = this.#ahead.slice(0, Math.max(0, length));
    this.#ahead = this.#ahead.slice(skipped.length);
    this.#at += skipped.length;
    return skipped;
  }
}
