/**
 * An operator's model folder, as sherpa-onnx's releases come: files that are known by their names, and what the
 * models among them say of themselves. Nothing is loaded. Errors are for the operator and name the folder.
 */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { onnxMetadata } from './onnx-metadata.js';

/** Quantised models: preferred where two files fit, as they are quicker on a CPU. */
const QUANTISED = /\.int8\./;
const MOST_JSON_BYTES = 1024 * 1024;

export class ModelFolder {
  readonly path: string;
  readonly #names: readonly string[];

  /** Throws where there is no such folder. */
  constructor(path: string) {
    this.path = resolve(path);
    if (!existsSync(this.path) || !statSync(this.path).isDirectory())
      throw new Error(`The model folder ${this.path} does not exist`);
    this.#names = readdirSync(this.path).sort();
  }

  get name(): string {
    return basename(this.path);
  }

  /** The paths of all files whose names fit. */
  files(pattern: RegExp): readonly string[] {
    return this.#names.filter((name) => pattern.test(name)).map((name) => join(this.path, name));
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

  /** The content of the JSON file whose name fits; undefined where there is none, or it is none. */
  json(pattern: RegExp): unknown {
    const path = this.find(pattern);
    if (path === undefined || statSync(path).size > MOST_JSON_BYTES) return undefined;
    try {
      return JSON.parse(readFileSync(path, 'utf8'));
    } catch {
      return undefined;
    }
  }
}
