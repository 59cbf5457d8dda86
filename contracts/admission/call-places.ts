/**
 * Whether a workspace may have another call at once. Calls are no jobs: they take no slots of CONCURRENCY, but places of
 * their own, at most as many as the operator allows the workspace, and of those that all nodes have at most its share.
 */
import { ServiceError } from '../errors.js';
import { mayTake, SHARE } from './share.js';

export interface CallFigures {
  /** Calls of the workspace. */
  readonly own: number;
  /** The most that it may have; null: any number. */
  readonly most: number | null;
  /** Places that no call has, at all nodes that take calls; null: any number. Negative while nodes leave. */
  readonly free: number | null;
  /** Whether there are other workspaces, for which something is to be left. */
  readonly shared: boolean;
}

/** Where no place is free, no workspace is at fault: the nodes then refuse with 503. */
export function mayCall({ own, most, free, shared }: CallFigures): boolean {
  if (most !== null && own >= most) return false;
  return free === null || free <= 0 || !shared || mayTake(own, free, SHARE);
}

/** `Retry-After` in seconds: another call may have ended then. */
const RETRY_SECONDS = 5;

export const tooManyCalls = (): ServiceError =>
  new ServiceError('concurrency_exceeded', {
    message: 'The workspace has as many calls at once as it may have, try again later',
    retryAfter: RETRY_SECONDS,
  });
