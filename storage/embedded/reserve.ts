/**
 * Room on the disk that is kept for starting Postgres: `<DATA_DIR>/reserve`. On a full disk a server cannot write even its pid
 * file, so without it a gateway that could still read and speak would be down until somebody has made room.
 *
 * It is given up just before a server starts, if the disk is full, and taken again just after, as far as there is room: such
 * a start costs it a mebibyte, if others use up what the server leaves. Only the folder's owner takes it.
 */
import { randomBytes } from 'node:crypto';
import { constants, rmSync, statfsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { isFullDisk, whyOf } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';

const { freeBytes, reserveBytes } = LIMITS.storage;
const PIECE_BYTES = 256 * 1024;
/** What a server needs after its start: the first connections write caches of the catalogue, without which none is taken. */
const SERVER_BYTES = 1024 * 1024;
const { O_CREAT, O_NOFOLLOW, O_WRONLY } = constants;

function freeIn(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Appends until the file has its size, or `mayTake` says no. Random bytes: some disks keep no room for zeros. */
async function fill(file: FileHandle, from: number, mayTake: () => boolean): Promise<void> {
  const piece = randomBytes(PIECE_BYTES);
  for (let at = from; at < reserveBytes && mayTake();) {
    const { bytesWritten } = await file.write(piece, 0, Math.min(PIECE_BYTES, reserveBytes - at), at);
    at += bytesWritten;
  }
}

export class Reserve {
  readonly #file: string;
  #released = false;
  #taking: Promise<void> | undefined;

  constructor(
    private readonly dataDir: string,
    private readonly log: Log,
  ) {
    this.#file = join(dataDir, 'reserve');
  }

  /** Gives the room up if a server that starts might lack it. */
  release(): void {
    if (freeIn(this.dataDir) >= reserveBytes) return;
    rmSync(this.#file, { force: true });
    if (!this.#released)
      this.log.warn({ dataDir: this.dataDir }, 'the disk is full: Postgres starts in the room kept for that');
    this.#released = true;
  }

  /** Takes what is left of the room that was given up, if it was. */
  async retake(): Promise<void> {
    if (this.#released) await this.take();
  }

  /** Resolves when nothing is being written. */
  get settled(): Promise<void> {
    return this.#taking ?? Promise.resolve();
  }

  /** Takes the room, if it leaves enough to others or was given up just now. Never rejects. */
  take(): Promise<void> {
    return (this.#taking ??= this.#take()
      .catch((error: unknown) => {
        if (!isFullDisk(error))
          this.log.warn(whyOf(error), 'no room could be kept for starting on a full disk');
      })
      .finally(() => (this.#taking = undefined)));
  }

  async #take(): Promise<void> {
    const file = await open(this.#file, O_WRONLY | O_CREAT | O_NOFOLLOW, 0o600);
    try {
      const { size } = await file.stat();
      const leavesRoom = freeIn(this.dataDir) - (reserveBytes - size) >= freeBytes;
      if (size >= reserveBytes || !(this.#released || leavesRoom)) return;
      this.#released = false;
      await fill(file, size, () => freeIn(this.dataDir) >= SERVER_BYTES + PIECE_BYTES);
    } finally {
      await file.close();
    }
  }
}
