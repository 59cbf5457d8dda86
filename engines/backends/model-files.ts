/** Paths of model files, and a clear error when one is missing. Only set-up fetches them. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startCommand } from '../../contracts/command-line.js';
import { CHECKOUT } from '../../contracts/places.js';

export const defaultModelsFolder = fileURLToPath(new URL('.models/', CHECKOUT));

/** The path of a model file. Throws if it is missing, naming it and the command that fetches it. */
export function modelFile(folder: string, ...names: string[]): string {
  const path = join(folder, ...names);
  if (existsSync(path)) return path;
  throw new Error(
    `The model file ${path} is missing: "${startCommand()}" fetches it, or set MODELS_DIR to the folder that holds it`,
  );
}
