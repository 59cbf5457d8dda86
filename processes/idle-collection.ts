/**
 * Gives memory back once a process has little to do. V8 collects garbage when more memory is asked for: what a burst of work has left
 * stays until the next one, beside what that takes.
 */
import type { Clock } from '../contracts/clock.js';
import { collectAll } from './garbage.js';

const LOOK_MS = 2000;
/** Share of a processor's time since the last look in which a process has little to do. */
const QUIET = 0.2;
/** Bytes that are worth a collection: growth since the last one, or what that has not given back of the heap. */
const WORTH = 24 * 1024 * 1024;
/** Collections in a row: each gives back more of a heap that has become sparse. */
const IN_A_ROW = 3;

/** Bytes that V8 has taken from the system, its buffers included, and those of the heap that it does not use. */
export interface Taken {
  readonly all: number;
  readonly unused: number;
}

/** What the process has to do and to keep. */
export interface Surroundings {
  readonly clock: Pick<Clock, 'after' | 'monotonic'>;
  taken(): Taken;
  /** Processor time of the process so far, in milliseconds. */
  worked(): number;
  collect(): void;
}

/** Looks every two seconds, while the process lives. The result stops it. */
export function collectWhenIdle({ clock, taken, worked, collect }: Surroundings): () => void {
  let floor = Infinity;
  let more = 0;
  let before = { at: clock.monotonic(), worked: worked() };
  let cancel = (): void => undefined;
  const isQuiet = (): boolean => {
    const now = { at: clock.monotonic(), worked: worked() };
    const share = (now.worked - before.worked) / (now.at - before.at);
    before = now;
    return share < QUIET;
  };
  const look = (): void => {
    const { all, unused } = taken();
    floor = Math.min(floor, all);
    const hasGrown = all > floor + WORTH;
    if (isQuiet() && (hasGrown || (more > 0 && unused > WORTH))) {
      more = hasGrown ? IN_A_ROW - 1 : more - 1;
      collect();
      floor = taken().all;
    }
    cancel = clock.after(LOOK_MS, look);
  };
  cancel = clock.after(LOOK_MS, look);
  return () => cancel();
}

function takenHere(): Taken {
  const { heapTotal, heapUsed, external } = process.memoryUsage();
  return { all: heapTotal + external, unused: heapTotal - heapUsed };
}

function workedHere(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The same for this process. */
export const collectHere = (clock: Surroundings['clock']): (() => void) =>
  collectWhenIdle({ clock, taken: takenHere, worked: workedHere, collect: collectAll });
