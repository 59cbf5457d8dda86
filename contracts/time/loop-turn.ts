/**
 * Time spent in this turn of the event loop: work that may never wait by itself checks it, and lets the loop
 * turn once the time is used up. All such work shares one turn's time.
 */

const TURN_MS = 2;

/** Time of the first check in this turn, on the monotonic clock. */
let began: number | undefined;
/** Number of this turn among those in which somebody has checked. */
let turn = 0;

/** Begins the turn, unless it has begun; the time now. */
function checked(): number {
  const now = performance.now();
  if (began !== undefined) return now;
  began = now;
  setImmediate(() => {
    began = undefined;
    turn += 1;
  });
  return now;
}

export function isTurnOver(): boolean {
  const now = checked();
  return now - (began ?? now) >= TURN_MS;
}

/** One peer's own time in each turn, which others do not use up: counted from its first check in the turn. */
export class TurnShare {
  #turn = -1;
  #began = 0;

  constructor(private readonly ms: number) {}

  get isOver(): boolean {
    const now = checked();
    if (this.#turn !== turn) {
      this.#turn = turn;
      this.#began = now;
    }
    return now - this.#began >= this.ms;
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Work that a generator does in steps: it yields nothing where it lets the event loop turn, and a promise where it needs what that
 * resolves with.
 */
export type Steps<T> = Generator<Promise<unknown> | undefined, T, unknown>;

/**
 * Takes the steps to their end. Work of many small parts is written so, and not as asynchronous functions: a promise for each part
 * takes longer than most parts. Errors: those of the work and of its promises.
 */
export async function inTurns<T>(steps: Steps<T>): Promise<T> {
  let step = steps.next();
  while (!step.done) step = steps.next(await (step.value ?? nextTurn()));
  return step.value;
}

/** Does the task for each item, in turns of the event loop: thousands of sockets or calls are closed this way. */
export async function eachInTurns<T>(items: Iterable<T>, task: (item: T) => void): Promise<void> {
  for (const item of items) {
    task(item);
    if (isTurnOver()) await nextTurn();
  }
}
