/**
 * Folders with those above them. Node's `recursive: true` tries for ever, and hears no signal meanwhile, where a parent says that it does
 * not exist once it does: so it is with `/proc`, which takes no folders.
 */
import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/** Makes one folder; somebody else may have been quicker. */
function makeOne(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (!isFolder(path)) throw error;
  }
}

/** Makes the folder and those above it that are missing. Errors: those of the system, as `mkdir` has them. */
export function makeFolder(path: string): void {
  const missing: string[] = [];
  let at = resolve(path);
  for (; !statSync(at, { throwIfNoEntry: false }) && at !== dirname(at); at = dirname(at))
    missing.unshift(at);
  for (const folder of missing.length > 0 ? missing : [at]) makeOne(folder);
}
