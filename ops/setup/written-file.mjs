/** Files that are written from streams. */
import fs from 'node:fs';
import { pipeline } from 'node:stream/promises';

/**
 * Writes what passes the stages to the file. A failure is told once the file is closed: one that still opens would appear in a folder
 * that is being emptied. Throws as the stages do, or an error of the disk.
 */
export async function writeFrom(stages, file, options = {}) {
  const out = fs.createWriteStream(file, options);
  const closed = new Promise((resolve) => out.once('close', resolve));
  try {
    await pipeline(...stages, out);
  } catch (error) {
    await closed;
    throw error;
  }
}
