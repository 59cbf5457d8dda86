/**
 * The folder that a setting means: a path, or the name of a model that `npm run models -- add` has put below MODELS_DIR
 * (ops/models/places.mjs lays it out). A folder of that name in the working directory counts where no such model is.
 */
import { existsSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const NAME = /^[a-z0-9][a-z0-9._-]*$/i;

const catalogueFolder = (modelsDir: string): string => join(modelsDir, 'catalogue');

export function modelFolder(value: string | undefined, modelsDir: string): string | undefined {
  if (value === undefined || !NAME.test(value)) return value;
  const folder = join(catalogueFolder(modelsDir), value);
  return !existsSync(folder) && existsSync(value) ? value : folder;
}

/** The name of a model that a setting means and that was not added; undefined for all else. */
export const notAdded = (folder: string, modelsDir: string): string | undefined =>
  dirname(folder) === catalogueFolder(modelsDir) && !existsSync(folder) ? basename(folder) : undefined;
