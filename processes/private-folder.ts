/**
 * Folders and files that no other user can have put in place. An existing folder is used only if it is no link, belongs
 * to this process's user, and nobody else may write into it.
 */
import {
  chmodSync,
  closeSync,
  constants,
  lstatSync,
  mkdirSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { isFullDisk } from '../contracts/errors.js';

const { O_CREAT, O_EXCL, O_NOFOLLOW, O_WRONLY } = constants;
const OTHERS_MAY_WRITE = 0o022;

/** The reason why the folder is not private; undefined if it is. Throws if there is none. */
function objection(path: string): string | undefined {
  const found = lstatSync(path);
  const mode = (found.mode & 0o777).toString(8);
  if (found.isSymbolicLink()) return 'it is a symbolic link';
  if (!found.isDirectory()) return 'it is not a folder';
  if (found.uid !== process.geteuid?.()) return `it belongs to another user (number ${found.uid})`;
  return (found.mode & OTHERS_MAY_WRITE) === 0 ? undefined : `others may write into it (mode ${mode})`;
}

/**
 * Creates the folder for its owner alone, or uses an existing one if it is private. Returns the path. Errors: an Error
 * that says why the folder cannot be used.
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

export function isPrivateFolder(path: string): boolean {
  try {
    return objection(path) === undefined;
  } catch {
    return false;
  }
}

/** Writes a new file for its owner alone, replacing any file at the path; a link is replaced, not followed. */
export function writePrivateFile(path: string, content: string | Uint8Array): void {
  rmSync(path, { force: true });
  const descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFileSync(descriptor, content);
  } finally {
    closeSync(descriptor);
  }
}

/** The result of work on files; undefined if the disk is full. */
export function roomFor<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (isFullDisk(error)) return undefined;
    throw error;
  }
}
