/**
 * Where models of the catalogue lie: below MODELS_DIR, one folder a model, named like its entry, so that several can be
 * there at once. A folder is there whole or not at all; what is under way has names that begin with a dot.
 */
import fs from 'node:fs';
import path from 'node:path';
import { modelsDir } from '../setup/paths.mjs';

/** gateway/config/model-folders.ts looks here, too. */
export const catalogueDir = () => path.join(modelsDir(), 'catalogue');

export const modelDir = (name) => path.join(catalogueDir(), name);
export const downloadsDir = () => path.join(catalogueDir(), '.downloads');
export const pinsFile = () => path.join(catalogueDir(), '.pins.json');
export const lockFile = () => path.join(catalogueDir(), '.lock');
export const holdsDir = () => path.join(catalogueDir(), '.gateways');
export const addingFile = () => path.join(catalogueDir(), '.adding.json');

const UNFINISHED = '.partial-';

/** A folder for a model that is being installed; on the same disk as its final place. */
export function temporaryDir() {
  fs.mkdirSync(catalogueDir(), { recursive: true });
  return fs.mkdtempSync(path.join(catalogueDir(), UNFINISHED));
}

/** Removes what a killed process left. Only the holder of the lock may. */
export function sweep() {
  for (const name of fs.readdirSync(catalogueDir()))
    if (name.startsWith(UNFINISHED)) fs.rmSync(path.join(catalogueDir(), name), { recursive: true });
}

/** Folders that gateways prepared from a model to load it (engines/backends/sherpa/piper.ts). */
export function preparedDirs(name) {
  const folder = path.join(modelsDir(), 'prepared');
  const made = new RegExp(`^${name}-[0-9a-f]{16}$`);
  const names = fs.existsSync(folder) ? fs.readdirSync(folder) : [];
  return names.filter((one) => made.test(one)).map((one) => path.join(folder, one));
}

export function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/** The manifest written when the model was put in place; undefined if it is not in place. */
export const manifestOf = (name) => readJson(path.join(modelDir(name), '.model.json'));

/** The manifest of a model that was removed, and whose files are still read. */
const removedFile = (name) => path.join(modelDir(name), '.removed.json');

export const isLeaving = (name) => fs.existsSync(removedFile(name));

/** From now on it is not in place, and its files stay where they are. */
export const markRemoved = (name) =>
  fs.renameSync(path.join(modelDir(name), '.model.json'), removedFile(name));

/** The names of models that were removed, and whose files are there. */
export const leavingModels = () =>
  fs.existsSync(catalogueDir()) ? fs.readdirSync(catalogueDir()).filter((name) => isLeaving(name)) : [];

/** The list of a model's files, kept beside them. */
export const writeManifest = (folder, manifest) =>
  fs.writeFileSync(path.join(folder, '.model.json'), `${JSON.stringify(manifest, null, 2)}\n`);
