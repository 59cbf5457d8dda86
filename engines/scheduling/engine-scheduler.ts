/**
 * Schedules one engine, which works on `atOnce` pieces at once, by the rules of contracts/admission/fair-queue.ts.
 *
 * Invariants: an abort does not stop running work; its result is discarded, and the engine stays occupied until it has
 * ended; aborted work that has not begun never begins. The event loop turns between two pieces, so that requests that
 * arrive meanwhile are considered too; and finished speech is handed out, as far as its reader takes it, before a
 * synchronous engine blocks the loop again.
 */
import { setImmediate } from 'node:timers';
import { FairQueue, type QueuePlace } from '../../contracts/admission/fair-queue.js';
import { systemClock, type Clock } from '../../contracts/clock.js';
import type { WaitCounter } from '../../contracts/time/wait-counter.js';
import { NO_DEMAND, type Demand } from '../../contracts/ports/speech/demand.js';

export interface SchedulerOptions {
  /** Pieces that the engine works on at once. Default 1. */
  readonly atOnce?: number;
  readonly clock?: Pick<Clock, 'monotonic'>;
  /** Counts the waits of its pieces. */
  readonly waits?: WaitCounter;
}

interface Waiting extends QueuePlace {
  start(): void;
}

/** Rejects as soon as the signal is aborted; otherwise settles as the work does. */
async function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const settled = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: settled.signal });
  });
  work.catch(() => undefined);
  try {
    return await Promise.race([work, aborted]);
  } finally {
    settled.abort();
  }
}

export class EngineScheduler {
  readonly #atOnce: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #waits: WaitCounter | undefined;
  readonly #queue = new FairQueue<Waiting>();
  #working = 0;
  #waking = false;
  #handedOut = false;

  constructor({ atOnce = 1, clock = systemClock, waits }: SchedulerOptions = {}) {
    this.#atOnce = atOnce;
    this.#clock = clock;
    this.#waits = waits;
  }

  /** The place of work requested now. */
  placeOf({ workspaceTag, isLive = false, aheadSeconds }: Demand = NO_DEMAND): QueuePlace {
    return { workspaceTag, isLive, due: this.#clock.monotonic() + aheadSeconds * 1000 };
  }

  /** Runs the work once it is next. Errors: the work's, or the reason of an abort. */
  async run<T>(place: QueuePlace, work: () => T | Promise<T>, signal: AbortSignal): Promise<T> {
    const leave = await this.enter(place, signal);
    const working = Promise.resolve()
      .then(() => {
        signal.throwIfAborted();
        return work();
      })
      .finally(leave);
    return abortable(working, signal);
  }

  /** Waits until it is next; the returned function reports that its work has ended. Errors: the reason of an abort. */
  enter(place: QueuePlace, signal: AbortSignal): Promise<() => void> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error);
      const waited = this.#waits?.enter();
      const withdraw = (): void => {
        if (!this.#queue.withdraw(waiting)) return;
        waited?.(false);
        reject(signal.reason as Error);
      };
      const start = (): void => {
        signal.removeEventListener('abort', withdraw);
        waited?.(true);
        const since = this.#clock.monotonic();
        resolve(() => this.#leave(place, this.#clock.monotonic() - since));
      };
      const waiting = { ...place, start };
      signal.addEventListener('abort', withdraw, { once: true });
      this.#queue.add(waiting);
      this.#wake();
    });
  }

  /** Passes finished speech on. Errors: the reason of an abort. */
  async *handOut<T>(spoken: Iterable<T>, signal: AbortSignal): AsyncGenerator<T> {
    for (const event of spoken) {
      signal.throwIfAborted();
      this.#handedOut = true;
      yield event;
    }
  }

  #leave(place: QueuePlace, ms: number): void {
    this.#queue.worked(place, ms);
    this.#working -= 1;
    this.#wake();
  }

  #wake(): void {
    if (this.#waking || this.#queue.size === 0) return;
    this.#waking = true;
    setImmediate(() => {
      this.#waking = false;
      this.#begin();
    });
  }

  #begin(): void {
    if (this.#handedOut) {
      this.#handedOut = false;
      return this.#wake();
    }
    while (this.#working < this.#atOnce) {
      const next = this.#queue.next(this.#clock.monotonic());
      if (next === undefined) return;
      this.#working += 1;
      next.start();
    }
  }
}
