/**
 * Text that a program speaks piece by piece: each piece is one run, in the order of the engine's queue; between the runs the
 * others take their turns. Times of words are those of the whole text.
 */
import { later } from '../../contracts/admission/fair-queue.js';
import type { TimedWord, TtsEvent, TtsRequest } from '../../contracts/ports/speech/tts.js';
import type { EngineScheduler } from '../scheduling/engine-scheduler.js';

/** What was spoken of a piece. */
export interface SpokenPiece {
  readonly chunks: Iterable<Int16Array>;
  /** How many there are in the chunks. */
  readonly samples: number;
  readonly words: readonly TimedWord[];
}

export const SILENT_PIECE: SpokenPiece = { chunks: [], samples: 0, words: [] };

const CHUNKS_PER_SECOND = 10;

/** Tenths of a second. */
export function* chunksOf(samples: Int16Array, rate: number): Generator<Int16Array> {
  const length = Math.floor(rate / CHUNKS_PER_SECOND);
  for (let at = 0; at < samples.length; at += length) yield samples.slice(at, at + length);
}

/** The word `by` seconds later, or earlier, but not before the beginning. */
export const moved = ({ text, start, end }: TimedWord, by: number): TimedWord => ({
  text,
  start: Math.max(0, start + by),
  end: Math.max(0, end + by),
});

function* eventsOf({ chunks, words }: SpokenPiece, begin: number): Generator<TtsEvent> {
  for (const word of words) yield { kind: 'word', word: moved(word, begin) };
  for (const samples of chunks) yield { kind: 'audio', samples };
}

export interface PieceEngine {
  readonly scheduler: EngineScheduler;
  /** Hz. */
  readonly rate: number;
}

/** Speaks the pieces one after another. Errors: those of `speak`, the reason of an abort. */
export async function* spokenPieces(
  { scheduler, rate }: PieceEngine,
  pieces: Iterable<string>,
  speak: (piece: string) => SpokenPiece | Promise<SpokenPiece>,
  { demand }: Pick<TtsRequest, 'demand'>,
  signal: AbortSignal,
): AsyncGenerator<TtsEvent> {
  const first = scheduler.placeOf(demand);
  let offset = 0;
  for (const piece of pieces) {
    const begin = offset / rate;
    const spoken = await scheduler.run(later(first, begin), () => speak(piece), signal);
    yield* scheduler.handOut(eventsOf(spoken, begin), signal);
    offset += spoken.samples;
  }
}
