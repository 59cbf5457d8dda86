/**
 * The place in CONCURRENCY of a request that speaks or transcribes, taken once its key is known and before its body is read: a
 * body that arrives slowly holds it, so that a workspace has no more of them than jobs. The job takes the place over, so none
 * takes two; it is given back with the job, at the latest with the request.
 */
import type { Admission, Caller } from '../../contracts/ports/accounts/identity.js';
import type { HttpRequest } from './port.js';

export type Places = Pick<Admission, 'reserve'>;

/** The caller with a place for its next job. Errors: `concurrency_exceeded`, `overloaded`. */
export async function withPlace(
  request: Pick<HttpRequest, 'atEnd'>,
  caller: Caller,
  places: Places,
): Promise<Caller> {
  const leave = await places.reserve(caller.workspaceId);
  let free = true;
  request.atEnd(() => {
    free = false;
    leave();
  });
  const take = (): (() => void) | undefined => {
    if (!free) return undefined;
    free = false;
    return leave;
  };
  return { ...caller, place: { takeSlot: take } };
}
