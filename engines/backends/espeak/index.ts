/**
 * eSpeak NG: seven languages at 22.05 kHz, robotic and very light. GPL-3, so it is loaded only in the espeak
 * child (gateway/workers/espeak.ts). The program is synchronous and speaks one piece at a time; between
 * pieces and chunks the loop turns, so that a cancel is seen.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { SILENT_PIECE, type SpokenPiece, spokenPieces } from '../spoken-pieces.js';
import { unitsOf } from '../spoken-units.js';
import { cutText } from '../../text/text-pieces.js';
import { ESPEAK_RATE, espeakDescription } from './description.js';
import { isJapanese, japaneseUnits } from './japanese.js';
import { loadEspeak, type EspeakProgram } from './program.js';
import { spokenText } from './spoken-text.js';
import { wordTimes } from './word-times.js';

/** The pipeline has already cut the text; this bounds one run of the program for any caller. */
const PIECE_LENGTH = 300;

async function speak(program: EspeakProgram, piece: string, request: TtsRequest): Promise<SpokenPiece> {
  const { voice, speed, language, normalize } = request;
  const inJapanese = voice === 'ja' && isJapanese(piece);
  const units = inJapanese ? await japaneseUnits(piece) : unitsOf(piece, language, normalize);
  if (units.length === 0) return SILENT_PIECE;
  const spoken = spokenText(units);
  const { chunks, events } = program(spoken.text, { voice, speed });
  const samples = chunks.reduce((sum, { length }) => sum + length, 0);
  const words = request.timing ? wordTimes(units, spoken, events, samples) : [];
  return { chunks, words, samples };
}

/** Loads the program; throws if the package is missing. Errors of `synthesize`: `engine_failed`, `voice_not_found`. */
export async function createEspeak(): Promise<TtsEngine> {
  const program = await loadEspeak();
  const scheduler = new EngineScheduler({ waits: engineWaits });
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    if (!espeakDescription.voices.some(({ name }) => name === request.voice)) {
      throw new ServiceError('voice_not_found');
    }
    const pieces = cutText(request.text, { latency: 'normal', chunkLength: PIECE_LENGTH });
    const speakPiece = (piece: string): Promise<SpokenPiece> => speak(program, piece, request);
    yield* spokenPieces({ scheduler, rate: ESPEAK_RATE }, pieces, speakPiece, request, signal);
  }
  return { ...espeakDescription, synthesize };
}
