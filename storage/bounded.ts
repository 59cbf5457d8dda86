/** Bounds look-ups on the request path: a flood of keys must not queue for the database. */
import { ServiceError, whyOf } from '../contracts/errors.js';
import type { Log } from '../contracts/log.js';

/** Most running statements. */
const MOST_AT_ONCE = 256;

export const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('overloaded', {
    message: 'The server cannot check the key now, try again',
    retryAfter: 1,
    cause,
  });

/** `noun`: the plural of the thing looked up, for logs. The result runs work; errors: `overloaded`, and the work's `ServiceError`s. */
export function boundedWork(noun: string, log: Log): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0;
  const failed = (cause: unknown): ServiceError => {
    log.warn(whyOf(cause), `${noun} cannot be looked up`);
    return unavailable(cause);
  };
  return async (work) => {
    if (running >= MOST_AT_ONCE) throw failed(new Error('too many at once'));
    running += 1;
    try {
      return await work();
    } catch (error) {
      throw error instanceof ServiceError ? error : failed(error);
    } finally {
      running -= 1;
    }
  };
}
