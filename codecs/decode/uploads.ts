/**
 * Uploads on disk, for decoders to seek in. Invariants: readable by us alone (0600); removed by whoever
 * stored them; what a killed gateway left is removed when the next one starts, and never a file of a
 * gateway that still runs. The process id in the name tells them apart.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../contracts/errors.js';
import { privateFolder } from '../../processes/private-folder.js';

const NAME = /^upload-(\d+)-[0-9a-f-]{36}$/;

const NO_ROOM = new Set(['ENOSPC', 'EDQUOT', 'EMFILE', 'ENFILE']);

/** The client's error for a file that could not be written: `overloaded` for a full disk, which may be over soon. */
const storable = (error: unknown): unknown =>
  NO_ROOM.has((error as NodeJS.ErrnoException).code ?? '')
    ? new ServiceError('overloaded', {
        message: 'The upload cannot be stored now, try again later',
        retryAfter: 1,
        cause: error,
      })
    : error;

export class Uploads {
  readonly #folder: string;
  readonly #ready: Promise<void>;

  constructor(folder: string) {
    this.#folder = folder;
    this.#ready = this.#open();
    // Told to whoever stores the first file.
    this.#ready.catch(() => undefined);
  }

  /** Writes the file and runs `use` with its path; the file is gone when this settles. */
  async *with<T>(file: Uint8Array, use: (path: string) => AsyncIterable<T>): AsyncGenerator<T> {
    await this.#ready;
    const path = join(this.#folder, `upload-${process.pid}-${randomUUID()}`);
    try {
      await writeFile(path, file, { mode: 0o600, flag: 'wx' }).catch((error: unknown) => {
        throw storable(error);
      });
      yield* use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #open(): Promise<void> {
    privateFolder(this.#folder);
    const names = await readdir(this.#folder);
    await Promise.all(names.filter((name) => NAME.test(name)).map((name) => this.#removeIfStale(name)));
  }

  async #removeIfStale(name: string): Promise<void> {
    const path = join(this.#folder, name);
    const owner = Number(NAME.exec(name)?.[1]);
    if (owner === process.pid ? await isOlderThanUs(path) : !isAlive(owner)) await rm(path, { force: true });
  }
}

/** In a container every run has the same process id. */
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
