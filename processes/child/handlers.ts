/** Looks up the handler of a job by its name. */
import { ServiceError } from '../../contracts/errors.js';
import type { JobContext, JobHandlers, JobValue } from '../../contracts/ports/jobs.js';

/** A handler whose arguments are what came over the wire: it checks them itself or trusts its caller. */
type AnyHandler = (
  args: unknown,
  input: AsyncIterable<JobValue>,
  context: JobContext,
) => AsyncIterable<JobValue>;

/** Throws `engine_failed` if there is none of that name. */
export function handlerOf(handlers: JobHandlers, job: string): AnyHandler {
  if (Object.hasOwn(handlers, job)) return handlers[job] as AnyHandler;
  throw new ServiceError('engine_failed', { message: 'No such job' });
}
