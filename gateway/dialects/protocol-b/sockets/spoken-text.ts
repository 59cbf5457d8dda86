/**
 * The times at which characters of a context's text are spoken. Text is added as the feed is given it, pieces come as
 * they are spoken; the blanks between them belong to the text and are told behind the piece that they follow.
 *
 * Invariants: characters come out in the order of the text, each once, whole code points, no time going back; what
 * is kept is text that has not been heard yet. An engine without timing has no characters.
 */
import type { SpokenPiece } from '../../../../contracts/ports/speech.js';
import { type CharacterTimes, characterTimes } from '../alignment.js';
import { withoutMarks } from '../word-runs.js';
import type { Character } from './server-frames.js';

const SOUNDING = /[\p{L}\p{N}]/u;

const milliseconds = (seconds: number): number => Math.round(seconds * 1000);

const blanksIn = (text: string): string => /^\s*/u.exec(text)?.[0] ?? '';

/** Behind the last word that the engine has named. */
function namedUntil({ text, words = [] }: SpokenPiece): number {
  let named = 0;
  for (const word of words) {
    const bare = withoutMarks(word.text);
    const at = text.indexOf(bare, named);
    if (at >= 0) named = at + bare.length;
  }
  return named;
}

/** Whether that is its last word: many engines know all of them before they have made the audio. */
export const isNamed = (piece: SpokenPiece): boolean => !SOUNDING.test(piece.text.slice(namedUntil(piece)));

/** As if its audio were over with what there is of it. */
const asComplete = (piece: SpokenPiece): SpokenPiece => ({
  ...piece,
  complete: true,
  duration: Math.max(piece.duration, piece.words?.at(-1)?.end ?? 0),
});

/** The characters whose times will not change any more. */
function settledTimes(piece: SpokenPiece): CharacterTimes | undefined {
  if (piece.complete || !isNamed(piece)) return characterTimes(piece);
  // Characters behind the last word have no time of their own yet.
  const all = characterTimes(asComplete(piece));
  return all && { ...all, chars: [...piece.text.slice(0, namedUntil(piece))] };
}

export class SpokenText {
  /** Text that no piece has taken yet, and where it begins in the whole. */
  #ahead = '';
  #at = 0;
  #piece = { index: -1, told: 0, whole: true };
  #last = 0;
  #known: Character[] = [];
  #timed = false;

  /** Whether the engine tells times at all. */
  get timed(): boolean {
    return this.#timed;
  }

  add(text: string): void {
    this.#ahead += text;
  }

  /**
   * Takes in what the piece says; `last` where nothing more can be expected of it now. True where all of its
   * characters are known, or none will ever be.
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

  /** The characters that begin before that millisecond; they are given once. */
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

  /** Seconds. */
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
