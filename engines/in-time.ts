/** Waits for the values of an engine only so long, where somebody waits for them. */
import { ServiceError } from '../contracts/errors.js';

/** Rejects with `first_byte_timeout` if `step` has not settled within `ms`. */
async function within<T>(ms: number, step: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The engine gave nothing for ${Math.round(ms / 100) / 10} s`;
    timer = setTimeout(() => reject(new ServiceError('first_byte_timeout', { message })), ms);
  });
  return Promise.race([step, late]).finally(() => clearTimeout(timer));
}

/**
 * The values that `work` yields, each awaited for `most()` milliseconds at most. Its signal is aborted with `signal`, and when this ends for
 * any reason. Errors: those of `work`, `first_byte_timeout`.
 */
export async function* inTime<T>(
  work: (signal: AbortSignal) => AsyncIterable<T>,
  most: () => number,
  signal: AbortSignal,
): AsyncGenerator<T> {
  const over = new AbortController();
  let why: unknown = new DOMException('Nobody waits for it', 'AbortError');
  const values = work(AbortSignal.any([signal, over.signal]))[Symbol.asyncIterator]();
  try {
    for (;;) {
      const step = await within(most(), values.next());
      if (step.done) return;
      yield step.value;
    }
  } catch (error) {
    why = error;
    throw error;
  } finally {
    // One that is too late learns that it was.
    over.abort(why);
    // Not awaited: who is late may not settle.
    void values.return?.().catch(() => undefined);
  }
}
