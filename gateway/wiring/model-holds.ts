/**
 * Which models of the catalogue this machine's children may still read: a file below MODELS_DIR, by which `npm run models -- remove`
 * leaves their files until nobody holds them (ops/models/holds.mjs). One that was not touched for a minute counts for nothing.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { catalogueFolder, HOLDS } from '../config/model-folders.js';

export class ModelHolds {
  readonly #file: string;
  #names = '[]';

  constructor(private readonly modelsDir: string) {
    this.#file = join(catalogueFolder(modelsDir), HOLDS, `${randomUUID()}.json`);
  }

  /** Holds the models that these folders and files are of, and no others. A folder of models that is read-only needs no holds. */
  async hold(places: readonly string[]): Promise<void> {
    const names = [...new Set(places.flatMap((place) => this.#nameOf(place)))].sort();
    const text = JSON.stringify(names);
    if (text === this.#names) return this.touch();
    this.#names = text;
    if (names.length === 0) return this.end();
    await mkdir(dirname(this.#file), { recursive: true })
      .then(() => writeFile(this.#file, `${text}\n`))
      .catch(() => undefined);
  }

  async touch(): Promise<void> {
    const now = new Date();
    if (this.#names !== '[]') await utimes(this.#file, now, now).catch(() => undefined);
  }

  async end(): Promise<void> {
    await rm(this.#file, { force: true }).catch(() => undefined);
  }

  #nameOf(place: string): readonly string[] {
    const catalogue = catalogueFolder(this.modelsDir);
    const folder = dirname(place) === catalogue ? place : dirname(place);
    return dirname(folder) === catalogue ? [basename(folder)] : [];
  }
}
