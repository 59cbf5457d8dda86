/** What the lines of all requests share, and the line of one that no handler has seen. */
import type { HttpRequest } from '../port.js';
import { shownPath } from './shown-path.js';
import type { Outcome } from './trace.js';

/** The message of the line of each request. */
export const REQUEST_LINE = 'request';
/** The route of requests that have none, in metrics and in the log. */
export const UNMATCHED = 'unmatched';
/** The route of what is no request. */
export const UNREADABLE = 'unreadable';

const FAILED = 500;

export const outcomeOf = (status: number): Outcome => (status >= FAILED ? 'failed' : 'done');

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
    ...{ generationId, method, route: route ?? UNMATCHED },
    ...(route === undefined && { path: shownPath(path) }),
    ...{ status, code, outcome: outcomeOf(status), workspaceId, keyId, ms: Math.round(ms) },
  };
}
