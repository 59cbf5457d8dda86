/**
 * Word alignment on a thread of its own, so that the event loop of the recognising process stays free.
 *
 * Invariants: the thread starts with the first piece and keeps the process alive only while it works; a
 * cancelled piece is forgotten; a thread that ends or takes too long fails its pieces with
 * `engine_failed`, and the next piece starts another.
 */
import { Worker } from 'node:worker_threads';
import { BUILT } from '../../contracts/places.js';
import { ServiceError } from '../../contracts/errors.js';
import type { TimedWord } from '../../contracts/ports/speech/tts.js';
import type { Align } from './align.js';

export interface AlignTask {
  readonly id: number;
  readonly samples: Int16Array;
  readonly text: string;
}

export type AlignResult =
  | { readonly id: number; readonly words: readonly TimedWord[] }
  | { readonly id: number; readonly failed: true };

/** Called with the result of a task, or with undefined when its thread has ended. */
type Settle = (result: AlignResult | undefined) => void;

export interface Aligner {
  readonly align: Align;
  /** Ends the thread. Idempotent. */
  stop(): Promise<void>;
}

const THREAD = new URL('engines/alignment/thread.js', BUILT);
const HEAP_MB = 64;
/** Far longer than any piece takes, even behind the other pieces of a child. */
const PATIENCE_MS = 60_000;

const failure = (): ServiceError =>
  new ServiceError('engine_failed', { message: 'The words of this audio could not be timed' });

class AlignThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Settle>();
  #next = 0;

  constructor(ended: () => void) {
    this.#worker = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    this.#worker.unref();
    this.#worker.on('message', (result: AlignResult) => this.#waiting.get(result.id)?.(result));
    // An error is followed by an exit.
    this.#worker.on('error', () => undefined);
    this.#worker.on('exit', () => {
      ended();
      for (const settle of [...this.#waiting.values()]) settle(undefined);
    });
  }

  run(samples: Int16Array, text: string, signal: AbortSignal): Promise<readonly TimedWord[]> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const aborted = (): void => finish(() => reject(signal.reason as Error));
      const tooLate = setTimeout(() => void this.stop(), PATIENCE_MS);
      const finish = (tell: () => void): void => {
        clearTimeout(tooLate);
        signal.removeEventListener('abort', aborted);
        this.#waiting.delete(id);
        if (this.#waiting.size === 0) this.#worker.unref();
        tell();
      };
      const settle: Settle = (result) =>
        finish(() => (result && 'words' in result ? resolve(result.words) : reject(failure())));
      signal.addEventListener('abort', aborted, { once: true });
      this.#waiting.set(id, settle);
      this.#worker.ref();
      // A copy: the caller's samples may be a view of a larger buffer.
      const task: AlignTask = { id, samples: samples.slice(), text };
      this.#worker.postMessage(task, [task.samples.buffer as ArrayBuffer]);
    });
  }

  async stop(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Errors of `align`: `engine_failed`. */
export function createAligner(): Aligner {
  let thread: AlignThread | undefined;
  const started = (): AlignThread => {
    const begun: AlignThread = new AlignThread(() => {
      if (thread === begun) thread = undefined;
    });
    return (thread = begun);
  };
  return {
    async align(samples, text, signal) {
      signal.throwIfAborted();
      return (thread ?? started()).run(samples, text, signal);
    },
    async stop() {
      await thread?.stop();
    },
  };
}
