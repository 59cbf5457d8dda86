/**
 * The nearest vectors, found by comparing with all of them, on a thread of its own.
 *
 * Invariants: the thread starts with the first vectors and never keeps the process alive; what it keeps is bounded, the
 * sources that were not asked for the longest go first; a thread that ends forgets everything, fails its questions with
 * `overloaded`, and the next source starts another.
 */
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { BUILT } from '../../contracts/places.js';
import type { VectorPage } from '../../contracts/ports/agents/knowledge-vectors.js';

/** A vector near to the question: of which source by its key, and its place there. */
export interface Near {
  readonly key: string;
  readonly position: number;
  /** The cosine. */
  readonly rank: number;
}

export type ExactTask =
  | ({ readonly kind: 'keep'; readonly key: string } & VectorPage)
  | { readonly kind: 'drop'; readonly key: string }
  | {
      readonly kind: 'search';
      readonly id: number;
      readonly keys: readonly string[];
      readonly query: Float32Array<ArrayBuffer>;
      readonly most: number;
    };

export interface ExactResult {
  readonly id: number;
  readonly nearest: readonly Near[];
}

const THREAD = new URL('engines/embeddings/exact-thread.js', BUILT);
const HEAP_MB = 64;

type Settle = (result: ExactResult | undefined) => void;

const gone = (): ServiceError => new ServiceError('overloaded', { message: 'The vectors are not at hand' });

export class ExactVectors {
  #worker: Worker | undefined;
  #next = 0;
  readonly #asked = new Map<number, Settle>();
  readonly #kept = new LRUCache<string, Promise<void>>({
    maxSize: LIMITS.embedding.keptBytes,
    dispose: (_, key) => this.#worker?.postMessage({ kind: 'drop', key } satisfies ExactTask),
  });

  /** Has the vectors of a source at hand, read by `read` if they are not. Errors: those of `read`. */
  keep(key: string, bytes: number, read: () => AsyncIterable<VectorPage>): Promise<void> {
    const kept = this.#kept.get(key);
    if (kept) return kept;
    const isWanted = (): boolean => this.#kept.peek(key) === keeping;
    // Its first page is read when it is in the list.
    const keeping: Promise<void> = Promise.resolve().then(() => this.#read(key, read(), isWanted));
    this.#kept.set(key, keeping, { size: Math.max(1, bytes) });
    keeping.catch(() => isWanted() && this.#kept.delete(key));
    return keeping;
  }

  async #read(key: string, pages: AsyncIterable<VectorPage>, isWanted: () => boolean): Promise<void> {
    for await (const page of pages) {
      if (!isWanted()) throw gone();
      const vectors = new Uint8Array(page.vectors);
      this.#post({ kind: 'keep', key, ...page, vectors }, [vectors.buffer]);
    }
  }

  /** The nearest of these sources, best first. Errors: `overloaded` if the thread ends. */
  search(keys: readonly string[], query: Float32Array<ArrayBuffer>, most: number): Promise<readonly Near[]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#asked.set(id, (result) => {
        this.#asked.delete(id);
        if (result) resolve(result.nearest);
        else reject(gone());
      });
      this.#post({ kind: 'search', id, keys, query, most });
    });
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    const stopped = this.#worker;
    this.#ended();
    await stopped?.terminate();
  }

  #post(task: ExactTask, given: readonly ArrayBuffer[] = []): void {
    (this.#worker ??= this.#start()).postMessage(task, given);
  }

  #start(): Worker {
    const worker = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    worker.unref();
    worker.on('message', (result: ExactResult) => this.#asked.get(result.id)?.(result));
    // An error is followed by an exit.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker === worker) this.#ended();
    });
    return worker;
  }

  #ended(): void {
    this.#worker = undefined;
    this.#kept.clear();
    for (const settle of [...this.#asked.values()]) settle(undefined);
  }
}
