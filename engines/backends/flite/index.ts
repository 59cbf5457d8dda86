/**
 * Flite: English at 16 kHz, the default voices. The program is synchronous, so it runs only in a speech
 * child, one run at a time; between runs and chunks the loop turns, so that a cancel is seen.
 */
import type { TimedWord, TtsEngine, TtsEvent, TtsRequest } from '../../../contracts/ports/speech/tts.js';
import { ServiceError } from '../../../contracts/errors.js';
import { EngineScheduler } from '../../scheduling/engine-scheduler.js';
import { engineWaits } from '../../scheduling/engine-waits.js';
import { later } from '../../../contracts/admission/fair-queue.js';
import { FLITE_RATE, fliteDescription } from './description.js';
import { leadingPause, loadFlite, type FliteProgram, type FliteSettings } from './program.js';
import { runsOf } from './runs.js';
import { spokenText, spokenWords } from './spoken-text.js';
import { Lexicon, wordTimes } from './word-times.js';

const CHUNK_SAMPLES = FLITE_RATE / 10;
/** Silence kept of the fifth of a second that Flite begins with, so that speech begins early. */
const LEAD_SAMPLES = FLITE_RATE / 25;
const SPEED = { min: 0.25, max: 4 };

interface Spoken {
  readonly samples: Int16Array;
  readonly words: readonly TimedWord[];
}

interface Voicebox {
  readonly program: FliteProgram;
  readonly lexicon: Lexicon;
}

function speak(
  { program, lexicon }: Voicebox,
  run: string,
  settings: FliteSettings,
  { timing = false, normalize }: TtsRequest,
): Spoken {
  const words = spokenWords(run, normalize);
  const text = spokenText(words);
  if (text === '') return { samples: new Int16Array(0), words: [] };
  const { samples, phones } = program(text, settings);
  const cut = Math.max(0, leadingPause(phones) - LEAD_SAMPLES);
  const times = timing ? wordTimes(words, phones, lexicon) : [];
  return { samples: samples.subarray(cut), words: times.map((word) => moved(word, -cut / FLITE_RATE)) };
}

const moved = ({ text, start, end }: TimedWord, by: number): TimedWord => ({
  text,
  start: Math.max(0, start + by),
  end: Math.max(0, end + by),
});

function* eventsOf({ samples, words }: Spoken): Generator<TtsEvent> {
  for (const word of words) yield { kind: 'word', word };
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES)
    yield { kind: 'audio', samples: samples.slice(at, at + CHUNK_SAMPLES) };
}

/** The run, with its word times moved to start after `offset` samples. */
const behind = ({ samples, words }: Spoken, offset: number): Spoken => ({
  samples,
  words: words.map((word) => moved(word, offset / FLITE_RATE)),
});

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
    const first = scheduler.placeOf(request.demand);
    let offset = 0;
    for (const run of runsOf(request.text, speed)) {
      const place = later(first, offset / FLITE_RATE);
      const work = (): Spoken => speak(voicebox, run, settings, request);
      const spoken = await scheduler.run(place, work, signal);
      yield* scheduler.handOut(eventsOf(behind(spoken, offset)), signal);
      offset += spoken.samples.length;
    }
  }
  return { ...fliteDescription, synthesize };
}
