/**
 * Finds which words of a reply have been heard, from the times of the words in pieces of speech and the milliseconds
 * played.
 */
import type { SpokenPiece } from '../../../contracts/ports/speech/speech.js';
import { segmentsOf } from '../../../contracts/text/words.js';

/** The end of a word in its piece's text, searched after `from`; `from` if it is not found. */
function endOf(word: string, text: string, from: number): number {
  const at = text.indexOf(word, from);
  return at < 0 ? from : at + word.length;
}

/** Start of the last word that this part of the text may have reached: the words before it are whole. */
function share(text: string, part: number): number {
  const reached = Math.floor(text.length * part);
  let begun = 0;
  for (const { index, isWordLike } of segmentsOf(text)) {
    if (index > reached) break;
    if (isWordLike) begun = index;
  }
  return begun;
}

/**
 * Seconds that a slow voice takes for a letter, and for a character of Chinese, Japanese or Korean: they estimate the length of
 * pieces still being made. Without that, the audio so far would count as the whole piece, and too much text as heard.
 */
const SLOW = { letter: 0.08, sign: 0.2 };
const SIGN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}]/gu;

function lengthOf({ text, duration, complete }: SpokenPiece): number {
  if (complete) return duration;
  const signs = text.match(SIGN)?.length ?? 0;
  return Math.max(duration, signs * SLOW.sign + (text.length - signs) * SLOW.letter);
}

/** Characters of a piece heard `seconds` after its start; estimated by the share of its length if it has no word times. */
function heardOf(piece: SpokenPiece, seconds: number): number {
  const { text, words } = piece;
  const length = lengthOf(piece);
  if (!words) return share(text, length === 0 ? 0 : Math.min(1, seconds / length));
  let end = 0;
  for (const word of words) {
    // A word counts as heard from its middle on.
    if ((word.start + word.end) / 2 > seconds) break;
    end = endOf(word.text, text, end);
  }
  return end;
}

/** Played times count whole frames: a piece that lacks less than one frame has ended. */
const FRAME_SECONDS = 0.02;

export class HeardText {
  readonly #pieces: SpokenPiece[] = [];

  /** Notes the newest state of a piece. */
  note(piece: SpokenPiece): void {
    this.#pieces[piece.index] = piece;
  }

  /** Characters of the text heard after `ms` of playout. */
  at(ms: number): number {
    const seconds = ms / 1000;
    let heard = 0;
    for (const piece of this.#pieces) {
      const over = piece.complete && piece.offset + piece.duration <= seconds + FRAME_SECONDS;
      if (piece.offset >= seconds && !over) break;
      // Behind a piece whose voice failed, another voice may begin with the same text.
      const played = Math.min(seconds - piece.offset, piece.duration);
      heard = Math.max(heard, piece.at + (over ? piece.text.length : heardOf(piece, played)));
    }
    return heard;
  }
}
