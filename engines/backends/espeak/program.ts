/**
 * The eSpeak NG program: text in, chunks of samples and events out. Synchronous; takes about a hundredth
 * of its speech's duration. It interprets markup, entities and phoneme brackets, so engines/backends/spoken-units.ts removes
 * them first. Invariant: every run begins with the memory of the first, so that no text leaks into
 * the next, and the same text gives the same samples.
 */
import type { EspeakEvent, EspeakWorker } from '@echogarden/espeak-ng-emscripten';
import { ServiceError } from '../../../contracts/errors.js';
import { keepMemory } from '../kept-memory.js';
import { ESPEAK_SPEED } from './description.js';

export type { EspeakEvent } from '@echogarden/espeak-ng-emscripten';

export interface EspeakUtterance {
  /** Samples, at most 0.1 s a chunk. */
  readonly chunks: readonly Int16Array[];
  readonly events: readonly EspeakEvent[];
}

export interface EspeakSettings {
  readonly voice: string;
  /** 1 is the voice's own pace. */
  readonly speed: number;
}

export type EspeakProgram = (text: string, settings: EspeakSettings) => EspeakUtterance;

type Curve = readonly (readonly [speed: number, rate: number])[];

/** Words per minute for a speed, measured: 175 is its own pace, and faster speech is less than proportional. */
const RATES: Curve = [[0.5, 82], [0.6, 102], [0.8, 140], [1, 175], [1.25, 219], [1.5, 270], [1.75, 325], [2, 375]]; // oxfmt-ignore
/** For Mandarin, which has fewer pauses. */
const MANDARIN_RATES: Curve = [[0.5, 92], [0.6, 112], [0.8, 143], [1, 175], [1.25, 211], [1.5, 244], [1.75, 274], [2, 300]]; // oxfmt-ignore

/** Words per minute, interpolated linearly between the points of the curve. */
export function rateFor({ voice, speed }: EspeakSettings): number {
  const curve = voice === 'cmn' ? MANDARIN_RATES : RATES;
  const wanted = Math.min(ESPEAK_SPEED.max, Math.max(ESPEAK_SPEED.min, speed));
  const above = Math.max(
    1,
    curve.findIndex(([point]) => point >= wanted),
  );
  const [[low, slow], [high, fast]] = [curve[above - 1]!, curve[above]!];
  return Math.round(slow + ((fast - slow) * (wanted - low)) / (high - low));
}

/** The program's names of voices that it does not know by their languages. */
const OWN_NAMES: Readonly<Record<string, string>> = { 'en-gb': 'en', 'fr-fr': 'fr' };

/** Throws Error for an unknown voice: the program itself would keep the previous one. */
function takeVoice(worker: EspeakWorker, voice: string): void {
  if (worker.set_voice(OWN_NAMES[voice] ?? voice) !== 0) throw new Error(`eSpeak has no voice ${voice}`);
}

/** The longest text of one run, in bytes; far more than a piece of PIECE_LENGTH. */
const MOST_BYTES = 16_384;

/**
 * Makes the program's binding allocate its text buffer. The binding remembers the address outside the
 * program's memory, so the buffer must not be reallocated once that memory is restored. The program reads the zeros as an
 * empty text: to speak one of that length takes 0.1 s.
 */
function allotBuffer(worker: EspeakWorker): void {
  for (const text of ['\0'.repeat(MOST_BYTES), 'a']) {
    takeVoice(worker, 'en-us');
    worker.synthesize(text, () => undefined);
  }
}

/** Loads the program once. Throws if the optional package is not installed. */
export async function loadEspeak(): Promise<EspeakProgram> {
  const { default: load } = await import('@echogarden/espeak-ng-emscripten');
  const module = await load();
  const worker = new module.eSpeakNGWorker();
  allotBuffer(worker);
  const restore = keepMemory(module);
  return (text, settings) => {
    if (Buffer.byteLength(text) >= MOST_BYTES) throw new ServiceError('engine_failed');
    const chunks: Int16Array[] = [];
    const events: EspeakEvent[] = [];
    try {
      restore();
      takeVoice(worker, settings.voice);
      worker.set_rate(rateFor(settings));
      worker.synthesize(text, (samples, heard) => {
        // Copied: the samples lie in the program's memory, which it reuses.
        if (samples?.length) chunks.push(samples.slice());
        events.push(...heard);
      });
    } catch (cause) {
      throw new ServiceError('engine_failed', { message: 'The voice could not speak this text', cause });
    }
    return { chunks, events };
  };
}
