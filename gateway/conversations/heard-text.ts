/**
 * How much of a reply has been heard, in words: pieces of speech and the times of their words against the
 * milliseconds that have been played.
 */
import type { SpokenPiece } from '../../contracts/ports/speech.js';

/** The end of a word in its piece's text, searched behind `from`; `from` where it is not found. */
function endOf(word: string, text: string, from: number): number {
  const at = text.indexOf(word, from);
  return at < 0 ? from : at + word.length;
}

/** Parts Japanese and Chinese too, which have no blanks. */
const segmenter = new Intl.Segmenter(undefined, { granularity: 'word' });

/** Where the last word begins that a part of the text may have reached: the words before it are whole. */
function share(text: string, part: number): number {
  const reached = Math.floor(text.length * part);
  let begun = 0;
  for (const { index, isWordLike } of segmenter.segment(text)) {
    if (index > reached) break;
    if (isWordLike) begun = index;
  }
  return begun;
}

/**
 * Seconds that a slow voice takes for a character, and for one of Chinese, Japanese or Korean: how long a piece that is still
 * made will be. Whatever is made ahead of the playout would else count as all of it, and too much as heard.
 */
const SLOW = { letter: 0.08, sign: 0.2 };
const SIGN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;

function lengthOf({ text, duration, complete }: SpokenPiece): number {
  if (complete) return duration;
  const signs = text.match(SIGN)?.length ?? 0;
  return Math.max(duration, signs * SLOW.sign + (text.length - signs) * SLOW.letter);
}

/** How many characters of a piece are heard `seconds` after its start; without word times, by their share of it. */
function heardOf(piece: SpokenPiece, seconds: number): number {
  const { text, words } = piece;
  const length = lengthOf(piece);
  if (!words) return share(text, length === 0 ? 0 : Math.min(1, seconds / length));
  let end = 0;
  for (const word of words) {
    // Half a word is understood.
    if ((word.start + word.end) / 2 > seconds) break;
    end = endOf(word.text, text, end);
  }
  return end;
}

/** Played times are counted in frames: what is over by less than one is over. */
const FRAME_SECONDS = 0.02;

export class HeardText {
  readonly #pieces: SpokenPiece[] = [];

  /** The newest state of a piece. */
  note(piece: SpokenPiece): void {
    this.#pieces[piece.index] = piece;
  }

  /** How many characters of the text are heard after `ms` of playout. */
  at(ms: number): number {
    const seconds = ms / 1000;
    let heard = 0;
    for (const piece of this.#pieces) {
      const over = piece.complete && piece.offset + piece.duration <= seconds + FRAME_SECONDS;
      if (over) heard = piece.at + piece.text.length;
      else if (piece.offset < seconds) return piece.at + heardOf(piece, seconds - piece.offset);
      else break;
    }
    return heard;
  }
}
