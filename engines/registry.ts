/**
 * The configured engines by name, and the ones that serve a model: the first in the list that can.
 * A new engine is a folder under backends/ and a line in the wiring.
 */
import type { SynthesisModel, TranscriptionModel } from '../contracts/speech/models.js';
import type { TtsEngine } from '../contracts/ports/speech/tts.js';
import type { Transcriber } from './long-audio.js';

/** Model → engine names in order of preference; `*` for every model without a row. */
export type ModelRoutes = Readonly<
  Partial<Record<SynthesisModel | TranscriptionModel | '*', readonly string[]>>
>;

export interface Registry {
  readonly speakers: readonly TtsEngine[];
  speakersFor(model: SynthesisModel): readonly TtsEngine[];
  /** The first engine of the model that transcribes the language; without a language, its first engine. */
  transcriberFor(model: TranscriptionModel, language: string | undefined): Transcriber | undefined;
  /** All engines that hear each of the languages and tell them apart: those of the model first. */
  transcribersOfAll(model: TranscriptionModel, languages: readonly string[]): readonly Transcriber[];
  /** That one, and all others that transcribe the language: those of the model first. */
  transcribersFor(model: TranscriptionModel, language: string | undefined): readonly Transcriber[];
}

export interface RegistryOptions {
  readonly tts: readonly TtsEngine[];
  readonly stt: readonly Transcriber[];
  readonly routes?: ModelRoutes;
}

/** `sherpa` names the engines of all its models, `sherpa/kokoro-en` one of them. */
export const isNamed = (engine: { readonly name: string }, name: string): boolean =>
  engine.name === name || engine.name.startsWith(`${name}/`);

const transcribesIn = (transcriber: Transcriber, language: string | undefined): boolean =>
  language === undefined || transcriber.languages === 'any' || transcriber.languages.includes(language);

export function createRegistry({ tts, stt, routes = {} }: RegistryOptions): Registry {
  const routed = <E extends { readonly name: string }>(engines: readonly E[], model: keyof ModelRoutes) => {
    const names = routes[model] ?? routes['*'];
    if (!names) return engines;
    return names.flatMap((name) => engines.filter((engine) => isNamed(engine, name)));
  };
  return {
    speakers: tts,
    speakersFor: (model) => routed(tts, model),
    transcriberFor: (model, language) => routed(stt, model).find((engine) => transcribesIn(engine, language)),
    transcribersOfAll: (model, languages) =>
      [...new Set([...routed(stt, model), ...stt])].filter(
        (engine) => languages.every((language) => transcribesIn(engine, language)) && !engine.wantsLanguage,
      ),
    transcribersFor: (model, language) =>
      [...new Set([...routed(stt, model), ...stt])].filter((engine) => transcribesIn(engine, language)),
  };
}
