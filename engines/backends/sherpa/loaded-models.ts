/**
 * The models of a process that are in memory: each is loaded with its first use, and the least recently used leave when
 * the next one would take more than the bound. A model at work stays. Whoever finds no room waits until one has ended, and
 * so do those behind: no model is kept out by others that are asked for more often.
 *
 * Invariant: the models in memory are within the bound, or there is one alone.
 */
import { setImmediate as turn } from 'node:timers/promises';
import v8 from 'node:v8';
import vm from 'node:vm';

/** A model as it can be loaded. */
export interface Loadable<M> {
  /** Bytes of memory that it takes, about. */
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

/** Native memory is given back when the objects that stand for it are collected, and V8 does not know how much that is. */
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
  /** Whether a model has left whose memory is not being given back yet. */
  #left = false;
  /** When the memory of all that have left is given back. */
  #released: Promise<void> = Promise.resolve();

  constructor(mostBytes = Infinity, collect = collectGarbage) {
    this.#mostBytes = mostBytes;
    this.#collect = collect;
  }

  /** Works with a model that stays in memory meanwhile. Errors: the work's, those of loading, the reason of an abort. */
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
    const model = this.#released.then(() => wanted.load());
    const held = { model, bytes: wanted.bytes, users: 0 };
    model.catch(() => {
      if (this.#held.get(wanted) === held) this.#held.delete(wanted);
    });
    return held;
  }

  /** Whoever used what has left is through by the next turn, and the memory is given back in the one behind. */
  async #release(): Promise<void> {
    this.#left = false;
    await turn();
    this.#collect();
    await turn();
  }
}
