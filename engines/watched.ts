/**
 * Engines of our own children and of this process, whose work is told to the keeper of parts. Those of remote services tell by themselves,
 * as they have addresses.
 */
import { askedFor, type Keeper, type Part } from '../contracts/ports/parts.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import type { Transcriber } from './long-audio.js';

export function watchedVoice(engine: TtsEngine, keeper: Keeper): TtsEngine {
  const part: Part = { kind: 'voice', name: engine.name };
  keeper.knowPart(part);
  return {
    ...engine,
    synthesize: (request, signal) =>
      askedFor(keeper.ask(part, request.whom), engine.synthesize(request, signal), signal),
  };
}

export function watchedRecogniser(engine: Transcriber, keeper: Keeper): Transcriber {
  const part: Part = { kind: 'recogniser', name: engine.name };
  keeper.knowPart(part);
  return {
    ...engine,
    transcribe: (audio, options, signal) =>
      askedFor(keeper.ask(part, options.whom), engine.transcribe(audio, options, signal), signal),
  };
}
