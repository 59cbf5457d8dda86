/**
 * The models of a process that are in memory: each is loaded on first use, and the least recently used are dropped if
 * the next one would exceed the bound. A model in use stays. A request without room waits until one is free, and so do
 * all behind it: no model is kept out by others that are requested more often.
 *
 * Invariant: the models in memory are within the bound, or there is only one.
 */
import { setImmediate as turn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';
import { announced } from '../../../processes/child/announce.js';

/** A model as it can be loaded. */
export interface Loadable<M> {
  /** Approximate memory that it takes, in bytes. */
  readonly bytes: number;
  load(): Promise<M>;
}

interface Held {
  readonly model: Promise<unknown>;
  readonly bytes: number;
  users: number;
}

interface Waiting {
  readonly wanted: Loadable<unknown>;
  enter(held: Held): void;
}

/** Native memory is released when its JavaScript objects are collected, and V8 does not know its size. */
function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc');
  (vm.runInNewContext('gc') as () => void)();
}

export class LoadedModels {
  readonly #mostBytes: number;
  readonly #collect: () => void;
  /** The least recently used first. */
  readonly #held = new Map<Loadable<unknown>, Held>();
  #waiting: readonly Waiting[] = [];
  /** Whether a model was dropped whose memory is not being released yet. */
  #left = false;
  /** Resolves once the memory of all dropped models is released. */
  #released: Promise<void> = Promise.resolve();

  constructor(mostBytes = Infinity, collect = collectGarbage) {
    this.#mostBytes = mostBytes;
    this.#collect = collect;
  }

  /** Runs work with a model, which stays in memory meanwhile. Errors: the work's, those of loading, the reason of an abort. */
  async use<M, T>(model: Loadable<M>, work: (loaded: M) => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const held = await this.#enter(model, signal);
    try {
      const loaded = (await held.model) as M;
      signal.throwIfAborted();
      return await work(loaded);
    } finally {
      held.users -= 1;
      this.#admit();
    }
  }

  #enter(wanted: Loadable<unknown>, signal: AbortSignal): Promise<Held> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        reject(signal.reason as Error);
        this.#admit();
      };
      const enter = (held: Held) => {
        signal.removeEventListener('abort', leave);
        resolve(held);
      };
      const waiting = { wanted, enter };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting = [...this.#waiting, waiting];
      this.#admit();
    });
  }

  #admit(): void {
    for (let [first] = this.#waiting; first && this.#hasRoom(first.wanted); [first] = this.#waiting) {
      this.#waiting = this.#waiting.slice(1);
      first.enter(this.#hold(first.wanted));
    }
  }

  #hasRoom(wanted: Loadable<unknown>): boolean {
    if (this.#held.has(wanted)) return true;
    const fits = (): boolean => {
      const bytes = [...this.#held.values()].reduce((total, held) => total + held.bytes, 0);
      return this.#held.size === 0 || bytes + wanted.bytes <= this.#mostBytes;
    };
    for (const [model, { users }] of this.#held) {
      if (fits()) break;
      if (users === 0) this.#left = this.#held.delete(model);
    }
    return fits();
  }

  #hold(wanted: Loadable<unknown>): Held {
    const held = this.#held.get(wanted) ?? this.#load(wanted);
    held.users += 1;
    this.#held.delete(wanted);
    this.#held.set(wanted, held);
    return held;
  }

  #load(wanted: Loadable<unknown>): Held {
    if (this.#left) this.#released = this.#release();
    const model = this.#released.then(() => announced(() => wanted.load()));
    const held = { model, bytes: wanted.bytes, users: 0 };
    model.catch(() => {
      if (this.#held.get(wanted) === held) this.#held.delete(wanted);
    });
    return held;
  }

  /** In the next turn of the loop the dropped models' users have finished; the memory is released in the turn after it. */
  async #release(): Promise<void> {
    this.#left = false;
    await turn();
    this.#collect();
    await turn();
  }
}
