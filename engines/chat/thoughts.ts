/**
 * Removes a model's thoughts, which nobody wants to hear, if the server does not separate them from the answer: the text between
 * two marks at the beginning (Qwen, DeepSeek, Mistral, Gemini and others), or before the closing mark alone, if the model's
 * template has the opening one (Qwen3-Thinking, DeepSeek-R1).
 */
const MARKS: readonly (readonly [begins: string, ends: string])[] = [
  ['<think>', '</think>'],
  ['<thought>', '</thought>'],
  ['[THINK]', '[/THINK]'],
  ['<seed:think>', '</seed:think>'],
];
const [[BEGINS, ENDS]] = MARKS as [(typeof MARKS)[number]];

/** What is known of a model after its earlier answers. */
export interface ReasoningHabit {
  /** Its answers begin with a thought, although no mark says so. */
  thinksFirst: boolean;
}

export class WithoutReasoning {
  #state: 'beginning' | 'thinking' | 'guessing' | 'answering' = 'beginning';
  #ends = ENDS;
  /** Text that may still be a thought, part of a mark, or white space before one. */
  #held = '';
  /** What was spoken, where the closing mark could follow; undefined once it cannot. */
  #spoken: string | undefined = '';

  constructor(private readonly habit: ReasoningHabit) {}

  /** The part of the next text that is spoken. */
  take(text: string): string {
    if (this.#state === 'answering') return this.#watch(text);
    this.#held += text;
    if (this.#state === 'beginning') return this.#begin();
    return this.#state === 'thinking' ? this.#think() : this.#guess();
  }

  /** The held text that is spoken once nothing follows. */
  rest(): string {
    if (this.#state === 'guessing') this.habit.thinksFirst = false;
    return this.#state === 'thinking' ? '' : this.#answer(this.#held);
  }

  #begin(): string {
    const text = this.#held.trimStart();
    const marks = MARKS.find(([begins]) => text.startsWith(begins));
    if (marks) {
      this.#state = 'thinking';
      this.#ends = marks[1];
      this.#held = text.slice(marks[0].length);
      return this.#think();
    }
    if (MARKS.some(([begins]) => begins.startsWith(text))) return '';
    if (!this.habit.thinksFirst) return this.#watch(this.#answer(this.#held));
    this.#state = 'guessing';
    return this.#guess();
  }

  #think(): string {
    const end = this.#held.indexOf(this.#ends);
    if (end >= 0) return this.#after(end + this.#ends.length);
    this.#held = this.#held.slice(1 - this.#ends.length);
    return '';
  }

  /** The model has thought first until now: its text waits for the closing mark. */
  #guess(): string {
    const end = this.#held.indexOf(ENDS);
    return end < 0 ? '' : this.#after(end + ENDS.length);
  }

  /** Notices a closing mark without an opening one: what was before it cannot be taken back, but the next answers will wait for it. */
  #watch(text: string): string {
    if (this.#spoken === undefined) return text;
    const before = this.#spoken.length;
    this.#spoken += text;
    const end = this.#spoken.indexOf(ENDS, Math.max(0, before - ENDS.length));
    if (end < 0) return text;
    const isThought = !this.#spoken.includes(BEGINS);
    const answer = this.#spoken.slice(end + ENDS.length).trimStart();
    this.#spoken = undefined;
    if (!isThought) return text;
    this.habit.thinksFirst = true;
    return answer;
  }

  #after(end: number): string {
    this.#spoken = undefined;
    return this.#answer(this.#held.slice(end).trimStart());
  }

  #answer(text: string): string {
    this.#state = 'answering';
    this.#held = '';
    return text;
  }
}
