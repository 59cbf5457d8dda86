/**
 * The models that an operator has added. The engines `sherpa` run those listed in SHERPA_TTS and SHERPA_STT, else all that `npm run models -- add`
 * has put below MODELS_DIR (ops/models/places.mjs lays it out), in the order in which they were added.
 */
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { readJson } from '../../engines/backends/sherpa/folder.js';
import { pairsIn, PREPARED } from '../../engines/backends/sherpa/piper.js';
import { gtcrnIn } from '../../engines/denoising/gtcrn-files.js';
import { hasSmartTurn } from '../../engines/turns/smart-turn-files.js';
import { makeFolder } from '../../processes/make-folder.js';

type Task = 'tts' | 'stt' | 'turns' | 'denoise' | 'pico';

const NAME = /^[a-z0-9][a-z0-9._-]*$/i;

export const catalogueFolder = (modelsDir: string): string => join(resolve(modelsDir), 'catalogue');

/** Resolves the name of an added model, or else a path relative to the working directory. */
function placeOf(value: string, modelsDir: string): string {
  if (!NAME.test(value)) return resolve(value);
  const added = join(catalogueFolder(modelsDir), value);
  return !existsSync(added) && existsSync(value) ? resolve(value) : added;
}

/** A folder with several Piper pairs (`.onnx` and `.json`) holds as many models. */
function modelsAt(place: string): readonly string[] {
  const isFolder = statSync(place, { throwIfNoEntry: false })?.isDirectory() === true;
  const pairs = isFolder ? pairsIn(place) : [];
  return pairs.length > 1 ? pairs : [place];
}

interface Manifest {
  readonly task?: unknown;
  readonly added?: unknown;
}

/** The folder below `catalogue` with the files that say who still reads removed models (gateway/wiring/model-holds.ts). */
export const HOLDS = '.gateways';

/** Changes whenever a model is added or taken away. Errors: those of the disk. */
export async function addedMark(modelsDir: string): Promise<string> {
  const folder = catalogueFolder(modelsDir);
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const marks = names
    .filter((name) => NAME.test(name))
    .map(async (name) => {
      const place = join(folder, name);
      const seen = [place, join(place, '.model.json')].map((file) => stat(file));
      const [whole, manifest] = await Promise.all(seen).catch(() => []);
      return whole && manifest ? [`${name} ${whole.mtimeMs} ${manifest.ino} ${manifest.mtimeMs}`] : [];
    });
  return (await Promise.all(marks)).flat().sort().join('\n');
}

function addedModels(task: Task, modelsDir: string): readonly string[] {
  const folder = catalogueFolder(modelsDir);
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => NAME.test(name)) : [];
  const rows = names.flatMap((name) => {
    const file = join(folder, name, '.model.json');
    const manifest = (existsSync(file) ? readJson(file) : undefined) as Manifest | undefined;
    return manifest?.task === task ? [{ place: join(folder, name), added: String(manifest.added) }] : [];
  });
  return rows.sort((a, b) => a.added.localeCompare(b.added)).map(({ place }) => place);
}

/** Folders, or single Piper models within a folder of several. Listed ones need not exist. */
export const modelFolders = (task: Task, listed: readonly string[], modelsDir: string): readonly string[] =>
  listed.length > 0
    ? listed.flatMap((value) => modelsAt(placeOf(value, modelsDir)))
    : addedModels(task, modelsDir);

/** The audio model for end-of-turn detection, if one was added. */
export const turnModelFolder = (modelsDir: string): string | undefined =>
  addedModels('turns', modelsDir).find(hasSmartTurn);

/** The noise reduction model, if one was added. */
export const denoiserFile = (modelsDir: string): string | undefined =>
  addedModels('denoise', modelsDir)
    .map(gtcrnIn)
    .find((file) => file !== undefined);

/** The lingware of the engine `pico`, if set-up had it or it was added. */
export const picoFolder = (modelsDir: string): string | undefined => addedModels('pico', modelsDir)[0];

function canPrepareIn(folder: string): boolean {
  const prepared = join(folder, PREPARED);
  try {
    makeFolder(prepared);
    accessSync(prepared, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * The folder for copies of models (engines/backends/sherpa/piper.ts): the first that can be written to. A checkout or a
 * volume of models may be read-only, the data folder is not.
 */
export const folderForCopies = (folders: readonly [string, ...string[]]): string =>
  folders.find(canPrepareIn) ?? folders[0];

/** The name of a model in a setting that was not added; undefined for anything else. */
export const notAdded = (place: string, modelsDir: string): string | undefined =>
  dirname(place) === catalogueFolder(modelsDir) && !existsSync(place) ? basename(place) : undefined;
