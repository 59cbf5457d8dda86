/**
 * Uploads on disk, for decoders to seek in. Invariants: readable by us alone (0600); removed by whoever
 * stored them; what a killed gateway left is removed when the next one starts, and never a file of a
 * gateway that still runs. The process id in the name tells them apart.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const NAME = /^upload-(\d+)-[0-9a-f-]{36}$/;

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
      await writeFile(path, file, { mode: 0o600, flag: 'wx' });
      yield* use(path);
    } finally {
      await rm(path, { force: true });
    }
  }

  async #open(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
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
