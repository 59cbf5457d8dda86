/** Clips as they were made, kept in files that are named by a digest of everything they depend on. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { bytesOf, wordsOf } from '../audio/level.js';

/** In the package's folder: a new build keeps them. */
const FOLDER = fileURLToPath(new URL('../../../.clips/', import.meta.url));

/** Another number where clips are made in another way: those of before are not found any more. */
const VERSION = 1;

export const digestOf = (...of: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify([VERSION, ...of]))
    .digest('hex');

/** The samples kept as `digest`, or those that `make` gives, which are kept from now on. */
export async function kept(
  digest: string,
  make: () => Promise<Int16Array>,
  folder = FOLDER,
): Promise<Int16Array> {
  const file = path.join(folder, `${digest}.pcm`);
  if (existsSync(file)) return wordsOf(await readFile(file));
  const samples = await make();
  await mkdir(folder, { recursive: true });
  // Whole or not there: a run may be interrupted.
  const unfinished = `${file}.${process.pid}`;
  await writeFile(unfinished, bytesOf(samples));
  await rename(unfinished, file);
  return samples;
}
