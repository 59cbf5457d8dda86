/**
 * Leaves out what a model thinks before it answers: between `<think>` and `</think>` at the beginning of its text, where the
 * server does not part it from the answer (Qwen, DeepSeek and others on local servers). Nobody wants to hear it.
 */
const BEGINS = '<think>';
const ENDS = '</think>';

export class WithoutThoughts {
  #state: 'beginning' | 'thinking' | 'answering' = 'beginning';
  /** What may still be a part of a tag, or of blanks before one. */
  #held = '';

  /** What is said of the next text. */
  take(text: string): string {
    if (this.#state === 'answering') return text;
    this.#held += text;
    return this.#state === 'beginning' ? this.#begin() : this.#think();
  }

  /** What is said where nothing follows. */
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
