/**
 * Stretches of one turn that follow each other, to be transcribed together: a recogniser that hears a group of digits by
 * itself guesses ("two to the air upward" for "two zero one"), and knows them by those around it. Holds their voiced parts, with
 * short pauses between them.
 *
 * Only short stretches need that, with whatever is beside them. What is together stays so: a group that would be too long is
 * followed by another one.
 */
import { RECOGNITION_RATE } from '../../../contracts/audio.js';

/** A shorter stretch needs what is beside it, in bytes of 16-bit samples. */
const SHORT = 2 * RECOGNITION_RATE * 2;
/** Most audio of a group: it is heard again with each stretch. */
const MOST = 10 * RECOGNITION_RATE * 2;
/** Between two parts. */
const PAUSE = new Uint8Array(0.1 * RECOGNITION_RATE * 2);

interface Part {
  readonly span: number;
  readonly audio: Uint8Array;
}

/** Audio of a stretch and those before it, since that number. */
export interface Together {
  readonly joins: number;
  readonly chunks: readonly Uint8Array[];
}

export class StretchGroup {
  #parts: readonly Part[] = [];

  /** A stretch begins that belongs together with those since `joins`; undefined: with none. */
  begin(joins = Infinity): void {
    this.#parts = this.#parts.filter(({ span }) => span >= joins);
  }

  /** That voiced part behind the others; undefined if it must be heard by itself. */
  with(audio: Uint8Array): Together | undefined {
    const [first] = this.#parts;
    const last = this.#parts.at(-1);
    if (!first || !last || Math.min(last.audio.length, audio.length) >= SHORT) return undefined;
    const chunks = [...this.#parts.flatMap((part) => [part.audio, PAUSE]), audio];
    const bytes = chunks.reduce((sum, { length }) => sum + length, 0);
    return bytes > MOST ? undefined : { joins: first.span, chunks };
  }

  /** The stretch has ended, with that voiced part, if any. */
  add(span: number, audio: Uint8Array | undefined): void {
    const before = audio && this.with(audio) ? this.#parts : [];
    this.#parts = audio ? [...before, { span, audio }] : [];
  }
}
