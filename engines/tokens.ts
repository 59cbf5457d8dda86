/**
 * Counts tokens on a thread of its own (spec "prompt": 4,000 of o200k_base).
 *
 * Invariants: what the number of bytes decides starts no thread; the thread starts with the first text that needs it,
 * never keeps the process alive without work, and ends when it has rested for a while; a thread that ends fails its
 * texts with `overloaded`, and the next text starts another; a bounded number of texts waits.
 */
import { Worker } from 'node:worker_threads';
import type { Clock } from '../contracts/clock.js';
import { ServiceError } from '../contracts/errors.js';
import { LIMITS } from '../contracts/limits.js';
import type { TokenCounter } from '../contracts/ports/tokens.js';

export interface CountTask {
  readonly id: number;
  readonly text: string;
  readonly limit: number;
}

export interface CountResult {
  readonly id: number;
  readonly exceeds: boolean;
}

const THREAD = new URL('./tokens-thread.js', import.meta.url);
/** The vocabulary takes about 50. */
const HEAP_MB = 192;
/** A thread that rests costs its vocabulary. */
const REST_MS = 60_000;
/** Bytes of the longest token; no text of fewer tokens is longer. */
const LONGEST_TOKEN = 128;

const overloaded = (): ServiceError =>
  new ServiceError('overloaded', { message: 'The server cannot count tokens now, try again', retryAfter: 1 });

type Settle = (result: CountResult | undefined) => void;

export interface ThreadedCounter extends TokenCounter {
  /** Ends the thread. Idempotent. */
  stop(): Promise<void>;
}

export function createTokenCounter({ clock }: { readonly clock: Clock }): ThreadedCounter {
  const waiting = new Map<number, Settle>();
  let worker: Worker | undefined;
  let next = 0;
  let cancelRest: () => void = () => undefined;

  function start(): Worker {
    const started = new Worker(THREAD, { resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    started.unref();
    started.on('message', (result: CountResult) => waiting.get(result.id)?.(result));
    // An error is followed by an exit.
    started.on('error', () => undefined);
    started.on('exit', () => {
      if (worker !== started) return;
      worker = undefined;
      for (const settle of [...waiting.values()]) settle(undefined);
    });
    return (worker = started);
  }

  async function stop(): Promise<void> {
    const stopped = worker;
    worker = undefined;
    for (const settle of [...waiting.values()]) settle(undefined);
    cancelRest();
    await stopped?.terminate();
  }

  function rest(): void {
    worker?.unref();
    cancelRest = clock.after(REST_MS, () => void stop());
  }

  function ask(text: string, limit: number): Promise<boolean> {
    if (waiting.size >= LIMITS.tokenQueue) return Promise.reject(overloaded());
    cancelRest();
    const thread = worker ?? start();
    thread.ref();
    const id = next++;
    return new Promise((resolve, reject) => {
      waiting.set(id, (result) => {
        waiting.delete(id);
        if (waiting.size === 0) rest();
        if (result) resolve(result.exceeds);
        else reject(overloaded());
      });
      const task: CountTask = { id, text, limit };
      thread.postMessage(task);
    });
  }

  return {
    stop,
    async exceeds(text, limit) {
      const bytes = Buffer.byteLength(text);
      if (bytes <= limit) return false;
      if (bytes > limit * LONGEST_TOKEN) return true;
      return ask(text, limit);
    },
  };
}
