/**
 * A file that grows by pages. Writing never blocks the call: unwritten pages wait in memory, and a disk that is too
 * slow, or a file beyond its limit, ends the recording instead of the call.
 */
import { mkdir, open, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { errorText } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';

const { trackBytes, waitingBytes } = LIMITS.recording;

/** Creates a file that only its owner can read; replaces an existing one. */
async function create(path: string) {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await rm(path, { force: true });
  return open(path, 'wx', 0o600);
}

const reasonOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? errorText(error);

export class RecorderFile {
  readonly #handle: ReturnType<typeof create>;
  /** The last write; never rejects. */
  #writing: Promise<void>;
  #waiting = 0;
  #bytes = 0;
  #failed = false;

  /** `failed` is called at most once, with a reason without paths; nothing is written after it. */
  constructor(
    path: string,
    private readonly failed: (reason: string) => void,
  ) {
    this.#handle = create(path);
    this.#writing = this.#handle.then(
      () => undefined,
      (error: unknown) => this.#fail(reasonOf(error)),
    );
  }

  write(bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#waiting += bytes.length;
    if (this.#bytes > trackBytes) this.#fail('it has become too large');
    if (this.#waiting > waitingBytes) this.#fail('the disk does not keep up');
    if (this.#failed) return;
    this.#writing = this.#writing.then(() => this.#append(bytes));
  }

  async #append(bytes: Uint8Array): Promise<void> {
    try {
      if (!this.#failed) await (await this.#handle).appendFile(bytes);
    } catch (error) {
      this.#fail(reasonOf(error));
    }
    this.#waiting -= bytes.length;
  }

  #fail(reason: string): void {
    if (this.#failed) return;
    this.#failed = true;
    this.failed(reason);
  }

  /** Resolves when everything is written and the file is closed. Never rejects. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#handle
      .then((handle) => handle.close())
      .catch((error: unknown) => this.#fail(reasonOf(error)));
  }
}
