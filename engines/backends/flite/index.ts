/**
 * Flite: English at 16 kHz, the default voices. The program is synchronous, so it runs only in a speech
 * child, one run at a time; between runs and chunks the loop turns, so that a cancel is seen.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { chunksOf, moved, SILENT_PIECE, type SpokenPiece, spokenPieces } from '../spoken-pieces.js';
import { FLITE_RATE, fliteDescription } from './description.js';
import { leadingPause, loadFlite, type FliteProgram, type FliteSettings } from './program.js';
import { runsOf } from './runs.js';
import { spokenText, spokenWords } from './spoken-text.js';
import { Lexicon, wordTimes } from './word-times.js';

/** Silence kept of the fifth of a second that Flite begins with, so that speech begins early. */
const LEAD_SAMPLES = FLITE_RATE / 25;
const SPEED = { min: 0.25, max: 4 };

interface Voicebox {
  readonly program: FliteProgram;
  readonly lexicon: Lexicon;
}

function speak(
  { program, lexicon }: Voicebox,
  run: string,
  settings: FliteSettings,
  { timing = false, normalize }: TtsRequest,
): SpokenPiece {
  const words = spokenWords(run, normalize);
  const text = spokenText(words);
  if (text === '') return SILENT_PIECE;
  const { samples: all, phones } = program(text, settings);
  const cut = Math.max(0, leadingPause(phones) - LEAD_SAMPLES);
  const times = timing ? wordTimes(words, phones, lexicon) : [];
  const samples = all.subarray(cut);
  return {
    chunks: chunksOf(samples, FLITE_RATE),
    samples: samples.length,
    words: times.map((word) => moved(word, -cut / FLITE_RATE)),
  };
}

/** Loads the program. Errors of `synthesize`: `engine_failed`, `voice_not_found`. */
export async function createFlite(): Promise<TtsEngine> {
  const program = await loadFlite();
  const voicebox = { program, lexicon: new Lexicon(program) };
  const scheduler = new EngineScheduler({ waits: engineWaits });
  async function* synthesize(request: TtsRequest, signal: AbortSignal): AsyncGenerator<TtsEvent> {
    if (!fliteDescription.voices.some(({ name }) => name === request.voice)) {
      throw new ServiceError('voice_not_found');
    }
    const speed = Math.min(SPEED.max, Math.max(SPEED.min, request.speed));
    const settings = { voice: request.voice, speed };
    const runs = runsOf(request.text, speed);
    const speakRun = (run: string): SpokenPiece => speak(voicebox, run, settings, request);
    yield* spokenPieces({ scheduler, rate: FLITE_RATE }, runs, speakRun, request, signal);
  }
  return { ...fliteDescription, synthesize };
}
