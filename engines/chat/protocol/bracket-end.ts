/** Finds the bracket that closes the first one of a text that arrives in pieces; strings are skipped. Linear in the text. */
const OPENING = '{[(';
const CLOSING = '}])';

export class BracketEnd {
  #depth = 0;
  #quote = '';
  #escaped = false;

  /** `quotes`: characters around strings. */
  constructor(private readonly quotes: string) {}

  /** Index behind the closing bracket in the next piece; undefined if it has not arrived. */
  in(piece: string): number | undefined {
    for (let at = 0; at < piece.length; at += 1) {
      this.#look(piece[at] ?? '');
      if (this.#depth === 0) return at + 1;
    }
    return undefined;
  }

  #look(character: string): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#quote !== '') this.#inString(character);
    else if (this.quotes.includes(character)) this.#quote = character;
    else if (OPENING.includes(character)) this.#depth += 1;
    else if (CLOSING.includes(character)) this.#depth -= 1;
  }

  #inString(character: string): void {
    if (character === '\\') this.#escaped = true;
    else if (character === this.#quote) this.#quote = '';
  }
}
