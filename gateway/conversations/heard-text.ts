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

/** Without word times, a part of the text stands for a part of the time, up to a blank. */
const share = (text: string, part: number): number =>
  text.slice(0, Math.floor(text.length * part)).lastIndexOf(' ') + 1;

/** How many characters of a piece are heard `seconds` after its start. */
function heardOf({ text, words, duration }: SpokenPiece, seconds: number): number {
  if (!words) return share(text, duration === 0 ? 0 : Math.min(1, seconds / duration));
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
