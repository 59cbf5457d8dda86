/**
 * An operator's model folder, as sherpa-onnx's releases come: files that are known by their names, and what the
 * models among them say of themselves. Nothing is loaded. Errors are for the operator and name the folder.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { LANGUAGE_CODES, type LanguageCode } from '../../../contracts/languages.js';
import { onnxMetadata } from './onnx-metadata.js';

/** What the engines of all models are called together; each is one of its own, with its folder's name behind a slash. */
export const SHERPA = 'sherpa';

/** Quantised models: preferred where two files fit, as they are quicker on a CPU. */
const QUANTISED = /\.int8\./;
const WEIGHTS = /\.(onnx|bin)$/;
const MOST_JSON_BYTES = 1024 * 1024;

/** The content of a JSON file; undefined where it is none, or too long to be one of a model. */
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
  /** Where each file is, by its name, in the order of names. */
  protected readonly places: Map<string, string>;

  /** Throws where there is no such folder. */
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

  /** The path of the file whose name fits; undefined where there is none. */
  find(pattern: RegExp): string | undefined {
    const found = this.files(pattern);
    return found.find((path) => QUANTISED.test(path)) ?? found[0];
  }

  /** The same. Throws where there is none. */
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

  /** Languages that the catalogue tells of a model that was added from it. */
  get toldLanguages(): readonly LanguageCode[] | undefined {
    const manifest = join(this.path, '.model.json');
    const { languages } = ((existsSync(manifest) && readJson(manifest)) || {}) as { languages?: unknown };
    return Array.isArray(languages) ? LANGUAGE_CODES.filter((code) => languages.includes(code)) : undefined;
  }

  /** Bytes of memory that the model of these files takes, about: weights twice, as measured of Piper's and Moonshine's. */
  memoryOf(files: readonly string[]): number {
    return (
      2 * files.filter((file) => WEIGHTS.test(file)).reduce((total, file) => total + this.sizeOf(file), 0)
    );
  }

  protected sizeOf(file: string): number {
    return statSync(file).size;
  }

  /** Makes what is missing for the model to be loaded; nothing, as models are published for sherpa-onnx. */
  async prepare(): Promise<void> {}

  /** The content of the JSON file whose name fits; undefined where there is none, or it is none. */
  json(pattern: RegExp): unknown {
    const path = this.find(pattern);
    return path === undefined ? undefined : readJson(path);
  }
}
