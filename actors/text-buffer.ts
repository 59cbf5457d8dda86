/**
 * Text of a stream-input context that waits for its generation (docs/contract/protocol-b.md 3, "Buffering"). A
 * generation begins by itself once as many characters wait as the schedule's next item says; the last item also applies
 * to all later generations. It takes the text up to the last good place to stop, so that no word is cut, and leaves
 * the rest.
 *
 * Invariants: text comes out in the order in which it went in, each character once; blank text never comes out alone.
 * Stops are searched for only in the last LOOK_BACK characters.
 */
import { LIMITS } from '../contracts/limits.js';
import { endsInTag } from '../contracts/text/open-tag.js';

/** Fewest characters of a generation, unless a sentence ends before. */
const LEAST = LIMITS.streamInput.schedule.item.min;

/** Most blanks kept of a message that is all blanks: more carry no meaning. */
const MOST_BLANKS = 8;

/** Characters at the end of the text that are searched for a stop: longer than any sentence that matters. */
const LOOK_BACK = 600;

const SENTENCE = /[.!?…][\p{Pe}\p{Pf}"']*\s+|[。！？｡][\p{Pe}\p{Pf}]*\s*/gu;
/** Places where a generation may stop, best first: after a sentence, a clause, a word. */
const STOPS = [SENTENCE, /[,;:—–][\p{Pe}\p{Pf}"']*\s+|[、，；：][\p{Pe}\p{Pf}]*\s*/gu, /\s+/gu] as const;

/** Position after the last match that is in no tag; 0 if there is none. */
function lastEnd(text: string, stop: RegExp): number {
  const from = Math.max(0, text.length - LOOK_BACK);
  const ends = [...text.slice(from).matchAll(stop)].map(({ 0: match, index }) => from + index + match.length);
  return ends.findLast((end) => !endsInTag(text, end)) ?? 0;
}

/** Position of the best place to stop that has at least `least` characters before it; 0 if there is none. */
function stopIn(text: string, least: number): number {
  for (const stop of STOPS) {
    const end = lastEnd(text, stop);
    if (end >= least) return end;
  }
  return 0;
}

export const isBlank = (text: string): boolean => !/\S/u.test(text);

export class TextBuffer {
  #text = '';
  #bytes = 0;
  #generations = 0;
  /** Whether the next character begins a word. */
  #atBlank = true;

  /** `schedule`: how many characters must wait for the first generation, the second and so on; at least one item. */
  constructor(private readonly schedule: readonly number[]) {}

  /** Size of the text in UTF-8. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Adds text. A blank after a blank, or before all text, adds nothing: clients send it to keep the context alive. */
  add(text: string): void {
    const blank = isBlank(text);
    if (text === '' || (blank && this.#atBlank)) return;
    const added = blank ? text.slice(0, MOST_BLANKS) : text;
    this.#text += added;
    this.#bytes += Buffer.byteLength(added);
    this.#atBlank = /\s$/u.test(added);
  }

  /** The text of a generation that begins by itself; undefined while too little text waits. */
  due(): string | undefined {
    const wanted = this.schedule[this.#generations] ?? this.schedule.at(-1) ?? LEAST;
    if (this.#text.length < wanted) return undefined;
    const { length } = this.#text;
    return this.#give(stopIn(this.#text, LEAST) || (endsInTag(this.#text, length) ? 0 : length));
  }

  /** The text of a generation that the client asks for; undefined if there is no good place to stop yet. */
  ripe(): string | undefined {
    return this.#give(lastEnd(this.#text, SENTENCE) || stopIn(this.#text, LEAST));
  }

  /** All waiting text; undefined if it is blank. */
  rest(): string | undefined {
    return this.#give(this.#text.length);
  }

  #give(length: number): string | undefined {
    const text = this.#text.slice(0, length);
    if (isBlank(text)) return undefined;
    this.#text = this.#text.slice(length);
    this.#bytes = this.#text === '' ? 0 : this.#bytes - Buffer.byteLength(text);
    this.#generations += 1;
    return text;
  }
}
