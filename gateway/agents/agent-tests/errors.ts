/** Why a scenario could not be played (docs/agent-tests.md). */
import { ServiceError } from '../../../contracts/errors.js';

/** Its message says why the scenario has no result. */
export class PlayError extends Error {
  override readonly name = 'PlayError';
}

/** Turns service errors into play errors that name the failed work. Errors: `PlayError`; the signal's reason. */
export async function explained<T>(failure: string, work: Promise<T>, signal: AbortSignal): Promise<T> {
  try {
    return await work;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ServiceError)) throw error;
    throw new PlayError(`${failure}: ${error.message}`, { cause: error });
  }
}
