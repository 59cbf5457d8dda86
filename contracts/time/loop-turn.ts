/**
 * Time spent in this turn of the event loop: work that may never wait by itself checks it, and lets the loop
 * turn once the time is used up. All such work shares one turn's time.
 */

const TURN_MS = 2;

/** Time of the first check in this turn, on the monotonic clock. */
let began: number | undefined;

let number = 0;

function begin(now: number): number {
  setImmediate(() => {
    began = undefined;
    number += 1;
  });
  return (began = now);
}

export function isTurnOver(): boolean {
  const now = performance.now();
  return now - (began ?? begin(now)) >= TURN_MS;
}

/** The number of this turn, for whoever counts what was done in one. */
export function turnNumber(): number {
  if (began === undefined) begin(performance.now());
  return number;
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/** Does the task for each item, in turns of the event loop: thousands of sockets or calls are closed this way. */
export async function eachInTurns<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  for (const item of items) {
    task(item);
    if (isTurnOver()) await nextTurn();
  }
}
