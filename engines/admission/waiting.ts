/** Bounded waiting on the clock port, for a store that may be slow, silent or away. */
import type { Clock } from '../../contracts/clock.js';

/** Rejects where the work has not ended after `ms`; what it says later is ignored. */
export function inTime<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error('no answer in time')));
    work.finally(cancel).then(resolve, reject);
  });
}

/** Waits for work that never rejects, at most `ms`. */
export function within(clock: Clock, ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve);
    void work.then(() => {
      cancel();
      resolve();
    });
  });
}

export const errorText = (error: unknown): string => (error instanceof Error ? error.message : String(error));
