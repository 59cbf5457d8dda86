/**
 * The text of one synthesis while it is still arriving: a socket adds to it, the speech port reads it.
 *
 * Invariants: text comes out in the order in which it went in; waiting text, with PIECE_BYTES for each waiting flush, never
 * exceeds the budget in bytes, and takes hardly more memory than that, however small the pieces are;
 * after `end` the waiting text is still read, and then the reader is done. One reader, which may leave early.
 */
import { PIECE_BYTES } from '../contracts/ports/accounts/memory.js';
import type { TextPart } from '../contracts/ports/speech/speech.js';

/** Most text that the reader is given at once, in UTF-16 units. */
const SLICE = 4096;

/** Pieces after which a part is made one string: until then each keeps an object of its own. */
const MOST_PIECES = 256;

const FLUSH: TextPart = { kind: 'flush' };

type Step = IteratorResult<TextPart, undefined>;
const DONE: Step = { done: true, value: undefined };

export class TextFeed implements AsyncIterableIterator<TextPart> {
  #parts: TextPart[] = [];
  #bytes = 0;
  /** Flushes that wait. */
  #flushes = 0;
  /** Pieces of the last part that are not one string yet. */
  #pieces = 0;
  #ended = false;
  #waiting: ((step: Step) => void) | undefined;

  /** `read` is called when text or flushes have left it. */
  constructor(
    private readonly budgetBytes: number,
    private readonly read: () => void = () => undefined,
  ) {}

  /** Size of the waiting text in UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that count in the budget. */
  get memory(): number {
    return this.#bytes + PIECE_BYTES * this.#flushes;
  }

  /** Returns false, and adds nothing, if the text exceeds the budget. */
  add(text: string): boolean {
    const bytes = Buffer.byteLength(text);
    if (this.memory + bytes > this.budgetBytes) return false;
    if (this.#ended || text === '') return true;
    this.#bytes += bytes;
    this.#append(text);
    this.#serve();
    return true;
  }

  /** Requests that all text so far is spoken without waiting for more. */
  flush(): void {
    if (this.#ended || this.#parts.at(-1)?.kind === 'flush') return;
    this.#parts.push(FLUSH);
    this.#flushes += 1;
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
    this.#flushes = 0;
    this.read();
    this.end();
    return Promise.resolve(DONE);
  }

  #append(text: string): void {
    const last = this.#parts.at(-1);
    if (last?.kind !== 'text' || last.text.length >= SLICE) {
      this.#parts.push({ kind: 'text', text });
      this.#pieces = 1;
      return;
    }
    const joined = last.text + text;
    this.#parts[this.#parts.length - 1] = { kind: 'text', text: joined };
    this.#pieces += 1;
    if (this.#pieces < MOST_PIECES && joined.length < SLICE) return;
    // Reading a character makes one string of a string that was joined.
    joined.charCodeAt(0);
    this.#pieces = 1;
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
    if (part.kind === 'flush') this.#flushes -= 1;
    if (this.#parts.length === 0) this.#bytes = 0;
    else if (part.kind === 'text') this.#bytes -= Buffer.byteLength(part.text);
    this.read();
    return { done: false, value: part };
  }
}
