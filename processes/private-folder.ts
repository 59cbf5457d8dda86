/**
 * Folders and files that no other user can have put in place. What is there already is taken only where it is a
 * folder, not a link to one, belongs to us, and nobody else may write into it.
 */
import { chmodSync, closeSync, constants, lstatSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const OTHERS_MAY_WRITE = 0o022;

/** The reason why the folder is not private; undefined where it is ours alone. Errors: where there is none. */
function objection(path: string): string | undefined {
  const found = lstatSync(path);
  const mode = (found.mode & 0o777).toString(8);
  if (found.isSymbolicLink()) return 'it is a symbolic link';
  if (!found.isDirectory()) return 'it is not a folder';
  if (found.uid !== process.geteuid?.()) return `it belongs to another user (number ${found.uid})`;
  return (found.mode & OTHERS_MAY_WRITE) === 0 ? undefined : `others may write into it (mode ${mode})`;
}

/**
 * Makes the folder for its owner alone, or takes it where it is ours. Returns the path. Errors: one that says why
 * not.
 */
export function privateFolder(path: string): string {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const reason = objection(path);
  if (reason !== undefined) throw new Error(`${path} cannot be used, ${reason}: remove it`);
  chmodSync(path, 0o700);
  return path;
}

/** Whether that is a folder of ours alone. */
export function isPrivateFolder(path: string): boolean {
  try {
    return objection(path) === undefined;
  } catch {
    return false;
  }
}

/** Writes a new file for its owner alone in the place of whatever is there; a link is replaced, not followed. */
export function writePrivateFile(path: string, text: string): void {
  rmSync(path, { force: true });
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}
