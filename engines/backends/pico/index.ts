/**
 * SVOX Pico: German, Spanish, French, Italian and English at 16 kHz, calm voices made of recorded units. It shares the child
 * of Flite. A voice is loaded with the first text for it, because the program takes 25 MB with one; from then on it stays.
 */
import { join } from 'node:path';
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { inTurns } from '../../../contracts/time/loop-turn.js';
import { announced } from '../../../processes/child/announce.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { cutText } from '../../text/text-pieces.js';
import { chunksOf, SILENT_PIECE, type SpokenPiece, spokenPieces } from '../spoken-pieces.js';
import { unitsOf } from '../spoken-units.js';
import { PICO_RATE, PICO_VOICES, picoDescription } from './description.js';
import { loadPico, type PicoProgram } from './program.js';
import { soundOf } from './silence.js';
import { markedText, wordTimes } from './word-times.js';

/** The pipeline has already cut the text; this bounds one run of the program for any caller. */
const PIECE_LENGTH = 300;
/** Silence that is kept before and after a piece. */
const LEAD_SAMPLES = PICO_RATE / 25;
const TAIL_SAMPLES = PICO_RATE / 5;

async function speak(program: PicoProgram, piece: string, request: TtsRequest): Promise<SpokenPiece> {
  const { language, normalize, timing = false } = request;
  const units = unitsOf(piece, language, normalize);
  if (units.length === 0) return SILENT_PIECE;
  const { text, marked } = markedText(units, timing);
  const utterance = await inTurns(program.speak(text));
  const { begin, end } = soundOf(utterance.samples);
  const cut = Math.max(0, begin - LEAD_SAMPLES);
  if (end === 0) return SILENT_PIECE;
  const samples = utterance.samples.subarray(cut, end + TAIL_SAMPLES);
  const words = timing ? wordTimes(units, marked, utterance, cut) : [];
  return { chunks: chunksOf(samples, PICO_RATE), samples: samples.length, words };
}

/** The programs of the voices, each loaded once; one that has failed is loaded anew. */
class Programs {
  readonly #loaded = new Map<string, Promise<PicoProgram>>();

  constructor(private readonly folder: string) {}

  of(voice: string): Promise<PicoProgram> {
    const loading = this.#loaded.get(voice) ?? this.#load(voice);
    this.#loaded.set(voice, loading);
    return loading;
  }

  forget(voice: string): void {
    this.#loaded.delete(voice);
  }

  async #load(voice: string): Promise<PicoProgram> {
    const files = PICO_VOICES.find(({ name }) => name === voice)?.files;
    if (!files) throw new ServiceError('voice_not_found');
    return announced(() => loadPico(files.map((file) => join(this.folder, file))));
  }
}

/** `folder`: that of the lingware. Errors of `synthesize`: `engine_failed`, `voice_not_found`. */
export function createPico(folder: string): TtsEngine {
  const programs = new Programs(folder);
  const scheduler = new EngineScheduler({ waits: engineWaits });
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    const { voice } = request;
    const pieces = cutText(request.text, { latency: 'balanced', chunkLength: PIECE_LENGTH });
    const speakPiece = async (piece: string): Promise<SpokenPiece> => {
      try {
        return await speak(await programs.of(voice), piece, request);
      } catch (error) {
        programs.forget(voice);
        throw error;
      }
    };
    yield* spokenPieces({ scheduler, rate: PICO_RATE }, pieces, speakPiece, request, signal);
  }
  return { ...picoDescription, synthesize };
}
