/**
 * Uploads as temporary files, in which decoders can seek. Invariants: only this user can read them (0600); the
 * gateway that stored a file removes it; a starting gateway removes the files of killed gateways, but never
 * those of a running one. File names contain the gateway's process id for that.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, open, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../contracts/errors.js';
import type { StoredFile } from '../../contracts/ports/speech/codec.js';
import { privateFolder } from '../../processes/private-folder.js';
import type { Edit } from './declared-length.js';

const NAME = /^upload-(\d+)-[0-9a-f-]{36}$/;

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** The client's error for a file that could not be written: `overloaded` for a full disk, which may be temporary. */
const storable = (error: unknown): unknown =>
  NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '')
    ? new ServiceError('overloaded', {
        message: 'The upload cannot be stored now, try again later',
        retryAfter: 1,
        cause: error,
      })
    : error;

async function stored(file: Uint8Array | StoredFile, path: string, edits: readonly Edit[]): Promise<void> {
  if (file instanceof Uint8Array) await writeFile(path, file, { mode: 0o600, flag: 'wx' });
  else await copyFile(file.path, path, constants.COPYFILE_EXCL);
  if (edits.length === 0) return;
  const handle = await open(path, 'r+');
  try {
    for (const { at, bytes } of edits) await handle.write(bytes, 0, bytes.length, at);
  } finally {
    await handle.close();
  }
}

export class Uploads {
  readonly #folder: string;
  #ready: Promise<void> | undefined;

  constructor(folder: string) {
    this.#folder = folder;
    // Reported by `with`.
    this.#opened().catch(() => undefined);
  }

  /**
   * Writes the file with `edits`, unless it is on disk already and has none, and runs `use` with its path; what was written is removed
   * before this ends.
   */
  async *with<T>(
    file: Uint8Array | StoredFile,
    edits: readonly Edit[],
    use: (path: string) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    if (!(file instanceof Uint8Array) && edits.length === 0) return yield* use(file.path);
    await this.#opened();
    const path = join(this.#folder, `upload-${process.pid}-${randomUUID()}`);
    try {
      await stored(file, path, edits).catch((error: unknown) => {
        throw storable(error);
      });
      yield* use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  /** A start on a full disk cannot make the folder: it is tried again. */
  #opened(): Promise<void> {
    return (this.#ready ??= this.#open().catch((error: unknown) => {
      this.#ready = undefined;
      throw storable(error);
    }));
  }

  async #open(): Promise<void> {
    privateFolder(this.#folder);
    await removeStale(this.#folder);
  }
}

/** Removes the uploads of killed gateways from a folder. */
export async function removeStale(folder: string): Promise<void> {
  const names = await readdir(folder);
  await Promise.all(names.filter((name) => NAME.test(name)).map((name) => removeIfStale(folder, name)));
}

async function removeIfStale(folder: string, name: string): Promise<void> {
  const path = join(folder, name);
  const owner = Number(NAME.exec(name)?.[1]);
  if (owner === process.pid ? await isOlderThanUs(path) : !isAlive(owner)) await rm(path, { force: true });
}

/** For files with this process's id: in a container, every run has the same one. */
async function isOlderThanUs(path: string): Promise<boolean> {
  const startedAt = Date.now() - process.uptime() * 1000;
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && file.mtimeMs < startedAt;
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
