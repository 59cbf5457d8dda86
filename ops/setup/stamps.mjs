/**
 * Stamps: small files that say from what a step's result was made, so that a later start can see at once
 * that there is nothing to do. A stamp is removed before its step begins and written, atomically, when it is done.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

/** One key out of any number of strings and buffers. */
export function keyOf(...parts) {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part).update('\0');
  return hash.digest('hex');
}

export function hasStamp(file, key) {
  try {
    return fs.readFileSync(file, 'utf8').trim() === key;
  } catch {
    return false;
  }
}

export const removeStamp = (file) => fs.rmSync(file, { force: true });

export function writeStamp(file, key) {
  writeAtomically(file, `${key}\n`);
}

/** Puts a whole file in place in one step: readers see the old one or the new one, never a part. */
export function writeAtomically(file, content) {
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}.partial`;
  try {
    fs.writeFileSync(partial, content);
    fs.renameSync(partial, file);
  } finally {
    fs.rmSync(partial, { force: true });
  }
}
