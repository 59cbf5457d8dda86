/** Time as a port, so that tests run on a simulated clock and never sleep. */
export interface Clock {
  /** Whole milliseconds since the epoch. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Runs `task` once after `ms`; the result cancels it. Never keeps the process alive. */
  after(ms: number, task: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * The time of day in milliseconds, never before `from` nor before what it has returned: it goes on where the clock is set
 * back, so that records which are ordered by time keep their order.
 */
export function onwards(now: () => number, from = -Infinity): () => number {
  let [last, ahead] = [from, 0];
  return () => {
    const at = now() + ahead;
    ahead += Math.max(0, last - at);
    return (last = Math.max(last, at));
  };
}
