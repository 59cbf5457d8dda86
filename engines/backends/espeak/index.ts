/**
 * eSpeak NG: seven languages at 22.05 kHz, robotic and very light. GPL-3, so it is loaded only in the espeak
 * child (gateway/workers/espeak.ts). The program is synchronous and speaks one piece at a time; between
 * pieces and chunks the loop turns, so that a cancel is seen.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { TimedWord, TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { later } from '../../../contracts/admission/fair-queue.js';
import { cutText } from '../../text/text-pieces.js';
import { ESPEAK_RATE, espeakDescription } from './description.js';
import { isJapanese, japaneseUnits } from './japanese.js';
import { loadEspeak, type EspeakProgram, type EspeakUtterance } from './program.js';
import { spokenText, unitsOf } from './spoken-text.js';
import { wordTimes } from './word-times.js';

/** The pipeline has already cut the text; this bounds one run of the program for any caller. */
const PIECE_LENGTH = 300;

interface Spoken {
  readonly chunks: EspeakUtterance['chunks'];
  readonly words: readonly TimedWord[];
  readonly samples: number;
}

const SILENT: Spoken = { chunks: [], words: [], samples: 0 };

async function speak(program: EspeakProgram, piece: string, request: TtsRequest): Promise<Spoken> {
  const { voice, speed, language, normalize } = request;
  const inJapanese = voice === 'ja' && isJapanese(piece);
  const units = inJapanese ? await japaneseUnits(piece) : unitsOf(piece, language, normalize);
  if (units.length === 0) return SILENT;
  const spoken = spokenText(units);
  const { chunks, events } = program(spoken.text, { voice, speed });
  const samples = chunks.reduce((sum, { length }) => sum + length, 0);
  const words = request.timing ? wordTimes(units, spoken, events, samples) : [];
  return { chunks, words, samples };
}

const moved = ({ text, start, end }: TimedWord, by: number): TimedWord => ({
  text,
  start: start + by,
  end: end + by,
});

function* eventsOf({ chunks, words }: Spoken): Generator<TtsEvent> {
  for (const word of words) yield { kind: 'word', word };
  for (const samples of chunks) yield { kind: 'audio', samples };
}

/** The piece, with its word times moved to start after `offset` samples. */
const behind = ({ words, ...spoken }: Spoken, offset: number): Spoken => ({
  ...spoken,
  words: words.map((word) => moved(word, offset / ESPEAK_RATE)),
});

/** Loads the program; throws if the package is missing. Errors of `synthesize`: `engine_failed`, `voice_not_found`. */
export async function createEspeak(): Promise<TtsEngine> {
  const program = await loadEspeak();
  const scheduler = new EngineScheduler({ waits: engineWaits });
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    if (!espeakDescription.voices.some(({ name }) => name === request.voice)) {
      throw new ServiceError('voice_not_found');
    }
    const first = scheduler.placeOf(request.demand);
    let offset = 0;
    for (const piece of cutText(request.text, { latency: 'normal', chunkLength: PIECE_LENGTH })) {
      const place = later(first, offset / ESPEAK_RATE);
      const spoken = await scheduler.run(place, () => speak(program, piece, request), signal);
      yield* scheduler.handOut(eventsOf(behind(spoken, offset)), signal);
      offset += spoken.samples;
    }
  }
  return { ...espeakDescription, synthesize };
}
