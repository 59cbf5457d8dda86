/** What an engine of a model folder is created with, besides the folder. */
import type { LanguageCode } from '../../../contracts/languages.js';
import { defaultModelsFolder } from '../model-files.js';
import { LoadedModels } from './loaded-models.js';

export interface SherpaOptions {
  /** In place of those that are known of the model. */
  readonly languages?: readonly LanguageCode[] | undefined;
  /** Below it lies what is made of models. */
  readonly modelsDir?: string;
  /** Shared by the engines of a process. */
  readonly memory?: LoadedModels;
}

export const withDefaults = ({ languages, modelsDir, memory }: SherpaOptions) => ({
  languages,
  modelsDir: modelsDir ?? defaultModelsFolder,
  memory: memory ?? new LoadedModels(),
});
