/**
 * An operator's model folder in the layout of sherpa-onnx's releases: files recognised by their names, and the models'
 * metadata. Nothing is loaded. Errors are for the operator and name the folder.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/speech/languages.js';
import { onnxMetadata } from './onnx-metadata.js';

/** Common name of the engines of all models; each engine is called this, a slash, and its folder's name. */
export const SHERPA = 'sherpa';

/** Quantised models: preferred if two files fit, because they are quicker on a CPU. */
const QUANTISED = /\.int8\./;
const WEIGHTS = /\.(onnx|bin)$/;
const MOST_JSON_BYTES = 1024 * 1024;

/** The content of a JSON file; undefined if it is not JSON, or too long for a model's. */
export function readJson(path: string): unknown {
  if (statSync(path).size > MOST_JSON_BYTES) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}

export class ModelFolder {
  readonly path: string;
  readonly name: string;
  /** Path of each file by its name, in the order of names. */
  protected readonly places: Map<string, string>;

  /** Throws if there is no such folder. */
  constructor(path: string, name = basename(resolve(path))) {
    this.path = resolve(path);
    this.name = name;
    if (!existsSync(this.path) || !statSync(this.path).isDirectory())
      throw new Error(`The model folder ${this.path} does not exist`);
    const names = readdirSync(this.path).sort();
    this.places = new Map(names.map((name) => [name, join(this.path, name)]));
  }

  /** The paths of all files whose names fit. */
  files(pattern: RegExp): readonly string[] {
    return [...this.places].filter(([name]) => pattern.test(name)).map(([, place]) => place);
  }

  /** The path of the file whose name fits; undefined if there is none. */
  find(pattern: RegExp): string | undefined {
    const found = this.files(pattern);
    return found.find((path) => QUANTISED.test(path)) ?? found[0];
  }

  /** As `find`, but throws if there is none. */
  file(pattern: RegExp, what: string): string {
    const path = this.find(pattern);
    if (path !== undefined) return path;
    throw new Error(`The model folder ${this.path} has no ${what}`);
  }

  /** Metadata of the model whose file name fits; empty without such a file. */
  metadata(pattern: RegExp): ReadonlyMap<string, string> {
    const path = this.find(pattern);
    return path === undefined ? new Map() : onnxMetadata(path);
  }

  /** Languages from the catalogue, for a model that was added from it. */
  get toldLanguages(): readonly LanguageCode[] | undefined {
    const manifest = join(this.path, '.model.json');
    const { languages } = ((existsSync(manifest) && readJson(manifest)) || {}) as { languages?: unknown };
    return Array.isArray(languages) ? LANGUAGE_CODES.filter((code) => languages.includes(code)) : undefined;
  }

  /** Approximate memory of the model of these files, in bytes: twice its weights, as measured with Piper's and Moonshine's. */
  memoryOf(files: readonly string[]): number {
    return (
      2 * files.filter((file) => WEIGHTS.test(file)).reduce((total, file) => total + this.sizeOf(file), 0)
    );
  }

  protected sizeOf(file: string): number {
    return statSync(file).size;
  }

  /** Creates whatever the model lacks before loading; nothing for models published for sherpa-onnx. */
  async prepare(): Promise<void> {}

  /** The content of the JSON file whose name fits; undefined if there is none, or it is not JSON. */
  json(pattern: RegExp): unknown {
    const path = this.find(pattern);
    return path === undefined ? undefined : readJson(path);
  }
}
