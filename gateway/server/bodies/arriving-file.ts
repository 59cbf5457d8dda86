/**
 * One large part of a body as it arrives: in memory while it is small, then on disk (spool.ts). A server without a spool keeps
 * it in memory.
 */
import type { StoredFile } from '../../../contracts/ports/speech/codec.js';
import type { HttpRequest } from '../port.js';
import { ArrivingBytes } from './arriving-bytes.js';
import type { SpoolFile } from './spool.js';

/** Larger parts go to disk. */
const IN_MEMORY_BYTES = 256 * 1024;

export type BodyStorage = Pick<HttpRequest, 'share' | 'store'>;

export class ArrivingFile {
  readonly #bytes: ArrivingBytes;
  #file: SpoolFile | undefined;

  /** `mostBytes`: the most that may arrive. */
  constructor(
    private readonly request: BodyStorage,
    mostBytes: number,
  ) {
    this.#bytes = new ArrivingBytes(mostBytes, request.share('body'));
  }

  get size(): number {
    return this.#file?.size ?? this.#bytes.length;
  }

  /** `chunk` is lent until `room` resolves, which is awaited before the next. Errors: `memory_exhausted`. */
  add(chunk: Uint8Array): void {
    if (!this.#file && this.#bytes.length + chunk.length > IN_MEMORY_BYTES) this.#spool();
    if (this.#file) this.#file.write(chunk);
    else this.#bytes.add(chunk);
  }

  /** Errors: `storage_full`. */
  async room(): Promise<void> {
    await this.#file?.room();
  }

  /** Errors: `storage_full`. */
  async finish(): Promise<Uint8Array | StoredFile> {
    return this.#file ? this.#file.finish() : this.#bytes.whole();
  }

  clear(): void {
    this.#bytes.clear();
    this.#file?.remove();
  }

  #spool(): void {
    this.#file = this.request.store();
    if (!this.#file) return;
    if (this.#bytes.length > 0) this.#file.write(this.#bytes.whole());
    this.#bytes.clear();
  }
}
