/** Options of an engine of a model folder. */
import type { LanguageCode } from '../../../contracts/speech/languages.js';
import { defaultModelsFolder } from '../model-files.js';
import { LoadedModels } from './loaded-models.js';

export interface SherpaOptions {
  /** Replaces the languages known of the model. */
  readonly languages?: readonly LanguageCode[] | undefined;
  /** Parent folder of files made from models. */
  readonly modelsDir?: string;
  /** Shared by the engines of a process. */
  readonly memory?: LoadedModels;
}

export const withDefaults = ({ languages, modelsDir, memory }: SherpaOptions) => ({
  languages,
  modelsDir: modelsDir ?? defaultModelsFolder,
  memory: memory ?? new LoadedModels(),
});
