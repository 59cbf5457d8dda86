/** Names the field of a request that its audio came in, in errors of work that knows only the audio. */
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';

/** Errors that are the upload's own fault. */
const FAULTS: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['audio_unreadable', 'audio_too_long']);

/** The work's result. Errors: its own; faults of the audio have `field` as their `param`. */
export async function audioOf<Result>(field: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ServiceError) || !FAULTS.has(error.code) || error.param !== undefined) throw error;
    throw new ServiceError(error.code, { message: error.message, param: field, cause: error });
  }
}
