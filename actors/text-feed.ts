/**
 * The text of one synthesis while it is still arriving: a socket adds to it, the speech port reads it.
 *
 * Invariants: text comes out in the order in which it went in; waiting text never exceeds the budget in bytes;
 * after `end` the waiting text is still read, and then the reader is done. One reader, which may leave early.
 */
import type { TextPart } from '../contracts/ports/speech/speech.js';

/** Most text that the reader is given at once, in UTF-16 units. */
const SLICE = 4096;

const FLUSH: TextPart = { kind: 'flush' };

type Step = IteratorResult<TextPart, undefined>;
const DONE: Step = { done: true, value: undefined };

export class TextFeed implements AsyncIterableIterator<TextPart> {
  #parts: TextPart[] = [];
  #bytes = 0;
  #ended = false;
  #waiting: ((step: Step) => void) | undefined;

  constructor(private readonly budgetBytes: number) {}

  /** Size of the waiting text in UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns false, and adds nothing, if the text exceeds the budget. */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.#bytes + bytes > this.budgetBytes) return false;
    if (this.#ended || text === '') return true;
    const last = this.#parts.at(-1);
    this.#bytes += bytes;
    if (last?.kind === 'text') this.#parts[this.#parts.length - 1] = { kind: 'text', text: last.text + text };
    else this.#parts.push({ kind: 'text', text });
    this.#serve();
    return true;
  }

  /** Requests that all text so far is spoken without waiting for more. */
  flush(): void {
    if (this.#ended || this.#parts.at(-1)?.kind === 'flush') return;
    this.#parts.push(FLUSH);
    this.#serve();
  }

  /** Declares that no more text will come. Idempotent. */
  end(): void {
    this.#ended = true;
    this.#serve();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  next(): Promise<Step> {
    const step = this.#take();
    if (step) return Promise.resolve(step);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  /** The reader leaves: drops the waiting text and takes no more. */
  return(): Promise<Step> {
    this.#parts = [];
    this.#bytes = 0;
    this.end();
    return Promise.resolve(DONE);
  }

  #serve(): void {
    const step = this.#waiting && this.#take();
    if (!step) return;
    this.#waiting?.(step);
    this.#waiting = undefined;
  }

  #take(): Step | undefined {
    const first = this.#parts[0];
    if (!first) return this.#ended ? DONE : undefined;
    if (first.kind === 'flush' || first.text.length <= SLICE) {
      this.#parts.shift();
      return this.#give(first);
    }
    this.#parts[0] = { kind: 'text', text: first.text.slice(SLICE) };
    return this.#give({ kind: 'text', text: first.text.slice(0, SLICE) });
  }

  /** Counts from the beginning once nothing waits: the parts of a character that was cut have other sizes than the whole. */
  #give(part: TextPart): Step {
    if (this.#parts.length === 0) this.#bytes = 0;
    else if (part.kind === 'text') this.#bytes -= Buffer.byteLength(part.text);
    return { done: false, value: part };
  }
}
