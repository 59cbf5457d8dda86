/** An error of a start as the person who started the gateway reads it. */
import { ConfigError } from '../config.js';

/** Errors that a user can fix are one line, all others have their stack. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'Error' || error.name === 'StorageFailure' || error instanceof ConfigError
    ? error.message
    : (error.stack ?? error.message);
}
