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

/** The engines of an installation, which change as models are added and taken away. */
export interface EnginesInUse {
  readonly tts: readonly TtsEngine[];
  readonly stt: readonly Transcriber[];
}

export interface RegistryOptions extends EnginesInUse {
  readonly routes?: ModelRoutes;
}

/** `sherpa` names the engines of all its models, `sherpa/kokoro-en` one of them. */
export const isNamed = (engine: { readonly name: string }, name: string): boolean =>
  engine.name === name || engine.name.startsWith(`${name}/`);

const transcribesIn = (transcriber: Transcriber, language: string | undefined): boolean =>
  language === undefined || transcriber.languages === 'any' || transcriber.languages.includes(language);

/** A registry whose engines may be replaced: what has begun with one that is gone goes on. */
export interface ChangingRegistry extends Registry {
  use(engines: EnginesInUse): void;
}

export function createRegistry({ tts, stt, routes = {} }: RegistryOptions): ChangingRegistry {
  let inUse: EnginesInUse = { tts, stt };
  const routed = <E extends { readonly name: string }>(engines: readonly E[], model: keyof ModelRoutes) => {
    const names = routes[model] ?? routes['*'];
    if (!names) return engines;
    return names.flatMap((name) => engines.filter((engine) => isNamed(engine, name)));
  };
  return {
    get speakers() {
      return inUse.tts;
    },
    use: (engines) => void (inUse = engines),
    speakersFor: (model) => routed(inUse.tts, model),
    transcriberFor: (model, language) =>
      routed(inUse.stt, model).find((engine) => transcribesIn(engine, language)),
    transcribersOfAll: (model, languages) =>
      [...new Set([...routed(inUse.stt, model), ...inUse.stt])].filter(
        (engine) => languages.every((language) => transcribesIn(engine, language)) && !engine.wantsLanguage,
      ),
    transcribersFor: (model, language) =>
      [...new Set([...routed(inUse.stt, model), ...inUse.stt])].filter((engine) =>
        transcribesIn(engine, language),
      ),
  };
}
