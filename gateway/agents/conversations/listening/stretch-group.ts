/**
 * Stretches of one turn that follow each other, to be transcribed together: a recogniser that hears a group of digits by
 * itself guesses ("two to the air upward" for "two zero one"), and knows them by those around it. Holds their voiced parts, with
 * short pauses between them.
 *
 * Only short stretches need that, with whatever is beside them. What is together stays so: a group that would be too long is
 * followed by another one.
 */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import { MARGIN } from './voiced-part.js';

/** A shorter stretch needs what is beside it, in bytes of 16-bit samples. */
const SHORT = 2 * RECOGNITION_RATE * 2;
/** Most audio of a group: it is heard again with each stretch. */
const MOST = 10 * RECOGNITION_RATE * 2;
/** Between two parts. */
const PAUSE = new Uint8Array(0.1 * RECOGNITION_RATE * 2);

/** A transcript of a group with fewer units than this share of those known before has left something out. */
const LEAST_SHARE = 0.75;
/** So has one that adds nothing to it for the last part, if that is so long: as many seconds of voice hold a word. */
const LEAST_WORD = 0.5;

/** More than anybody says in a second: a small recogniser adds digits to a number ("347-819-47819"). */
const MOST_PER_SECOND = { digits: 4.5, words: 6 } as const;

const digitsIn = (text: string): number => text.match(/\p{N}/gu)?.length ?? 0;
const wordsIn = (text: string): number => text.match(/\p{L}+/gu)?.length ?? 0;
const unitsIn = (text: string): number => digitsIn(text) + wordsIn(text);

/** Seconds that it takes to say that, at least. */
const leastSeconds = (text: string): number =>
  digitsIn(text) / MOST_PER_SECOND.digits + wordsIn(text) / MOST_PER_SECOND.words;

export class StretchPart {
  #units = 0;

  constructor(
    readonly span: number,
    readonly audio: Uint8Array,
  ) {}

  /** Seconds of voice. */
  get seconds(): number {
    return (this.audio.length / 2 - 2 * MARGIN) / RECOGNITION_RATE;
  }

  /** Words and digits in its transcript. */
  get units(): number {
    return this.#units;
  }

  heard(text: string): void {
    this.#units = unitsIn(text);
  }
}

/** A stretch, and those before it. */
export class JoinedStretches {
  constructor(
    private readonly parts: readonly StretchPart[],
    private readonly last: StretchPart,
  ) {}

  /** The number of the first stretch. */
  get joins(): number {
    return this.parts[0]?.span ?? this.last.span;
  }

  /** Seconds of voice. */
  get #seconds(): number {
    return [...this.parts, this.last].reduce((sum, { seconds }) => sum + seconds, 0);
  }

  /** The fewest units of a transcript that leaves nothing out. */
  get #leastUnits(): number {
    const before = this.parts.reduce((sum, { units }) => sum + units, 0);
    return LEAST_SHARE * before + (this.last.seconds >= LEAST_WORD ? 1 : 0);
  }

  get chunks(): readonly Uint8Array[] {
    return [...this.parts.flatMap(({ audio }) => [audio, PAUSE]), this.last.audio];
  }

  /** Takes the transcript of all of it; false if there is more or less in it than can have been said. */
  accepts(text: string): boolean {
    if (text === '' || unitsIn(text) < this.#leastUnits || leastSeconds(text) > this.#seconds) return false;
    for (const part of this.parts) part.heard('');
    this.last.heard(text);
    return true;
  }
}

export class StretchGroup {
  #parts: readonly StretchPart[] = [];

  /** A stretch begins that belongs together with those since `joins`; undefined: with none. */
  begin(joins = Infinity): void {
    this.#parts = this.#parts.filter(({ span }) => span >= joins);
  }

  /** That part behind the others; undefined if it must be heard by itself. */
  with(part: StretchPart): JoinedStretches | undefined {
    const last = this.#parts.at(-1);
    if (!last || Math.min(last.audio.length, part.audio.length) >= SHORT) return undefined;
    const together = new JoinedStretches(this.#parts, part);
    const bytes = together.chunks.reduce((sum, { length }) => sum + length, 0);
    return bytes > MOST ? undefined : together;
  }

  /** The stretch has ended, with that voiced part, if any. */
  add(part: StretchPart | undefined, together: JoinedStretches | undefined): void {
    if (!part) this.#parts = [];
    else this.#parts = [...(together ? this.#parts : []), part];
  }
}
