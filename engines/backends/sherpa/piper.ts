/**
 * Piper's voices as published: a model, and beside it a JSON file with the data that sherpa-onnx expects in the model's
 * metadata and in tokens.txt. Both are made from that file, in a copy below MODELS_DIR, or below DATA_DIR if MODELS_DIR is
 * read-only; the operator's own files stay unchanged. espeak's data are those beside the model, else of the package.
 */
import { createHash } from 'node:crypto';
import { constants, existsSync, statSync } from 'node:fs';
import { appendFile, copyFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { espeakDataIn, makeFolder, prepareEspeakData } from './espeak-data.js';
import { ModelFolder, readJson } from './folder.js';
import { onnxMetadata, onnxProperties } from './onnx-metadata.js';

const MODEL = /\.onnx$/;
const DATA = 'espeak-ng-data';
/** The folder of packages, whose name tells nothing of the voice in it. */
const NAMELESS = 'data';
/** The folder of the copies. */
export const PREPARED = 'prepared';

/** The fields used of the JSON file beside a voice. */
interface PiperVoice {
  readonly audio?: { readonly sample_rate?: number };
  readonly espeak?: { readonly voice?: string };
  readonly num_speakers?: number;
  readonly phoneme_type?: string;
  readonly phoneme_id_map: Readonly<Record<string, readonly number[]>>;
}

const besideOf = (model: string): string => `${model}.json`;

/** The JSON file beside a model; undefined if there is none, or if sherpa-onnx can take the model as it is. */
function voiceOf(model: string): PiperVoice | undefined {
  if (!existsSync(besideOf(model)) || onnxMetadata(model).has('model_type')) return undefined;
  const voice = readJson(besideOf(model)) as Partial<PiperVoice> | undefined;
  return voice?.phoneme_id_map === undefined ? undefined : (voice as PiperVoice);
}

const propertiesOf = ({ audio, espeak, num_speakers: speakers }: PiperVoice): ReadonlyMap<string, string> =>
  new Map([
    ['model_type', 'vits'],
    ['comment', 'piper'],
    ['has_espeak', '1'],
    ['language', espeak?.voice ?? ''],
    ['voice', espeak?.voice ?? ''],
    ['n_speakers', String(speakers ?? 1)],
    ['sample_rate', String(audio?.sample_rate ?? 22_050)],
  ]);

const tokensOf = ({ phoneme_id_map: ids }: PiperVoice): string =>
  Object.entries(ids)
    .map(([phoneme, [id]]) => `${phoneme} ${id}\n`)
    .join('');

/** Key of the copy: another file under the same name gives another copy. */
function keyOf(model: string, voice: PiperVoice): string {
  const { size, mtimeMs } = statSync(model);
  const made = JSON.stringify([model, size, mtimeMs, voice]);
  return createHash('sha256').update(made).digest('hex').slice(0, 16);
}

class PiperFolder extends ModelFolder {
  readonly #model: string;
  readonly #voice: PiperVoice;
  readonly #prepared: string;
  readonly #copy: string;

  constructor(model: string, voice: PiperVoice, name: string, modelsDir: string) {
    super(dirname(model), name);
    this.#model = model;
    this.#voice = voice;
    this.#prepared = join(modelsDir, PREPARED);
    this.#copy = join(this.#prepared, `${name}-${keyOf(model, voice)}`);
    const data = this.places.get(DATA) ?? espeakDataIn(this.#prepared);
    this.places.clear();
    this.places.set(basename(besideOf(model)), besideOf(model));
    for (const made of ['model.onnx', 'tokens.txt']) this.places.set(made, join(this.#copy, made));
    this.places.set(DATA, data);
  }

  override metadata(): ReadonlyMap<string, string> {
    return propertiesOf(this.#voice);
  }

  protected override sizeOf(): number {
    return statSync(this.#model).size;
  }

  override async prepare(): Promise<void> {
    if (this.places.get(DATA) === espeakDataIn(this.#prepared)) await prepareEspeakData(this.#prepared);
    if (!existsSync(this.#copy)) await makeFolder(this.#copy, (into) => this.#fill(into));
  }

  async #fill(into: string): Promise<void> {
    const model = join(into, 'model.onnx');
    await copyFile(this.#model, model, constants.COPYFILE_FICLONE);
    await appendFile(model, onnxProperties(this.metadata()));
    await writeFile(join(into, 'tokens.txt'), tokensOf(this.#voice));
  }
}

function piperFolder(model: string, voice: PiperVoice, name: string, modelsDir: string): ModelFolder {
  const { phoneme_type: phonemes = 'espeak' } = voice;
  if (phonemes === 'espeak') return new PiperFolder(model, voice, name, modelsDir);
  throw new Error(`The voice ${model} wants phonemes of "${phonemes}"; only espeak's are made here`);
}

/** The models of a folder that are published as pairs. */
export const pairsIn = (path: string): readonly string[] =>
  new ModelFolder(path).files(MODEL).filter(voiceOf);

/**
 * A speaking model: a folder, or the model of one of Piper's pairs in a folder of several. A pair is treated like a
 * folder. Throws, with an error for the operator, if there is none.
 */
export function openSpeakingFolder(path: string, modelsDir: string): ModelFolder {
  if (MODEL.test(path)) {
    const voice = existsSync(path) ? voiceOf(path) : undefined;
    if (voice) return piperFolder(path, voice, basename(path, '.onnx'), modelsDir);
    throw new Error(`${path} is no voice of Piper's with its ${basename(besideOf(path))} beside it`);
  }
  const folder = new ModelFolder(path);
  const [model] = pairsIn(path);
  const voice = model === undefined ? undefined : voiceOf(model);
  if (!model || !voice) return folder;
  const name = folder.name === NAMELESS ? basename(model, '.onnx') : folder.name;
  return piperFolder(model, voice, name, modelsDir);
}
