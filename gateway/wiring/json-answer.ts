/** An answer of a remote service to a cheap question. It is read: a web page or a proxy answers 200 to anything, too. */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import {
  ask,
  bytesOfReply,
  type RemoteAddress,
  type RemoteRequest,
} from '../../engines/backends/remote/request.js';
import { PartFailure } from './part-check.js';

/** Statuses of a server that has no such route, and may do its work all the same. */
const NO_ROUTE: ReadonlySet<number> = new Set([404, 405, 501]);

export const hasNoRoute = (error: unknown): boolean =>
  error instanceof ServiceError && NO_ROUTE.has(error.answered ?? 0);

/** A service that says something else than it should. `did`: follows its name, such as `answered something that is no JSON`. */
export const unexpected = (did: string): PartFailure => new PartFailure({ outcome: 'invalid', did });

/** The JSON of an answer. Errors: `PartFailure` with `otherwise` if it is none; those of `ask`. */
export async function jsonAnswer(
  address: RemoteAddress,
  request: RemoteRequest,
  signal: AbortSignal,
  otherwise: string,
): Promise<unknown> {
  const bytes = await bytesOfReply(await ask(address, request, signal), LIMITS.partCheck.answerBytes);
  try {
    return JSON.parse(bytes.toString()) as unknown;
  } catch {
    throw unexpected(otherwise);
  }
}
