/**
 * How long this turn of the event loop has been worked in: work that may never wait by itself asks, and lets the loop
 * turn once it has had its time. All such work shares one turn's time.
 */
import { setImmediate } from 'node:timers';

const TURN_MS = 2;

/** When somebody first asked in this turn, on the monotonic clock. */
let began: number | undefined;

export function isTurnOver(): boolean {
  const now = performance.now();
  if (began === undefined) {
    began = now;
    setImmediate(() => (began = undefined));
  }
  return now - began >= TURN_MS;
}
