/**
 * Large parts of bodies as files on disk, written while they arrive. Their bytes have a ledger of their own, so that whoever
 * fills the disk harms only themselves.
 *
 * Invariants: only this user can read the files (0600); a file is gone at the latest when its request has ended; nothing but
 * what is being written, at most WINDOW_BYTES and one write of the parser, is in memory.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isFullDisk, ServiceError } from '../../../contracts/errors.js';
import { mustCharge, type MemoryLedger, type MemoryShare } from '../../../contracts/ports/accounts/memory.js';
import { StoredFile } from '../../../contracts/ports/speech/codec.js';

/** Bytes written at once. */
const WINDOW_BYTES = 64 * 1024;

/** The disk has no room for an upload. The file is gone again, so other writes still succeed. */
export class SpoolFull extends ServiceError {
  constructor(cause: unknown) {
    super('storage_full', { retryAfter: 1, cause });
  }
}

const storable = (error: unknown): unknown => (isFullDisk(error) ? new SpoolFull(error) : error);

export class Spool {
  /** `folder`: private to this user; `ledger`: of the bytes on disk; `makeFolder`: makes the folder unless it is there. */
  constructor(
    private readonly folder: string,
    readonly ledger: MemoryLedger,
    private readonly makeFolder = (): unknown => undefined,
  ) {}

  /** A new file; `share` is one of the ledger's. */
  create(share: MemoryShare): SpoolFile {
    const path = join(this.folder, `upload-${process.pid}-${randomUUID()}`);
    return new SpoolFile(path, this.#open(path), share);
  }

  /** A start on a full disk could not make the folder. */
  async #open(path: string): Promise<FileHandle> {
    this.makeFolder();
    return open(path, 'wx', 0o600);
  }
}

export class SpoolFile {
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #size = 0;
  /** Everything written so far; rejects with the first failure. */
  #written: Promise<void> = Promise.resolve();
  #removed = false;

  constructor(
    private readonly path: string,
    private readonly opened: Promise<FileHandle>,
    private readonly share: MemoryShare,
  ) {
    // Reported by the first write.
    opened.catch(() => undefined);
  }

  get size(): number {
    return this.#size;
  }

  /** Takes ownership of `chunk`; await `room` before the next. Errors: `memory_exhausted`. */
  write(chunk: Uint8Array): void {
    mustCharge(this.share, chunk.byteLength);
    this.#size += chunk.byteLength;
    this.#waiting.push(chunk);
    this.#waitingBytes += chunk.byteLength;
  }

  /** Resolves when more may be written. Errors: `storage_full`. */
  async room(): Promise<void> {
    if (this.#waitingBytes >= WINDOW_BYTES) await this.#flush();
  }

  /** The whole file, closed. Errors: `storage_full`. */
  async finish(): Promise<StoredFile> {
    await this.#flush();
    await (await this.opened).close();
    return new StoredFile(this.path, this.#size);
  }

  /** Removes the file. Idempotent; never rejects. */
  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#waiting = [];
    void this.#remove();
  }

  async #remove(): Promise<void> {
    const handle = await this.opened.catch(() => undefined);
    await this.#written.catch(() => undefined);
    // Closed already if it was finished.
    await handle?.close().catch(() => undefined);
    await rm(this.path, { force: true }).catch(() => undefined);
    this.share.close();
  }

  #flush(): Promise<void> {
    const chunks = this.#waiting;
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#written = this.#written.then(() => this.#append(chunks));
    this.#written.catch(() => undefined);
    return this.#written;
  }

  async #append(chunks: readonly Uint8Array[]): Promise<void> {
    if (chunks.length === 0 || this.#removed) return;
    try {
      await (await this.opened).appendFile(Buffer.concat(chunks));
    } catch (error) {
      throw storable(error);
    }
  }
}
