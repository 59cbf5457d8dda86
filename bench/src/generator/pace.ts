/** Waiting until an instant, to a fraction of a millisecond: timers to within two, then the event loop's turns. */
import { setImmediate, setTimeout } from 'node:timers/promises';

const TIMER_MS = 2;

export interface Clock {
  now(): number;
  /** Not before `ms` milliseconds, roughly. */
  sleep(ms: number): Promise<unknown>;
  /** The next turn of the event loop. */
  turn(): Promise<unknown>;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  sleep: (ms) => setTimeout(ms),
  turn: () => setImmediate(),
};

export async function until(instant: number, clock: Clock): Promise<void> {
  for (;;) {
    const left = instant - clock.now();
    if (left <= 0) return;
    await (left > TIMER_MS ? clock.sleep(Math.floor(left - TIMER_MS / 2)) : clock.turn());
  }
}
