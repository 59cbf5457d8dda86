/**
 * Large parts of bodies as files on disk, written while they arrive. Their bytes have a ledger of their own, so that whoever
 * fills the disk harms only themselves.
 *
 * Invariants: only this user can read the files (0600); a file is gone at the latest when its request has ended; nothing but
 * what is being written, a window and one chunk of the body, is in memory.
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

/** Short pieces, one behind the other, until they are written together. */
class Window {
  readonly #bytes = Buffer.allocUnsafeSlow(2 * WINDOW_BYTES);
  #begun = 0;
  #used = 0;

  /** Adds a copy of the piece; false if there is no room for it. */
  add(piece: Uint8Array): boolean {
    if (this.#used + piece.length > this.#bytes.length) return false;
    this.#bytes.set(piece, this.#used);
    this.#used += piece.length;
    return true;
  }

  /** What was added since the last call. */
  take(): Uint8Array {
    const taken = this.#bytes.subarray(this.#begun, this.#used);
    this.#begun = this.#used;
    return taken;
  }

  clear(): void {
    this.#begun = 0;
    this.#used = 0;
  }
}

export class SpoolFile {
  /** What is to be written before what the window holds. */
  #waiting: Uint8Array[] = [];
  #waitingBytes = 0;
  #window: Window | undefined;
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

  /** `chunk` is lent until `room` resolves, which is awaited before the next. Errors: `memory_exhausted`. */
  write(chunk: Uint8Array): void {
    mustCharge(this.share, chunk.byteLength);
    this.#size += chunk.byteLength;
    this.#waitingBytes += chunk.byteLength;
    // As long a one is written before there is room.
    const isLong = chunk.byteLength >= WINDOW_BYTES;
    if (!isLong && (this.#window ??= new Window()).add(chunk)) return;
    this.#closeWindow();
    this.#waiting.push(isLong ? chunk : chunk.slice());
  }

  /** Resolves when more may be written. Errors: `storage_full`. */
  async room(): Promise<void> {
    if (this.#waitingBytes >= WINDOW_BYTES) await this.#flush();
  }

  /** The whole file, closed. Errors: `storage_full`. */
  async finish(): Promise<StoredFile> {
    await this.#flush();
    this.#window = undefined;
    await (await this.opened).close();
    return new StoredFile(this.path, this.#size);
  }

  /** Removes the file. Idempotent; never rejects. */
  remove(): void {
    if (this.#removed) return;
    this.#removed = true;
    this.#waiting = [];
    this.#window = undefined;
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

  #closeWindow(): void {
    const bytes = this.#window?.take();
    if (bytes && bytes.length > 0) this.#waiting.push(bytes);
  }

  #flush(): Promise<void> {
    this.#closeWindow();
    const [pieces, window] = [this.#waiting, this.#window];
    this.#waiting = [];
    this.#waitingBytes = 0;
    this.#window = undefined;
    this.#written = this.#written.then(() => this.#append(pieces)).then(() => this.#reuse(window));
    this.#written.catch(() => undefined);
    return this.#written;
  }

  #reuse(window: Window | undefined): void {
    if (!window || this.#window || this.#removed) return;
    window.clear();
    this.#window = window;
  }

  async #append(pieces: readonly Uint8Array[]): Promise<void> {
    try {
      for (const piece of pieces) if (!this.#removed) await (await this.opened).appendFile(piece);
    } catch (error) {
      throw storable(error);
    }
  }
}
