/**
 * Work that takes turns: native models run one piece at a time. Invariants: turns come in the order of the
 * calls; work that has begun is not stopped by an abort, its result is left behind; work that has not never begins.
 */

/** Rejects as soon as the signal is aborted, else settles as the work does. */
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

export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Errors: the work's, or the reason of an abort. */
  async take<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    signal.throwIfAborted();
    const turn = this.#last.then(() => {
      signal.throwIfAborted();
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return abortable(turn, signal);
  }
}
