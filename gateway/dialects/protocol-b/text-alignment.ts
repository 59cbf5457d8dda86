/**
 * The alignment of a whole text while it is spoken (docs/contract/protocol-b.md 2): every character once, in order, with
 * times in seconds from the start of the audio, including the blanks between pieces.
 *
 * Invariants: the characters returned so far are a prefix of the text; times never go back; a portion has at most
 * `MOST_CHARACTERS`, and a run of blanks is kept as text until it is split into portions.
 */
import { onlyCharacters } from '../../../contracts/text/text.js';
import type { SpokenPiece } from '../../../contracts/ports/speech/speech.js';
import { type CharacterTimes, characterTimes } from './alignment.js';

export const MOST_CHARACTERS = 500;

/** Text that is not spoken. */
interface Pause {
  readonly text: string;
  /** Seconds. */
  readonly at: number;
}

/** A part of the alignment, times from the start of the audio. */
export type AlignedStretch = CharacterTimes | Pause;

const BLANKS = /\s*/y;

function pastBlanks(text: string, from: number): number {
  BLANKS.lastIndex = from;
  return from + (BLANKS.exec(text)?.[0].length ?? 0);
}

/** Moves the index behind a surrogate pair that it would split. */
const wholeAt = (text: string, index: number): number =>
  /[\udc00-\udfff]/.test(text[index] ?? '') ? index + 1 : index;

function* pauseTimes({ text, at }: Pause): Generator<CharacterTimes> {
  for (let from = 0; from < text.length;) {
    const to = wholeAt(text, Math.min(text.length, from + MOST_CHARACTERS - 1));
    const chars = [...text.slice(from, to)];
    const times = chars.map(() => at);
    yield { chars, starts: times, ends: times };
    from = to;
  }
}

/** Splits stretches into portions of at most `MOST_CHARACTERS`. */
export function* portionsOf(stretches: Iterable<AlignedStretch>): Generator<CharacterTimes> {
  for (const stretch of stretches) {
    if ('text' in stretch) yield* pauseTimes(stretch);
    else if (stretch.chars.length > 0) yield stretch;
  }
}

const NOTHING_TOLD = { index: -1, told: 0 };

export class TextAlignment {
  private readonly text: string;
  #current = NOTHING_TOLD;
  /** Start of the text that belongs to no piece yet. */
  #done = 0;
  #untimed = false;

  constructor(text: string) {
    this.text = onlyCharacters(text);
  }

  /** Whether the engine has no timing, so that there is no alignment at all. */
  get untimed(): boolean {
    return this.#untimed;
  }

  /** Adds a spoken piece and returns the times that it settles. Pieces come in order, each repeatedly until complete. */
  add(piece: SpokenPiece): AlignedStretch[] {
    if (piece.words === undefined) this.#untimed = true;
    if (this.#untimed) return [];
    const end = piece.at + piece.text.length;
    const blank = /\s/u.test(this.text[end] ?? '') ? 1 : 0;
    const before = this.#begin(piece, end + blank);
    const after = piece.complete ? this.#after(piece) : [];
    return [...before, this.#more(piece, this.text.slice(piece.at, end + blank)), ...after];
  }

  /** Text before a new piece. */
  #begin({ index, at, offset }: SpokenPiece, end: number): Pause[] {
    if (index === this.#current.index) return [];
    const skipped = { text: this.text.slice(this.#done, at), at: offset };
    this.#current = { index, told: 0 };
    this.#done = end;
    return skipped.text === '' ? [] : [skipped];
  }

  /** Characters of the piece that became known since it was last added. */
  #more(piece: SpokenPiece, text: string): CharacterTimes {
    const { chars = [], starts = [], ends = [] } = characterTimes(piece, text) ?? {};
    const from = this.#current.told;
    this.#current = { index: piece.index, told: chars.length };
    const later = (seconds: number): number => piece.offset + seconds;
    return {
      chars: chars.slice(from),
      starts: starts.slice(from).map(later),
      ends: ends.slice(from).map(later),
    };
  }

  /** Blanks after a complete piece. */
  #after({ offset, duration }: SpokenPiece): Pause[] {
    const end = pastBlanks(this.text, this.#done);
    const rest = { text: this.text.slice(this.#done, end), at: offset + duration };
    this.#done = end;
    return rest.text === '' ? [] : [rest];
  }
}
