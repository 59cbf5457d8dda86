/**
 * Speeches that began before models were taken away. While one goes on, a file of this process in the runtime folder says so, and the
 * supervisor leaves children their models (model-watch.ts): pieces of one speech are jobs of their own, and its client may read slowly.
 */
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import { repeat } from '../../contracts/time/repeat.js';

const EVERY_MS = 2000;
/** A process that was killed writes no more. */
const STALE_MS = 20_000;
const PREFIX = 'speaking-';

/** Whether a process of the machine speaks with models that were taken away. */
export async function areModelsUsed(folder: string): Promise<boolean> {
  const files = (await readdir(folder)).filter((name) => name.startsWith(PREFIX));
  const seen = files.map((name) => stat(join(folder, name)).catch(() => undefined));
  return (await Promise.all(seen)).some((file) => file && Date.now() - file.mtimeMs < STALE_MS);
}

export class SpeechUses {
  readonly #file: string;
  #now = { count: 0 };
  #before: readonly { readonly count: number }[] = [];
  #stop: () => void = () => undefined;

  constructor(
    folder: string,
    private readonly clock: Clock,
  ) {
    this.#file = join(folder, `${PREFIX}${process.pid}`);
  }

  /** A speech begins; the result is called when it has ended. */
  readonly begun = (): (() => void) => {
    const models = this.#now;
    models.count += 1;
    return () => void (models.count -= 1);
  };

  /** Other models are in use for speeches that begin from now on. */
  changed(): void {
    this.#before = [...this.#before, this.#now];
    this.#now = { count: 0 };
    this.#stop();
    this.#stop = repeat(
      this.clock,
      EVERY_MS,
      () => this.#look(),
      () => undefined,
    );
  }

  async stop(): Promise<void> {
    this.#stop();
    await rm(this.#file, { force: true });
  }

  async #look(): Promise<void> {
    this.#before = this.#before.filter(({ count }) => count > 0);
    if (this.#before.length === 0) return this.stop();
    await writeFile(this.#file, '');
  }
}
