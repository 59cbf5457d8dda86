/** A block of protocol that has begun in an answer and arrives in pieces, until one of its ends. */
import { BracketEnd } from './bracket-end.js';
import type { ReadCalls } from './written-call.js';

export interface BlockEnds {
  /** Are part of the block. */
  readonly ends?: readonly string[];
  /** Begin something else. */
  readonly before?: readonly string[];
  /** It ends with the bracket that closes its first one; these are the quotation marks in it. */
  readonly quotes?: string;
}

export interface BlockKind extends BlockEnds {
  /** Absent: nobody hears it, and it does nothing. */
  readonly calls?: ReadCalls | undefined;
  /**
   * Its marks are of no language, so it counts wherever it stands apart. Otherwise (JSON, Python, a fence) it may be an
   * example, and counts only if nothing is said behind it.
   */
  readonly strong: boolean;
}

/** Longest end of a block. */
const MOST_END = 40;

export class OpenBlock {
  readonly #parts: string[] = [];
  /** The end of what has arrived, which may be the beginning of an end. */
  #tail = '';
  readonly #brackets: BracketEnd | undefined;

  /** `mark`: its beginning, which is no part of the body. */
  constructor(
    readonly kind: BlockKind,
    private readonly mark: string,
  ) {
    this.#brackets = kind.quotes === undefined ? undefined : new BracketEnd(kind.quotes);
  }

  /** Takes the part of a piece that belongs to it; returns its length if the block ends there. */
  take(piece: string): number | undefined {
    const end = this.#brackets ? this.#brackets.in(piece) : this.#endIn(piece);
    this.#parts.push(end === undefined ? piece : piece.slice(0, end));
    return end;
  }

  /** All of it, as it was written. */
  get raw(): string {
    return this.mark + this.#parts.join('');
  }

  /** What stands between its marks. */
  get body(): string {
    const whole = this.#parts.join('');
    const end = this.kind.ends?.find((mark) => whole.endsWith(mark));
    return end === undefined ? whole : whole.slice(0, -end.length);
  }

  #endIn(piece: string): number | undefined {
    const { ends = [], before = [] } = this.kind;
    const text = this.#tail + piece;
    const found = [
      ...ends.map((mark) => [text.indexOf(mark), mark.length] as const),
      ...before.map((mark) => [text.indexOf(mark), 0] as const),
    ].filter(([at]) => at >= 0);
    if (found.length === 0) {
      this.#tail = text.slice(-MOST_END);
      return undefined;
    }
    const [at, length] = found.reduce((first, next) => (next[0] < first[0] ? next : first));
    return Math.max(0, at + length - this.#tail.length);
  }
}
