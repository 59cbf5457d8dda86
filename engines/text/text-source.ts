/**
 * Turns the text of a request, whole or still arriving, into the pieces that are synthesised one after the other.
 * Both take the same path: whole text is read in slices, as if it arrived.
 *
 * Invariants: pieces cover the text in order, none is empty, none exceeds `chunkLength`; no cut splits a
 * style tag; a flush or the end completes the text so far; the text held back is no longer than a piece and a slice.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  SynthesisRequest,
  StreamingSynthesisRequest,
  TextPart,
} from '../../contracts/ports/speech/speech.js';
import { OPEN_TAG } from '../../contracts/text/open-tag.js';
import { onlyCharacters, withoutNonCharacters } from '../../contracts/text/text.js';
import { isTurnOver } from '../../contracts/time/loop-turn.js';
import { maskWhole, OPEN_ADDRESS, OPEN_PART, pastPart } from './speakable-whole.js';
import { breaksIn } from './text-breaks.js';
import { type CutRequest, FIRST, pastSpace, pieceEnd, THEN } from './text-pieces.js';

export interface Piece {
  /** The original text, with its tags, trimmed. */
  readonly text: string;
  /** Its start in the whole text, in UTF-16 units. */
  readonly at: number;
  /** Whether it goes on within a line; absent: it begins one. */
  readonly goesOn?: boolean;
}

/** Marks a pause in the text: everything flushed has been spoken, and nothing follows yet. */
export const PAUSE = Symbol('pause');
export type Pause = typeof PAUSE;

/** Nothing has followed for a moment. */
const IDLE = Symbol('idle');

/** A number that may go on. */
const AFTER_DIGIT = /\d\.$/u;

const SLICE = 4096;

/** Takes arriving text and returns its complete pieces. */
export class Cutter {
  #rest = '';
  #at = 0;
  #until;
  /** Whether the next piece begins a line. */
  #line = true;

  constructor(private readonly request: CutRequest) {
    this.#until = FIRST[request.latency];
  }

  add(text: string): void {
    this.#rest += withoutNonCharacters(text);
  }

  /** The complete pieces; with `ended` all of the text, and the next piece is a first one again. */
  *take(ended: boolean): Generator<Piece> {
    const masked = maskWhole(this.#rest);
    const known = ended
      ? masked
      : masked.replace(OPEN_TAG, '').replace(OPEN_PART, '').replace(OPEN_ADDRESS, '');
    const { latency, chunkLength: limit } = this.request;
    let start = this.#pastSpace(known, 0);
    while (start < known.length) {
      const cut = pieceEnd(known, start, { until: this.#until, limit, ended });
      if (cut === undefined && !ended) break;
      const end = cut === undefined ? known.length : pastPart(known, cut);
      // What cannot be cut goes on, and may not be there yet.
      if (!ended && end > cut! && end === known.length) break;
      const text = onlyCharacters(this.#rest.slice(start, end).trimEnd());
      yield { text, at: this.#at + start, ...(!this.#line && { goesOn: true }) };
      this.#until = THEN[latency];
      this.#line = false;
      start = this.#pastSpace(known, end);
    }
    this.#at += start;
    this.#rest = this.#rest.slice(start);
    if (ended) this.#until = FIRST[latency];
  }

  #pastSpace(text: string, from: number): number {
    const start = pastSpace(text, from);
    this.#line ||= /[\n\r]/u.test(text.slice(from, start));
    return start;
  }

  /** Whether the text so far ends with a whole sentence, unless more text changes that. */
  get endsSentence(): boolean {
    const text = this.#rest.trimEnd();
    if (text === '' || OPEN_TAG.test(text) || OPEN_PART.test(text) || AFTER_DIGIT.test(text)) return false;
    const last = [...breaksIn(text, 0, text.length, true)].at(-1);
    return last?.kind === 'sentence' && last.end === text.length;
  }
}

function* slicesOf(text: string): Generator<TextPart> {
  for (let at = 0; at < text.length; at += SLICE) yield { kind: 'text', text: text.slice(at, at + SLICE) };
}

/** Settles as `work` does, or rejects with the abort's reason, whichever comes first. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => reject(signal.reason as Error);
    if (signal.aborted) aborted();
    signal.addEventListener('abort', aborted, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', aborted));
  });
}

/** Whether the step has settled already, in this turn of the loop. */
const isThere = (step: Promise<unknown>): Promise<boolean> =>
  Promise.race([
    step.then(
      () => true,
      () => true,
    ),
    nextTurn(false),
  ]);

/** Whether the step has settled within `ms`. */
async function isThereIn(ms: number, step: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => (timer = setTimeout(resolve, ms, false)));
  const there = step.then(
    () => true,
    () => true,
  );
  return Promise.race([there, late]).finally(() => clearTimeout(timer));
}

/**
 * The parts, with a pause after a flush that nothing follows at once, and one after text that nothing follows for `idleMs`.
 * Stops waiting for more once aborted.
 */
async function* arriving(
  parts: AsyncIterable<TextPart>,
  signal: AbortSignal,
  idleMs: number | undefined,
): AsyncGenerator<TextPart | Pause | typeof IDLE> {
  const iterator = parts[Symbol.asyncIterator]();
  let last: TextPart['kind'] | undefined;
  try {
    for (;;) {
      const next = orAborted(iterator.next(), signal);
      if (last === 'flush' && !(await isThere(next))) yield PAUSE;
      if (last === 'text' && idleMs !== undefined && !(await isThereIn(idleMs, next))) yield IDLE;
      const step = await next;
      if (step.done) return;
      yield step.value;
      last = step.value.kind;
    }
  } finally {
    // Not awaited: an iterator that still waits for text may not settle.
    void iterator.return?.().catch(() => undefined);
  }
}

/** Lets the event loop turn where this turn has lasted long enough. Errors: the reason of an abort. */
async function letTurn(signal: AbortSignal): Promise<void> {
  if (!isTurnOver()) return;
  await nextTurn();
  signal.throwIfAborted();
}

/** Passes pieces on in turns of the loop: a reader may skip any number of them, such as a mebibyte of punctuation. */
async function* inTurns(pieces: Iterable<Piece>, signal: AbortSignal): AsyncGenerator<Piece> {
  for (const piece of pieces) {
    yield piece;
    await letTurn(signal);
  }
}

/** The pieces of the request's text as they become complete; begins with a piece. Errors: the reason of an abort. */
export async function* piecesOf(
  request: SynthesisRequest | StreamingSynthesisRequest,
  signal: AbortSignal,
): AsyncGenerator<Piece | Pause> {
  const cutter = new Cutter(request);
  const { text, sentenceMs } = request;
  const parts = typeof text === 'string' ? slicesOf(text) : arriving(text, signal, sentenceMs);
  let begun = false;
  for await (const part of parts) {
    if (part === PAUSE) {
      if (begun) yield PAUSE;
      continue;
    }
    if (part === IDLE && !cutter.endsSentence) continue;
    if (part !== IDLE && part.kind === 'text') cutter.add(part.text);
    // Slices of white space complete no piece.
    await letTurn(signal);
    for await (const piece of inTurns(cutter.take(part === IDLE || part.kind === 'flush'), signal)) {
      begun = true;
      yield piece;
    }
    if (part === IDLE) yield PAUSE;
  }
  yield* inTurns(cutter.take(true), signal);
}
