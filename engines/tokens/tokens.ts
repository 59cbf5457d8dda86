/**
 * Counts tokens on a thread of its own (docs/contract/platform.md 6.3: 4,000 of o200k_base).
 *
 * Invariants: a text whose number of bytes decides starts no thread; the thread starts with the first text that needs it,
 * never keeps the process alive without work, and ends after a while without work; a thread that ends fails its
 * texts with `overloaded`, and the next text starts another; it is given one text at a time, workspaces take turns, and a
 * bounded number of texts waits.
 */
import { setMaxListeners } from 'node:events';
import { Worker } from 'node:worker_threads';
import { FairPlaces } from '../../contracts/admission/fair-places.js';
import { BUILT } from '../../contracts/places.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { TokenAsker, TokenCounter } from '../../contracts/ports/tokens.js';
import { ownerOf } from '../../processes/job-owner.js';
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

/** Every text that waits listens to it. */
function newStopping(): AbortController {
  const stopping = new AbortController();
  setMaxListeners(0, stopping.signal);
  return stopping;
}

type Settle = (result: CountResult | undefined) => void;

export class ThreadedCounter implements TokenCounter {
  readonly #places = new FairPlaces({ slots: 1, queue: LIMITS.tokenQueue });
  readonly #counting = new Map<number, Settle>();
  #stopping = newStopping();
  #worker: Worker | undefined;
  #next = 0;
  #cancelRest = (): void => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly modelsFolder: string,
  ) {}

  async exceedsTokens(text: string, limit: number, asker: TokenAsker): Promise<boolean> {
    const bytes = Buffer.byteLength(text);
    if (bytes <= limit) return false;
    if (bytes > limit * LONGEST_TOKEN) return true;
    return (await this.#ask(text, limit, asker)) > limit;
  }

  async countTokens(text: string, asker: TokenAsker): Promise<number> {
    return text === '' ? 0 : this.#ask(text, Infinity, asker);
  }

  /** Fails all texts, and ends the thread. Idempotent. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#stopping = newStopping();
    await this.#end();
  }

  async #end(): Promise<void> {
    const stopped = this.#worker;
    this.#ended();
    this.#cancelRest();
    await stopped?.terminate();
  }

  async #ask(text: string, limit: number, asker: TokenAsker): Promise<number> {
    const { signal } = this.#stopping;
    const leave = await this.#places.turn(ownerOf(asker), signal).catch(() => Promise.reject(overloaded()));
    try {
      if (signal.aborted) throw overloaded();
      return await this.#counted(text, limit);
    } finally {
      leave();
    }
  }

  #counted(text: string, limit: number): Promise<number> {
    this.#cancelRest();
    const worker = (this.#worker ??= this.#start());
    worker.ref();
    const task: CountTask = { id: this.#next++, text, limit };
    return new Promise((resolve, reject) => {
      this.#counting.set(task.id, (result) => {
        this.#counting.delete(task.id);
        if (this.#counting.size === 0) this.#rest();
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
    worker.on('message', (result: CountResult) => this.#counting.get(result.id)?.(result));
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
    for (const settle of [...this.#counting.values()]) settle(undefined);
  }

  #rest(): void {
    this.#worker?.unref();
    this.#cancelRest = this.clock.after(REST_MS, () => void this.#end());
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
