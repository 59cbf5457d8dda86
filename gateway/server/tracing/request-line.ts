/** What the lines of all requests share, and the line of one that no handler has seen. */
import type { HttpRequest } from '../port.js';
import { shownPath } from './shown-path.js';
import type { RequestOutcome } from './trace.js';

/** The message of the line of each request. */
export const REQUEST_LINE = 'request';
/** The route of requests that have none, in metrics and in the log. */
export const UNMATCHED = 'unmatched';
/** Status in the metrics if the client left first. */
export const CLIENT_LEFT = 499;
/** The route of what is no request. */
export const UNREADABLE = 'unreadable';

/** Errors of an overloaded server, which have no line of their own: their number is in the metrics. */
export const EXPECTED: ReadonlySet<string> = new Set([
  'overloaded',
  'draining',
  'memory_exhausted',
  'storage_busy',
]);

const FAILED = 500;

export const outcomeOf = (status: number): RequestOutcome => (status >= FAILED ? 'failed' : 'done');

/** A refusal of the edge. Without a route, the path shows which address the client has. */
export function refusalOf(
  request: Pick<HttpRequest, 'generationId' | 'method' | 'path' | 'facts'>,
  route: string | undefined,
  status: number,
  ms: number,
) {
  const { generationId, method, path, facts } = request;
  const { code, workspaceId, keyId } = facts;
  return {
    generationId,
    method,
    route: route ?? UNMATCHED,
    ...(route === undefined && { path: shownPath(path) }),
    status,
    code,
    outcome: outcomeOf(status),
    workspaceId,
    keyId,
    ms: Math.round(ms),
  };
}
