/**
 * Counts tokens on a thread of its own (docs/contract/platform.md 6.3: 4,000 of o200k_base).
 *
 * Invariants: a text whose number of bytes decides starts no thread; the thread starts with the first text that needs it,
 * never keeps the process alive without work, and ends after a while without work; a thread that ends fails its
 * texts with `overloaded`, and the next text starts another; a bounded number of texts waits.
 */
import { Worker } from 'node:worker_threads';
import { BUILT } from '../../contracts/places.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { TokenCounter } from '../../contracts/ports/tokens.js';
import { defaultModelsFolder } from '../backends/model-files.js';

export interface CountTask {
  readonly id: number;
  readonly text: string;
  readonly limit: number;
}

export interface CountResult {
  readonly id: number;
  /** Incomplete once above the limit. */
  readonly count: number;
}

const THREAD = new URL('engines/tokens/tokens-thread.js', BUILT);
/** Heap of the thread. */
const HEAP_MB = 192;
/** Idle time after which the thread ends, because it keeps its vocabulary in memory. */
const REST_MS = 60_000;
/** Bytes of the longest token; no text of fewer tokens is longer. */
const LONGEST_TOKEN = 128;

const overloaded = (): ServiceError =>
  new ServiceError('overloaded', { message: 'The server cannot count tokens now, try again', retryAfter: 1 });

type Settle = (result: CountResult | undefined) => void;

export class ThreadedCounter implements TokenCounter {
  readonly #waiting = new Map<number, Settle>();
  #worker: Worker | undefined;
  #next = 0;
  #cancelRest = (): void => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly modelsFolder: string,
  ) {}

  async exceeds(text: string, limit: number): Promise<boolean> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= limit) return false;
    if (bytes > limit * LONGEST_TOKEN) return true;
    return (await this.#ask(text, limit)) > limit;
  }

  async count(text: string): Promise<number> {
    return text === '' ? 0 : this.#ask(text, Infinity);
  }

  /** Ends the thread. Idempotent. */
  async stop(): Promise<void> {
    const stopped = this.#worker;
    this.#ended();
    this.#cancelRest();
    await stopped?.terminate();
  }

  #ask(text: string, limit: number): Promise<number> {
    if (this.#waiting.size >= LIMITS.tokenQueue) return Promise.reject(overloaded());
    this.#cancelRest();
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    const task: CountTask = { id: this.#next++, text, limit };
    return new Promise((resolve, reject) => {
      this.#waiting.set(task.id, (result) => {
        this.#waiting.delete(task.id);
        if (this.#waiting.size === 0) this.#rest();
        if (result) resolve(result.count);
        else reject(overloaded());
      });
      worker.postMessage(task);
    });
  }

  #start(): Worker {
    const worker = new Worker(THREAD, {
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
      workerData: this.modelsFolder,
    });
    worker.unref();
    worker.on('message', (result: CountResult) => this.#waiting.get(result.id)?.(result));
    // An error is followed by an exit.
    worker.on('error', () => undefined);
    worker.on('exit', () => {
      if (this.#worker === worker) this.#ended();
    });
    return worker;
  }

  /** Fails the waiting texts once the thread has ended. */
  #ended(): void {
    this.#worker = undefined;
    for (const settle of [...this.#waiting.values()]) settle(undefined);
  }

  #rest(): void {
    this.#worker?.unref();
    this.#cancelRest = this.clock.after(REST_MS, () => void this.stop());
  }
}

export interface TokenCounterOptions {
  readonly clock: Clock;
  /** Folder of the vocabulary. */
  readonly modelsFolder?: string;
}

export const createTokenCounter = ({
  clock,
  modelsFolder = defaultModelsFolder,
}: TokenCounterOptions): ThreadedCounter => new ThreadedCounter(clock, modelsFolder);
