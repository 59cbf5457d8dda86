/**
 * Removes a model's thoughts, which nobody wants to hear: the text between `<think>` and `</think>` at the beginning, if
 * the server does not separate it from the answer (Qwen, DeepSeek and others on local servers).
 */
const BEGINS = '<think>';
const ENDS = '</think>';

export class WithoutThoughts {
  #state: 'beginning' | 'thinking' | 'answering' = 'beginning';
  /** Text that may still be part of a tag, or of white space before one. */
  #held = '';

  /** The part of the next text that is spoken. */
  take(text: string): string {
    if (this.#state === 'answering') return text;
    this.#held += text;
    return this.#state === 'beginning' ? this.#begin() : this.#think();
  }

  /** The held text that is spoken once nothing follows. */
  rest(): string {
    return this.#state === 'beginning' ? this.#answer(this.#held) : '';
  }

  #begin(): string {
    const text = this.#held.trimStart();
    if (!text.startsWith(BEGINS)) return BEGINS.startsWith(text) ? '' : this.#answer(this.#held);
    this.#state = 'thinking';
    this.#held = text.slice(BEGINS.length);
    return this.#think();
  }

  #think(): string {
    const end = this.#held.indexOf(ENDS);
    if (end >= 0) return this.#answer(this.#held.slice(end + ENDS.length).trimStart());
    this.#held = this.#held.slice(1 - ENDS.length);
    return '';
  }

  #answer(text: string): string {
    this.#state = 'answering';
    this.#held = '';
    return text;
  }
}
